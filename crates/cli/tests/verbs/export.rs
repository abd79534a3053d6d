//! `wharf export`: writes servers into the file of another program; keeps comments and a backup.

use insta::assert_snapshot;

use crate::world::World;

const CURSOR: &str = "{\n  // Cursor's own\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"theirs\" }, // keep\n  },\n  \"other\": true\n}\n";

const CODEX: &str = "# my codex\nmodel = \"o9\" # best\n\n[mcp_servers.fs]\ncommand = \"theirs\"\n\n[tui]\ntheme = \"dark\"\n";

fn world() -> World {
    World::new()
        .home(
            ".wharf/mcp.json",
            r#"{ "mcpServers": {
  "fs": { "command": "npx", "args": ["-y", "fs"], "env": { "KEY": "s3cret", "B": "${B}" }, "excludeTools": ["rm"] },
  "web": { "url": "https://w.example/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
  "off": { "command": "npx", "enabled": false },
  "cmd": { "command": "npx", "env": { "A": "!pass show a" } },
  "bad": { "type": "http" } } }"#,
        )
        .project(".mcp.json", r#"{ "mcpServers": { "came": { "command": "evil" } } }"#)
}

#[test]
fn a_dry_run_for_cursor_changes_nothing() {
    let world = world().home(".cursor/mcp.json", CURSOR);
    assert_snapshot!(world.run("export cursor --dry-run"), @r#"
    exit 0
    --- stdout
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -2,6 +2,12 @@
       // Cursor's own
       "mcpServers": {
         "fs": { "command": "theirs" }, // keep
    +    "web": {
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    },
       },
       "other": true
     }
    Would add 1 server to ~/.cursor/mcp.json.
    --- stderr
    warning: "bad" is not copied: it is invalid
    warning: "came" is not copied: it is not trusted; run `wharf trust came`
    warning: "cmd" is not copied: "A" comes from a command
    warning: "fs" is not copied: it exists there; use --force to replace it
    warning: "off" is not copied: it is disabled
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json"), CURSOR);
    assert!(!world.path("home/.cursor/mcp.json.wharf-backup").exists());
}

