//! `wharf import`: copies servers from a program or a file into a file of Wharf.

use insta::assert_snapshot;

use crate::world::World;

const CURSOR: &str = r#"{ "mcpServers": {
  "fs": { "command": "npx", "args": ["${workspaceFolder}"], "env": { "KEY": "s3cret", "B": "${env:B}" } },
  "web": { "url": "https://w.example/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}" } },
  "off": { "command": "npx", "disabled": true },
  "odd name": { "command": "npx" },
  "both": { "command": "npx", "url": "https://h" },
  "asks": { "command": "npx", "env": { "A": "${input:key}" } }
} }
"#;

fn world() -> World {
    World::new().home(".cursor/mcp.json", CURSOR)
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let world = world();
    assert_snapshot!(world.run("import cursor --dry-run"), @r#"
    exit 0
    --- stdout
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -0,0 +1,29 @@
    +{
    +  "mcpServers": {
    +    "fs": {
    +      "command": "npx",
    +      "args": ["[project]"],
    +      "env": {
    +        "KEY": "•••",
    +        "B": "${B}"
    +      }
    +    },
    +    "web": {
    +      "type": "http",
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    },
    +    "off": {
    +      "command": "npx",
    +      "enabled": false
    +    },
    +    "asks": {
    +      "command": "npx",
    +      "env": {
    +        "A": "${input:key}"
    +      }
    +    }
    +  }
    +}
    Would add 4 servers to ~/.wharf/mcp.json.
    --- stderr
    warning: "odd name" is not copied: Server name can only contain letters, numbers, dash, underscore and dot
    warning: "both" is not copied: both "command" and "url" are set
    "#);
    assert!(!world.path("home/.wharf").exists());
}

#[test]
fn servers_of_a_program_are_copied_and_its_file_is_not_changed() {
    let world = world().home(
        ".wharf/mcp.json",
        "{\n  // mine\n  \"mcpServers\": { \"fs\": { \"command\": \"mine\" } }\n}\n",
    );
    assert_snapshot!(world.run("import cursor fs off web"), @r#"
    exit 1
    --- stdout
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -1,4 +1,4 @@
     {
       // mine
    -  "mcpServers": { "fs": { "command": "mine" } }
    +  "mcpServers": { "fs": { "command": "mine" }, "web": {"type": "http", "url": "https://w.example/mcp", "headers": {"Authorization": "•••"}}, "off": {"command": "npx", "enabled": false} }
     }
    Added 2 servers to ~/.wharf/mcp.json (backup: ~/.wharf/mcp.json.wharf-backup).
    --- stderr
    warning: "fs" is not copied: it exists there; use --force to replace it
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      // mine
      "mcpServers": { "fs": { "command": "mine" }, "web": {"type": "http", "url": "https://w.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}, "off": {"command": "npx", "enabled": false} }
    }
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json.wharf-backup"), @r#"
    {
      // mine
      "mcpServers": { "fs": { "command": "mine" } }
    }
    "#);
    assert_snapshot!(world.run("import cursor fs off --force --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "path": "~/.wharf/mcp.json",
      "backup": "~/.wharf/mcp.json.wharf-backup",
      "added": [],
      "changed": [
        "fs"
      ],
      "unchanged": [
        "off"
      ],
      "skipped": [],
      "secrets": [
        {
          "name": "fs",
          "field": "env.KEY",
          "canBeStored": false
        }
      ],
      "diff": "--- ~/.wharf/mcp.json\n+++ ~/.wharf/mcp.json\n@@ -1,4 +1,4 @@\n {\n   // mine\n-  \"mcpServers\": { \"fs\": { \"command\": \"mine\" }, \"web\": {\"type\": \"http\", \"url\": \"https://w.example/mcp\", \"headers\": {\"Authorization\": \"•••\"}}, \"off\": {\"command\": \"npx\", \"enabled\": false} }\n+  \"mcpServers\": { \"fs\": {\"command\": \"npx\", \"args\": [\"[project]\"], \"env\": {\"KEY\": \"•••\", \"B\": \"${B}\"}}, \"web\": {\"type\": \"http\", \"url\": \"https://w.example/mcp\", \"headers\": {\"Authorization\": \"•••\"}}, \"off\": {\"command\": \"npx\", \"enabled\": false} }\n }\n"
    }
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json"), CURSOR);
}

#[test]
fn names_select_servers_and_an_unknown_name_exits_with_1() {
    let world = world();
    assert_snapshot!(world.run("import cursor web nothing -q"), @r#"
    exit 1
    --- stdout
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -0,0 +1,11 @@
    +{
    +  "mcpServers": {
    +    "web": {
    +      "type": "http",
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    }
    +  }
    +}
    Added 1 server to ~/.wharf/mcp.json.
    "#);
    assert_snapshot!(world.run("import cursor nothing --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "path": "~/.wharf/mcp.json",
      "added": [],
      "changed": [],
      "skipped": [
        {
          "name": "nothing",
          "why": "no such server"
        }
      ],
      "diff": "",
      "error": {
        "code": "not-copied",
        "message": "not copied: \"nothing\""
      }
    }
    "#);
}

#[test]
fn servers_copied_into_a_project_are_trusted() {
    let world = world();
    assert_snapshot!(world.run("import cursor web --scope project -q"), @r#"
    exit 0
    --- stdout
    --- [project]/.wharf/mcp.json
    +++ [project]/.wharf/mcp.json
    @@ -0,0 +1,11 @@
    +{
    +  "mcpServers": {
    +    "web": {
    +      "type": "http",
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    }
    +  }
    +}
    Added 1 server to [project]/.wharf/mcp.json.
    "#);
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME      STATE     TRANSPORT  WHAT                      SOURCE           FILE
    asks      enabled   stdio      npx                       Cursor · user    ~/.cursor/mcp.json
    both      invalid   unknown    npx                       Cursor · user    ~/.cursor/mcp.json
    fs        enabled   stdio      npx '${workspaceFolder}'  Cursor · user    ~/.cursor/mcp.json
    odd name  enabled   stdio      npx                       Cursor · user    ~/.cursor/mcp.json
    off       disabled  stdio      npx                       Cursor · user    ~/.cursor/mcp.json
    web       enabled   http       https://w.example/mcp     Wharf · project  .wharf/mcp.json
    ");
    assert_snapshot!(world.run_in("home", "import cursor fs --scope project"), @"
    exit 1
    --- stderr
    error: the home folder is not a project
      hint: use --scope user, or go to the project's folder
    ");
}

#[test]
fn untrusted_servers_are_not_copied() {
    let entry =
        r#"{ "mcpServers": { "theirs": { "command": "npx", "env": { "A": "${HOME}" } } } }"#;
    let world = World::new().project(".cursor/mcp.json", entry);
    assert_snapshot!(world.run("import cursor"), @r#"
    exit 0
    --- stdout
    Nothing to write to ~/.wharf/mcp.json.
    --- stderr
    warning: "theirs" is not copied: it is not trusted; run `wharf trust theirs`
    "#);
    assert_snapshot!(world.run("import cursor theirs"), @r#"
    exit 1
    --- stdout
    Nothing to write to ~/.wharf/mcp.json.
    --- stderr
    warning: "theirs" is not copied: it is not trusted; run `wharf trust theirs`
    "#);
    assert_snapshot!(world.run("import ./.cursor/mcp.json theirs --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "path": "~/.wharf/mcp.json",
      "added": [],
      "changed": [],
      "skipped": [
        {
          "name": "theirs",
          "why": "it is not trusted; run `wharf trust theirs`"
        }
      ],
      "diff": "",
      "error": {
        "code": "not-copied",
        "message": "not copied: \"theirs\""
      }
    }
    "#);
    assert_snapshot!(world.run("import cursor theirs --trust-project --dry-run"), @r#"
    exit 1
    --- stdout
    Nothing to write to ~/.wharf/mcp.json.
    --- stderr
    warning: "theirs" is not copied: it is not trusted; run `wharf trust theirs`
    "#);
}

#[test]
fn servers_can_be_copied_from_a_file() {
    let world = World::new().project(
        "servers.json",
        r#"{ "mcpServers": { "a": { "command": "npx", "env": { "A_TOKEN": "s3cret" } }, "b": { "url": "https://b.example?key=s3cret" } } }"#,
    );
    assert_snapshot!(world.run("import ./servers.json"), @r#"
    exit 0
    --- stdout
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -0,0 +1,14 @@
    +{
    +  "mcpServers": {
    +    "a": {
    +      "command": "npx",
    +      "env": {
    +        "A_TOKEN": "•••"
    +      }
    +    },
    +    "b": {
    +      "type": "http",
    +      "url": "https://b.example/?•••"
    +    }
    +  }
    +}
    Added 2 servers to ~/.wharf/mcp.json.
    "#);
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "command": "npx",
          "env": {
            "A_TOKEN": "s3cret"
          }
        },
        "b": {
          "type": "http",
          "url": "https://b.example?key=s3cret"
        }
      }
    }
    "#);
    assert_snapshot!(world.run("import servers.json a --force"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.wharf/mcp.json: 1 server is already there, unchanged.
    ");
    assert_snapshot!(world.run("import servers.json --force --dry-run"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.wharf/mcp.json: 2 servers are already there, unchanged.
    ");
}

#[test]
fn an_unreadable_file_exits_with_1() {
    let world = World::new()
        .project("broken.json", "{ \"mcpServers\": {\n  \"a\": { \"command\": s3cret } } }")
        .project("list.json", "[\"s3cret\"]")
        .project("empty.json", "{}")
        .project("folder/x", "");
    assert_snapshot!(world.run("import broken.json"), @"
    exit 1
    --- stderr
    error: [project]/broken.json: line 2: not valid JSON: a string must be in double quotes; only `true`, `false` and `null` are unquoted (column 21)
      hint: correct the line; until then the file is ignored
    ");
    assert_snapshot!(world.run("import broken.json --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "[project]/broken.json: line 2: not valid JSON: a string must be in double quotes; only `true`, `false` and `null` are unquoted (column 21)",
      "error": {
        "code": "file",
        "message": "[project]/broken.json: line 2: not valid JSON: a string must be in double quotes; only `true`, `false` and `null` are unquoted (column 21)",
        "hint": "correct the line; until then the file is ignored",
        "path": "[project]/broken.json"
      }
    }
    --- stderr
    error: [project]/broken.json: line 2: not valid JSON: a string must be in double quotes; only `true`, `false` and `null` are unquoted (column 21)
      hint: correct the line; until then the file is ignored
    "#);
    assert_snapshot!(world.run("import list.json"), @"
    exit 1
    --- stderr
    error: [project]/list.json: line 1: the file must hold an object, not a list
      hint: put everything into { … }
    ");
    assert_snapshot!(world.run("import empty.json"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.wharf/mcp.json.
    ");
    assert_snapshot!(world.run("import folder"), @r#"
    exit 1
    --- stderr
    error: [project]/folder: "folder" is a folder, not a file
      hint: move it away, or put a file in its place
    "#);
    assert!(!world.path("home/.wharf/mcp.json").exists());
}

#[test]
fn an_unknown_program_lists_the_known_ones() {
    assert_snapshot!(World::new().run("import emacs"), @r#"
    exit 1
    --- stderr
    error: unknown program "emacs"
      hint: one of: wharf, omp, pisces, xcsh, co-cli, claude, agent-plugins, claude-plugins, gemini-extensions, codex, gemini, qwen, opencode, cursor, windsurf, copilot, zed, cline, roo, kilo, goose, amp, kiro, crush, continue, junie, lmstudio, amazonq, warp, factory, antigravity, claude-desktop, copilot-jetbrains, air, trae, qoder, kimi, vibe, grok, mastra, pi, fx, mcporter, mcp-cli, sema4, tabnine, cortex, abacus, mcphost, hermes, vscode, shared, mcp-json
    "#);
    assert_snapshot!(World::new().run("import ./nothing.json --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "there is no file [project]/./nothing.json",
      "error": {
        "code": "file",
        "message": "there is no file [project]/./nothing.json",
        "path": "[project]/./nothing.json"
      }
    }
    --- stderr
    error: there is no file [project]/./nothing.json
    "#);
    assert_snapshot!(World::new().run("import cursor"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.wharf/mcp.json.
    ");
}

#[test]
fn a_malformed_wharf_file_is_not_changed() {
    let broken = "{ \"mcpServers\": s3cret }";
    let world = world().home(".wharf/mcp.json", broken);
    assert_snapshot!(world.run("import cursor web"), @"
    exit 1
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 1)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 1, column 17 first; the file was not changed
    ");
    assert_snapshot!(world.run("import cursor web --dry-run --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "could not edit ~/.wharf/mcp.json",
      "error": {
        "code": "file",
        "message": "could not edit ~/.wharf/mcp.json: the file has a syntax error (line 1): a string must be in double quotes; only `true`, `false` and `null` are unquoted",
        "hint": "correct line 1, column 17 first; the file was not changed",
        "path": "~/.wharf/mcp.json"
      }
    }
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 1)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 1, column 17 first; the file was not changed
    "#);
    assert_eq!(world.read("home/.wharf/mcp.json"), broken);
}

#[test]
fn a_failure_with_json_prints_one_document() {
    let world = World::new().home(".wharf/mcp.json", "{").home(".cursor/mcp.json", CURSOR);
    assert_snapshot!(world.run("import nothing --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "unknown program \"nothing\"",
      "error": {
        "code": "unknown-program",
        "message": "unknown program \"nothing\"",
        "hint": "one of: wharf, omp, pisces, xcsh, co-cli, claude, agent-plugins, claude-plugins, gemini-extensions, codex, gemini, qwen, opencode, cursor, windsurf, copilot, zed, cline, roo, kilo, goose, amp, kiro, crush, continue, junie, lmstudio, amazonq, warp, factory, antigravity, claude-desktop, copilot-jetbrains, air, trae, qoder, kimi, vibe, grok, mastra, pi, fx, mcporter, mcp-cli, sema4, tabnine, cortex, abacus, mcphost, hermes, vscode, shared, mcp-json"
      }
    }
    --- stderr
    error: unknown program "nothing"
      hint: one of: wharf, omp, pisces, xcsh, co-cli, claude, agent-plugins, claude-plugins, gemini-extensions, codex, gemini, qwen, opencode, cursor, windsurf, copilot, zed, cline, roo, kilo, goose, amp, kiro, crush, continue, junie, lmstudio, amazonq, warp, factory, antigravity, claude-desktop, copilot-jetbrains, air, trae, qoder, kimi, vibe, grok, mastra, pi, fx, mcporter, mcp-cli, sema4, tabnine, cortex, abacus, mcphost, hermes, vscode, shared, mcp-json
    "#);
    assert_snapshot!(world.run("import cursor --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "could not edit ~/.wharf/mcp.json",
      "error": {
        "code": "file",
        "message": "could not edit ~/.wharf/mcp.json: the file has a syntax error (line 1): the file ends inside the object of line 1",
        "hint": "correct line 1, column 2 first; the file was not changed",
        "path": "~/.wharf/mcp.json"
      }
    }
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 1)
      cause: the file ends inside the object of line 1
      hint: correct line 1, column 2 first; the file was not changed
    "#);
}

#[test]
fn importing_again_changes_nothing() {
    let world = world();
    world.run("import cursor fs web");
    let (before, is_there) = (world.read("home/.wharf/mcp.json"), |world: &World| {
        world.path("home/.wharf/mcp.json.wharf-backup").exists()
    });
    let written = std::fs::metadata(world.path("home/.wharf/mcp.json")).unwrap();
    assert_snapshot!(world.run("import cursor fs web --force"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.wharf/mcp.json: 2 servers are already there, unchanged.
    ");
    assert_snapshot!(world.run("import cursor fs --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "path": "~/.wharf/mcp.json",
      "added": [],
      "changed": [],
      "unchanged": [
        "fs"
      ],
      "skipped": [],
      "diff": ""
    }
    "#);
    assert_eq!(world.read("home/.wharf/mcp.json"), before);
    let now = std::fs::metadata(world.path("home/.wharf/mcp.json")).unwrap();
    assert_eq!(now.modified().unwrap(), written.modified().unwrap());
    assert!(!is_there(&world));
}

#[test]
fn programs_are_found_by_alias_and_typos_get_a_suggestion() {
    let world =
        World::new().home(".claude.json", r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    assert_snapshot!(world.run("import curser"), @r#"
    exit 1
    --- stderr
    error: unknown program "curser"
      hint: did you mean "cursor"?
    "#);
    assert_snapshot!(world.run("import claude-code --dry-run"), @r#"
    exit 0
    --- stdout
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -0,0 +1,7 @@
    +{
    +  "mcpServers": {
    +    "a": {
    +      "command": "x"
    +    }
    +  }
    +}
    Would add 1 server to ~/.wharf/mcp.json.
    "#);
    assert_snapshot!(world.run("export claude-code --dry-run"), @"
    exit 2
    --- stderr
    error: invalid value 'claude-code' for '<TO>'
      [possible values: claude, codex, gemini, qwen, opencode, cursor, windsurf, copilot, zed, kiro, lmstudio, claude-desktop, vscode, mcp-json]

      tip: a similar value exists: 'claude'

    For more information, try '--help'.
    ");
    let output = world.run("import nothing-like-it");
    assert!(!output.contains("did you mean") && output.contains("one of: "), "{output}");
}

const WITH_TOKEN: &str = r#"{ "mcpServers": {
  "api": { "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer t0ken-4711", "X-Log": "1" } },
  "var": { "url": "https://b.example/mcp", "headers": { "Authorization": "Bearer ${env:B}" } } } }"#;

#[test]
fn a_literal_token_stays_in_the_file_without_store_tokens() {
    let world = World::new().home(".cursor/mcp.json", WITH_TOKEN);
    assert_snapshot!(world.run("import cursor"), @r#"
    exit 0
    --- stdout
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -0,0 +1,19 @@
    +{
    +  "mcpServers": {
    +    "api": {
    +      "type": "http",
    +      "url": "https://a.example/mcp",
    +      "headers": {
    +        "Authorization": "•••",
    +        "X-Log": "•••"
    +      }
    +    },
    +    "var": {
    +      "type": "http",
    +      "url": "https://b.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    }
    +  }
    +}
    Added 2 servers to ~/.wharf/mcp.json.
    --- stderr
    warning: "api": headers.Authorization is a literal token
    hint: `wharf import … --store-tokens` keeps tokens in Wharf's credential store
    "#);
    assert!(world.read("home/.wharf/mcp.json").contains("Bearer t0ken-4711"));
    assert!(!world.path("home/.wharf/credentials.json").exists());
}

#[test]
fn store_tokens_moves_a_literal_token_to_the_credential_store() {
    let world = World::new().home(".cursor/mcp.json", WITH_TOKEN);
    let dry = world.run("import cursor --store-tokens --dry-run");
    assert!(dry.starts_with("exit 0") && !world.path("home/.wharf/credentials.json").exists());
    let report = world.run("import cursor --store-tokens --json");
    assert!(report.contains("\"stored\": [\n    \"api\"\n  ]"), "{report}");
    assert!(!report.contains("t0ken") && !report.contains("secrets"), "{report}");
    assert_snapshot!(world.read("home/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "api": {
          "type": "http",
          "url": "https://a.example/mcp",
          "headers": {
            "X-Log": "1"
          },
          "auth": {
            "type": "bearer",
            "credentialId": "[id]"
          }
        },
        "var": {
          "type": "http",
          "url": "https://b.example/mcp",
          "headers": {
            "Authorization": "Bearer ${B}"
          }
        }
      }
    }
    "#);
    assert_snapshot!(world.read("home/.wharf/credentials.json"), @r#"
    {
      "version": 1,
      "credentials": {
        "[id]": {
          "type": "bearer",
          "resource": "https://a.example/mcp",
          "token": "t0ken-4711"
        }
      }
    }
    "#);
    assert_eq!(world.mode("home/.wharf/credentials.json"), 0o600);
    assert!(world.run("status --json").contains(r#""credential": "stored""#));
}

#[test]
fn a_secret_header_that_cannot_be_stored_is_said_to_stay_in_the_file() {
    const WITH_KEY: &str = r#"{ "mcpServers": { "api": { "url": "https://a.example/mcp",
      "headers": { "Authorization": "Bearer t0ken-4711", "X-Api-Key": "k3y-4711" } } } }"#;
    const STAYS: &str = "\"api\": headers.X-Api-Key is a literal secret and stays in the file: \
                         Wharf's credential store keeps only `Authorization: Bearer …`";
    let world = World::new().home(".cursor/mcp.json", WITH_KEY);
    for words in ["import cursor --dry-run", "import cursor --store-tokens"] {
        let said = world.run(words);
        assert!(said.contains(STAYS) && !said.contains("k3y-4711"), "{said}");
    }
    let file = world.read("home/.wharf/mcp.json");
    assert!(file.contains("k3y-4711") && !file.contains("t0ken-4711"), "{file}");
}
