//! Tokens of `wharf add`: they are stored in the credential store and printed nowhere.

use insta::assert_snapshot;

use crate::world::World;

/// The token that must be in the credential store only.
const TOKEN: &str = "t0ken-4711";

/// Returns the output of a run and the files that it wrote; checks them for the token.
#[track_caller]
fn output_and_files(world: &World, output: &str) -> String {
    let entry = world.read("project/.wharf/mcp.json");
    let trusted = world.read("home/.wharf/trust.json");
    for text in [output, &entry, &trusted] {
        assert!(!text.contains(TOKEN), "{text}");
    }
    let credentials = world.read("home/.wharf/credentials.json");
    assert_eq!(world.mode("home/.wharf/credentials.json"), 0o600);
    format!("{output}--- mcp.json\n{entry}--- credentials.json\n{credentials}")
}

#[test]
fn a_token_can_be_piped_in() {
    let world = World::new();
    let words = ["add", "a", "--url", "https://a.example/mcp", "--token", "-"];
    let output = world.run_with_input(&words, &format!("{TOKEN}\n"));
    assert_snapshot!(output_and_files(&world, &output), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    --- mcp.json
    {
      "mcpServers": {
        "a": {
          "type": "http",
          "url": "https://a.example/mcp",
          "auth": {
            "type": "bearer",
            "credentialId": "[id]"
          }
        }
      }
    }
    --- credentials.json
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
    assert_snapshot!(world.run("list -q"), @"
    exit 0
    --- stdout
    NAME  STATE    TRANSPORT  WHAT                   SOURCE           FILE
    a     enabled  http       https://a.example/mcp  Wharf · project  .wharf/mcp.json
    ");
}

#[test]
fn a_token_on_the_command_line_is_not_shown() {
    let world = World::new();
    let output = world.run(&format!("add a --url https://a.example/mcp --token {TOKEN} --json"));
    assert_snapshot!(output_and_files(&world, &output), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "name": "a",
      "path": "[project]/.wharf/mcp.json",
      "message": "Added server \"a\" in [project]/.wharf/mcp.json"
    }
    --- mcp.json
    {
      "mcpServers": {
        "a": {
          "type": "http",
          "url": "https://a.example/mcp",
          "auth": {
            "type": "bearer",
            "credentialId": "[id]"
          }
        }
      }
    }
    --- credentials.json
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
}

#[test]
fn a_bearer_token_in_a_header_is_stored_as_a_token() {
    for header in ["Authorization=Bearer ", "Authorization: Bearer ", "authorization:bearer  "] {
        let world = World::new();
        let header = format!("{header}{TOKEN}");
        let output =
            world.run_words(&["add", "a", "--url", "https://a.example/mcp", "--header", &header]);
        let kept = output_and_files(&world, &output);
        assert!(kept.contains(&format!("\"token\": \"{TOKEN}\"")), "{header}: {kept}");
        assert!(!kept.contains("uthorization"), "{header}: {kept}");
    }
}

#[test]
fn a_header_with_a_placeholder_stays_a_header() {
    let world = World::new();
    assert_snapshot!(world.run_words(
        &["add", "a", "--url", "https://a.example/mcp", "--header", "Authorization=Bearer ${A_TOKEN}"]
    ), @r#"
    exit 0
    --- stdout
    Added server "a" in [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("project/.wharf/mcp.json"), @r#"
    {
      "mcpServers": {
        "a": {
          "type": "http",
          "url": "https://a.example/mcp",
          "headers": {
            "Authorization": "Bearer ${A_TOKEN}"
          }
        }
      }
    }
    "#);
    assert!(!world.path("home/.wharf/credentials.json").exists());
}

#[test]
fn a_token_is_deleted_with_its_entry() {
    let world = World::new();
    world.run(&format!("add a --url https://a.example --token {TOKEN}"));
    world.run("add a --url https://a.example --token another --force");
    let kept = world.read("home/.wharf/credentials.json");
    assert!(kept.contains("another") && !kept.contains(TOKEN), "{kept}");
    assert_snapshot!(world.run("remove a"), @r#"
    exit 0
    --- stdout
    Removed server "a" from [project]/.wharf/mcp.json
    "#);
    assert_snapshot!(world.read("home/.wharf/credentials.json"), @r#"
    {
      "version": 1,
      "credentials": {}
    }
    "#);
}

#[test]
fn a_credential_store_readable_by_others_becomes_private() {
    let world = World::new();
    world.run(&format!("add a --url https://a.example --token {TOKEN}"));
    let path = world.path("home/.wharf/credentials.json");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(path, open).unwrap();
    world.run("add b --url https://b.example --token another");
    assert_eq!(world.mode("home/.wharf/credentials.json"), 0o600);
}

#[test]
fn a_malformed_credential_store_is_not_overwritten() {
    let damaged = "{ \"version\": 1, \"credentials\": { \"x\": \"s3cret\" ";
    let world = World::new().home(".wharf/credentials.json", damaged);
    assert_snapshot!(world.run(&format!("add a --url https://a.example --token {TOKEN} --json")), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a",
      "message": "~/.wharf/credentials.json is malformed (line 1)",
      "error": {
        "code": "file",
        "message": "~/.wharf/credentials.json is malformed (line 1)",
        "hint": "correct the file, or delete it and add the tokens again"
      }
    }
    --- stderr
    error: ~/.wharf/credentials.json is malformed (line 1)
      hint: correct the file, or delete it and add the tokens again
    "#);
    assert_eq!(world.read("home/.wharf/credentials.json"), damaged);
    assert!(!world.path("project/.wharf/mcp.json").exists());
}

#[test]
fn two_tokens_are_refused() {
    let world = World::new();
    assert_snapshot!(world.run_words(&[
        "add", "a", "--url", "https://a.example", "--token", "b", "--header", "Authorization=Bearer c",
    ]), @"
    exit 2
    --- stderr
    error: --token and an Authorization header with a token cannot be used together
      hint: give one of them
    ");
    assert!(!world.path("project/.wharf").exists());
}