#[test]
fn cursor_gets_missing_servers_and_existing_ones_only_with_force() {
    let world = world().home(".cursor/mcp.json", CURSOR);
    assert_snapshot!(world.run("export cursor"), @r#"
    exit 0
    --- stdout
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -2,6 +2,12 @@
       // Cursor's own
       "mcpServers": {
         "fs": { "command": "theirs" }, // keep
    +    "web": {
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    },
       },
       "other": true
     }
    Added 1 server to ~/.cursor/mcp.json (backup: ~/.cursor/mcp.json.wharf-backup).
    --- stderr
    warning: "bad" is not copied: it is invalid
    warning: "came" is not copied: it is not trusted; run `wharf trust came`
    warning: "cmd" is not copied: "A" comes from a command
    warning: "fs" is not copied: it exists there; use --force to replace it
    warning: "off" is not copied: it is disabled
    "#);
    assert_snapshot!(world.read("home/.cursor/mcp.json"), @r#"
    {
      // Cursor's own
      "mcpServers": {
        "fs": { "command": "theirs" }, // keep
        "web": {
          "url": "https://w.example/mcp",
          "headers": {
            "Authorization": "Bearer ${env:TOKEN}"
          }
        },
      },
      "other": true
    }
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json.wharf-backup"), CURSOR);
    let written = world.read("home/.cursor/mcp.json");
    assert_snapshot!(world.run("export cursor web"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.cursor/mcp.json: 1 server is already there, unchanged.
    ");
    assert_eq!(world.read("home/.cursor/mcp.json"), written);
    assert_snapshot!(world.run("export cursor fs --force"), @r#"
    exit 0
    --- stdout
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -1,7 +1,7 @@
     {
       // Cursor's own
       "mcpServers": {
    -    "fs": { "command": "theirs" }, // keep
    +    "fs": {"command": "npx", "args": ["-y", "fs"], "env": {"KEY": "•••", "B": "${env:B}"}}, // keep
         "web": {
           "url": "https://w.example/mcp",
           "headers": {
    Replaced 1 server in ~/.cursor/mcp.json (backup: ~/.cursor/mcp.json.wharf-backup).
    --- stderr
    warning: "fs": "excludeTools" is not copied: all its tools will be offered there
    "#);
    assert_snapshot!(world.read("home/.cursor/mcp.json"), @r#"
    {
      // Cursor's own
      "mcpServers": {
        "fs": {"command": "npx", "args": ["-y", "fs"], "env": {"KEY": "s3cret", "B": "${env:B}"}}, // keep
        "web": {
          "url": "https://w.example/mcp",
          "headers": {
            "Authorization": "Bearer ${env:TOKEN}"
          }
        },
      },
      "other": true
    }
    "#);
    assert_eq!(world.read("home/.cursor/mcp.json.wharf-backup"), written);
    assert_eq!(world.read("home/.cursor/mcp.json.wharf-backup.1"), CURSOR);
}

#[test]
fn codex_gets_toml_with_codex_field_names() {
    let world = world().home(".codex/config.toml", CODEX);
    // In a diff an empty line is a space.
    let run = |line: &str| world.run(line).replace("\n \n", "\n\n");
    assert_snapshot!(run("export codex"), @r#"
    exit 0
    --- stdout
    --- ~/.codex/config.toml
    +++ ~/.codex/config.toml
    @@ -4,5 +4,9 @@
     [mcp_servers.fs]
     command = "theirs"

    +[mcp_servers.web]
    +url = "https://w.example/mcp"
    +bearer_token_env_var = "TOKEN"
    +
     [tui]
     theme = "dark"
    Added 1 server to ~/.codex/config.toml (backup: ~/.codex/config.toml.wharf-backup).
    --- stderr
    warning: "bad" is not copied: it is invalid
    warning: "came" is not copied: it is not trusted; run `wharf trust came`
    warning: "cmd" is not copied: "A" comes from a command
    warning: "fs" is not copied: it exists there; use --force to replace it
    warning: "off" is not copied: it is disabled
    "#);
    assert_snapshot!(world.read("home/.codex/config.toml"), @r#"
    # my codex
    model = "o9" # best

    [mcp_servers.fs]
    command = "theirs"

    [mcp_servers.web]
    url = "https://w.example/mcp"
    bearer_token_env_var = "TOKEN"

    [tui]
    theme = "dark"
    "#);
    assert_eq!(world.read("home/.codex/config.toml.wharf-backup"), CODEX);
    assert_eq!(world.mode("home/.codex/config.toml"), 0o600);
    assert_snapshot!(run("export codex web"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.codex/config.toml: 1 server is already there, unchanged.
    ");
    assert_snapshot!(run("export codex fs --force"), @r#"
    exit 0
    --- stdout
    --- ~/.codex/config.toml
    +++ ~/.codex/config.toml
    @@ -2,7 +2,13 @@
     model = "o9" # best

     [mcp_servers.fs]
    -command = "theirs"
    +command = "npx"
    +args = ["-y", "fs"]
    +disabled_tools = ["rm"]
    +env_vars = ["B"]
    +
    +[mcp_servers.fs.env]
    +KEY = "•••"

     [mcp_servers.web]
     url = "https://w.example/mcp"
    Replaced 1 server in ~/.codex/config.toml (backup: ~/.codex/config.toml.wharf-backup).
    "#);
    assert_snapshot!(world.read("home/.codex/config.toml"), @r#"
    # my codex
    model = "o9" # best

    [mcp_servers.fs]
    command = "npx"
    args = ["-y", "fs"]
    disabled_tools = ["rm"]
    env_vars = ["B"]

    [mcp_servers.fs.env]
    KEY = "s3cret"

    [mcp_servers.web]
    url = "https://w.example/mcp"
    bearer_token_env_var = "TOKEN"

    [tui]
    theme = "dark"
    "#);
}

#[test]
fn json_output_reports_the_result() {
    let world = world().home(".cursor/mcp.json", CURSOR);
    assert_snapshot!(world.run("export cursor --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "path": "~/.cursor/mcp.json",
      "backup": "~/.cursor/mcp.json.wharf-backup",
      "added": [
        "web"
      ],
      "changed": [],
      "skipped": [
        {
          "name": "bad",
          "why": "it is invalid"
        },
        {
          "name": "came",
          "why": "it is not trusted; run `wharf trust came`"
        },
        {
          "name": "cmd",
          "why": "\"A\" comes from a command"
        },
        {
          "name": "fs",
          "why": "it exists there; use --force to replace it"
        },
        {
          "name": "off",
          "why": "it is disabled"
        }
      ],
      "diff": "--- ~/.cursor/mcp.json\n+++ ~/.cursor/mcp.json\n@@ -2,6 +2,12 @@\n   // Cursor's own\n   \"mcpServers\": {\n     \"fs\": { \"command\": \"theirs\" }, // keep\n+    \"web\": {\n+      \"url\": \"https://w.example/mcp\",\n+      \"headers\": {\n+        \"Authorization\": \"•••\"\n+      }\n+    },\n   },\n   \"other\": true\n }\n"
    }
    "#);
    assert_snapshot!(world.run("export cursor fs nothing --force --dry-run --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "path": "~/.cursor/mcp.json",
      "added": [],
      "changed": [
        "fs"
      ],
      "skipped": [
        {
          "name": "nothing",
          "why": "no such server"
        }
      ],
      "notes": [
        {
          "name": "fs",
          "text": "\"excludeTools\" is not copied: all its tools will be offered there"
        }
      ],
      "secrets": [
        {
          "name": "fs",
          "field": "env.KEY",
          "canBeStored": false
        }
      ],
      "diff": "--- ~/.cursor/mcp.json\n+++ ~/.cursor/mcp.json\n@@ -1,7 +1,7 @@\n {\n   // Cursor's own\n   \"mcpServers\": {\n-    \"fs\": { \"command\": \"theirs\" }, // keep\n+    \"fs\": {\"command\": \"npx\", \"args\": [\"-y\", \"fs\"], \"env\": {\"KEY\": \"•••\", \"B\": \"${env:B}\"}}, // keep\n     \"web\": {\n       \"url\": \"https://w.example/mcp\",\n       \"headers\": {\n",
      "error": {
        "code": "not-copied",
        "message": "not copied: \"nothing\""
      }
    }
    "#);
    assert_snapshot!(world.run("export codex web --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "path": "~/.codex/config.toml",
      "added": [
        "web"
      ],
      "changed": [],
      "skipped": [],
      "diff": "--- ~/.codex/config.toml\n+++ ~/.codex/config.toml\n@@ -0,0 +1,3 @@\n+[mcp_servers.web]\n+url = \"https://w.example/mcp\"\n+bearer_token_env_var = \"TOKEN\"\n"
    }
    "#);
}

#[test]
fn servers_can_be_exported_to_a_project_file() {
    let world = world();
    assert_snapshot!(world.run("export cursor --scope project web"), @r#"
    exit 0
    --- stdout
    --- [project]/.cursor/mcp.json
    +++ [project]/.cursor/mcp.json
    @@ -0,0 +1,10 @@
    +{
    +  "mcpServers": {
    +    "web": {
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    }
    +  }
    +}
    Added 1 server to [project]/.cursor/mcp.json.
    "#);
    assert_snapshot!(world.run("export vscode --scope project web"), @r#"
    exit 0
    --- stdout
    --- [project]/.vscode/mcp.json
    +++ [project]/.vscode/mcp.json
    @@ -0,0 +1,11 @@
    +{
    +  "servers": {
    +    "web": {
    +      "type": "http",
    +      "url": "https://w.example/mcp",
    +      "headers": {
    +        "Authorization": "•••"
    +      }
    +    }
    +  }
    +}
    Added 1 server to [project]/.vscode/mcp.json.
    "#);
    assert_snapshot!(world.run("export claude-desktop --scope project web"), @"
    exit 1
    --- stderr
    error: Claude Desktop has no project file to write to
      hint: use --scope user
    ");
    assert_snapshot!(world.run_in("home", "export cursor --scope project web"), @"
    exit 1
    --- stderr
    error: the home folder is not a project
      hint: use --scope user, or go to the project's folder
    ");
    assert_eq!(world.mode("project/.cursor/mcp.json"), 0o600);
}

#[test]
fn defaults_are_exported_only_if_named() {
    let world = World::new();
    assert_snapshot!(world.run("export cursor"), @"
    exit 0
    --- stdout
    Nothing to write to ~/.cursor/mcp.json.
    ");
    assert!(!world.path("home/.cursor").exists());
    assert_snapshot!(world.run("export cursor github --dry-run"), @r#"
    exit 0
    --- stdout
    --- ~/.cursor/mcp.json
    +++ ~/.cursor/mcp.json
    @@ -0,0 +1,8 @@
    +{
    +  "mcpServers": {
    +    "github": {
    +      "command": "npx",
    +      "args": ["-y", "@modelcontextprotocol/server-github"]
    +    }
    +  }
    +}
    Would add 1 server to ~/.cursor/mcp.json.
    "#);
}

#[test]
fn a_server_with_a_stored_token_is_not_copied() {
    let world = World::new();
    world.run("add api --scope user --url https://a.example --token s3cret");
    assert_snapshot!(world.run("export cursor"), @r#"
    exit 0
    --- stdout
    Nothing to write to ~/.cursor/mcp.json.
    --- stderr
    warning: "api" is not copied: its sign-in is in Wharf's credential store and is not copied
    "#);
    assert_snapshot!(world.run("export codex api"), @r#"
    exit 1
    --- stdout
    Nothing to write to ~/.codex/config.toml.
    --- stderr
    warning: "api" is not copied: its sign-in is in Wharf's credential store and is not copied
    "#);
}

#[test]
fn project_servers_are_copied_only_if_trusted() {
    let world = world();
    assert_snapshot!(world.run("export cursor came"), @r#"
    exit 1
    --- stdout
    Nothing to write to ~/.cursor/mcp.json.
    --- stderr
    warning: "came" is not copied: it is not trusted; run `wharf trust came`
    "#);
    assert_snapshot!(world.run("export cursor came --trust-project"), @r#"
    exit 1
    --- stdout
    Nothing to write to ~/.cursor/mcp.json.
    --- stderr
    warning: "came" is not copied: it is not trusted; run `wharf trust came`
    "#);
}

#[test]
fn an_unknown_program_is_a_usage_error_that_lists_the_programs() {
    assert_snapshot!(World::new().run("export emacs"), @"
    exit 2
    --- stderr
    error: invalid value 'emacs' for '<TO>'
      [possible values: claude, codex, gemini, qwen, opencode, cursor, windsurf, copilot, zed, kiro, lmstudio, claude-desktop, vscode, mcp-json]

    For more information, try '--help'.
    ");
    assert_snapshot!(World::new().run("export"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <TO>

    Usage: wharf export <TO> [NAME]...

    For more information, try '--help'.
    ");
}

#[test]
fn a_malformed_file_of_another_program_is_not_changed() {
    let broken = "{ \"mcpServers\": s3cret";
    let world = world().home(".cursor/mcp.json", broken).home(".codex/config.toml", "a = = s3cret");
    assert_snapshot!(world.run("export cursor web"), @"
    exit 1
    --- stderr
    error: could not edit ~/.cursor/mcp.json
      cause: the file has a syntax error (line 1)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 1, column 17 first; the file was not changed
    ");
    assert_snapshot!(world.run("export cursor web --dry-run --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "could not edit ~/.cursor/mcp.json",
      "error": {
        "code": "file",
        "message": "could not edit ~/.cursor/mcp.json: the file has a syntax error (line 1): a string must be in double quotes; only `true`, `false` and `null` are unquoted",
        "hint": "correct line 1, column 17 first; the file was not changed",
        "path": "~/.cursor/mcp.json"
      }
    }
    --- stderr
    error: could not edit ~/.cursor/mcp.json
      cause: the file has a syntax error (line 1)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 1, column 17 first; the file was not changed
    "#);
    assert_snapshot!(world.run("export codex web"), @"
    exit 1
    --- stderr
    error: could not edit ~/.codex/config.toml
      cause: the file has a syntax error (line 1)
      cause: extra `=`, expected nothing
      hint: correct line 1, column 5 first; the file was not changed
    ");
    assert_eq!(world.read("home/.cursor/mcp.json"), broken);
    assert!(!world.path("home/.cursor/mcp.json.wharf-backup").exists());
    let world = self::world().home(".cursor", "a file");
    assert_snapshot!(world.run("export cursor web"), @r#"
    exit 1
    --- stderr
    error: "~/.cursor/mcp.json" cannot be written
      cause: File exists (os error 17)
      hint: "~/.cursor" must be a folder; move away what is there
    "#);
}

#[test]
fn a_failure_with_json_prints_one_document() {
    let world = World::new()
        .home(".wharf/mcp.json", r#"{ "mcpServers": { "a": { "command": "npx" } } }"#)
        .home(".cursor/mcp.json", "{");
    assert_snapshot!(world.run("export cursor --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "message": "could not edit ~/.cursor/mcp.json",
      "error": {
        "code": "file",
        "message": "could not edit ~/.cursor/mcp.json: the file has a syntax error (line 1): the file ends inside the object of line 1",
        "hint": "correct line 1, column 2 first; the file was not changed",
        "path": "~/.cursor/mcp.json"
      }
    }
    --- stderr
    error: could not edit ~/.cursor/mcp.json
      cause: the file has a syntax error (line 1)
      cause: the file ends inside the object of line 1
      hint: correct line 1, column 2 first; the file was not changed
    "#);
}

#[test]
fn a_literal_secret_in_a_project_file_causes_a_warning() {
    let world = World::new().programs(&["npx"]).home(
        ".wharf/mcp.json",
        r#"{ "mcpServers": {
  "api": { "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer s3cret", "X-Api-Key": "${KEY}" } },
  "fs": { "command": "npx", "args": ["--token", "s3cret"], "env": { "GITHUB_TOKEN": "s3cret", "LOG": "s3cret" } } } }"#,
    );
    assert_snapshot!(world.run("export cursor --scope project --dry-run"), @r#"
    exit 0
    --- stdout
    --- [project]/.cursor/mcp.json
    +++ [project]/.cursor/mcp.json
    @@ -0,0 +1,19 @@
    +{
    +  "mcpServers": {
    +    "api": {
    +      "url": "https://a.example/mcp",
    +      "headers": {
    +        "Authorization": "•••",
    +        "X-Api-Key": "${env:KEY}"
    +      }
    +    },
    +    "fs": {
    +      "command": "npx",
    +      "args": ["--token", "•••"],
    +      "env": {
    +        "GITHUB_TOKEN": "•••",
    +        "LOG": "•••"
    +      }
    +    }
    +  }
    +}
    Would add 2 servers to [project]/.cursor/mcp.json.
    --- stderr
    warning: "api": headers.Authorization is a literal secret, and [project]/.cursor/mcp.json is a file of the project: everybody with access to the project can read it
    warning: "fs": env.GITHUB_TOKEN is a literal secret, and [project]/.cursor/mcp.json is a file of the project: everybody with access to the project can read it
    warning: "fs": args[1] is a literal secret, and [project]/.cursor/mcp.json is a file of the project: everybody with access to the project can read it
    hint: put such values into variables and write ${NAME}
    "#);
    let written = world.run("export cursor --scope project --yes");
    assert!(written.contains("headers.Authorization is a literal secret"), "{written}");
    assert!(
        !world.run("export cursor --yes --dry-run").contains("literal"),
        "the file of the user"
    );
    let json = world.run("export vscode --scope project --dry-run --json");
    assert!(json.contains(r#""field": "env.GITHUB_TOKEN""#) && !json.contains("s3cret"), "{json}");
}
