//! Tests of redacted texts and diffs.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::edit::{CONTENT_NOT_SHOWN, diff, redact};

const JSON: &str = r#"{
  // "old": { "env": { "PAT": "s3cret" } },
  // plain words, don't hide
  "mcpServers": {
    "a": {
      "command": "npx",
      "args": ["-y", "pkg", "--api-key", "s3cret", "--url=https://h/?k=s3cret", "${X}"],
      "env": { "A": "s3cret", "N": 42, "B": "${B}", "C": "$C", "D": "${D:-s3cret}", "T": true },
      "timeout": 5000
    },
    "b": {
      "url": "https://user:s3cret@h.example/mcp?key=s3cret",
      "requestInit": { "Headers": { "X": ["s3cret"] } },
      "auth": { "type": "bearer", "credentialId": "github", "token": "s3cret" },
      "command": "npx x --token s3cret",
      "clientSecret": "s3cret"
    }
  }
}
"#;

const TOML: &str = r#"# token: s3cret
[mcp_servers.a]
command = "npx" # start
bearer_token_env_var = "GITHUB_TOKEN"
args = [
  "--token",
  's3cret', # 'old'
]
http-headers = { Authorization = "s3cret" }
env_http_headers = { Authorization = "AUTH_VAR" }
env.A = """
s3cret"""

[mcp_servers.b]
bearer_token_env_var = "s3cret"
"#;

#[test]
fn secrets_are_redacted_and_everything_else_is_shown() {
    assert_snapshot!(redact(JSON, Notation::Json), @r#"
    {
      // •••
      // plain words, don't hide
      "mcpServers": {
        "a": {
          "command": "npx",
          "args": ["-y", "pkg", "--api-key", "•••", "--url=https://h/?•••", "${X}"],
          "env": { "A": "•••", "N": •••, "B": "${B}", "C": "$C", "D": "•••", "T": true },
          "timeout": 5000
        },
        "b": {
          "url": "https://•••@h.example/mcp?•••",
          "requestInit": { "Headers": { "X": ["•••"] } },
          "auth": { "type": "bearer", "credentialId": "github", "token": "•••" },
          "command": "npx x --token •••",
          "clientSecret": "•••"
        }
      }
    }
    "#);
    assert_snapshot!(redact(TOML, Notation::Toml), @r#"
    # •••
    [mcp_servers.a]
    command = "npx" # start
    bearer_token_env_var = "GITHUB_TOKEN"
    args = [
      "--token",
      "•••", # •••
    ]
    http-headers = { Authorization = "•••" }
    env_http_headers = { Authorization = "AUTH_VAR" }
    env.A = "•••"

    [mcp_servers.b]
    bearer_token_env_var = "•••"
    "#);
    for (text, notation) in [(JSON, Notation::Json), (TOML, Notation::Toml)] {
        assert!(!redact(text, notation).contains("s3cret"));
        assert!(!redact(&format!("\u{feff}{text}"), notation).contains("s3cret"));
    }
}

#[test]
fn the_name_of_a_server_does_not_disable_redaction() {
    for name in ["credentialId", "env_vars", "my-env-var", "env_http_headers"] {
        let text =
            format!(r#"{{"{name}": {{"env": {{"A": "AKIA0"}}, "args": ["--token", "AKIA0"]}}}}"#);
        let expected =
            format!(r#"{{"{name}": {{"env": {{"A": "•••"}}, "args": ["--token", "•••"]}}}}"#);
        assert_eq!(redact(&text, Notation::Json), expected);
    }
}

#[test]
fn a_comment_may_begin_with_any_letter() {
    assert_eq!(redact("#été = 1\n", Notation::Toml), "# •••\n");
    assert_eq!(redact("#=", Notation::Toml), "# •••");
    assert_eq!(redact("//é=\n1", Notation::Json), "// •••\n1");
}

#[test]
fn a_text_that_cannot_be_parsed_is_not_shown() {
    assert_eq!(redact("{\"env\": {\"A\": \"s3cret\"", Notation::Json), CONTENT_NOT_SHOWN);
    assert_eq!(redact("env = s3cret", Notation::Toml), CONTENT_NOT_SHOWN);
    assert_eq!(redact("env:\n  A: s3cret", Notation::Yaml), CONTENT_NOT_SHOWN);
    assert_eq!(redact("", Notation::Json), "");
}

#[test]
fn a_diff_shows_the_changed_lines_without_secrets() {
    let change = set("mcpServers/a/env/E", json!("s3cret"));
    let after =
        apply(JSON, Notation::Json, &[change, remove("mcpServers/b/clientSecret")]).unwrap();
    assert_snapshot!(diff(JSON, &after, Notation::Json, "~/.wharf/mcp.json"), @r#"
    --- ~/.wharf/mcp.json
    +++ ~/.wharf/mcp.json
    @@ -5,15 +5,14 @@
         "a": {
           "command": "npx",
           "args": ["-y", "pkg", "--api-key", "•••", "--url=https://h/?•••", "${X}"],
    -      "env": { "A": "•••", "N": •••, "B": "${B}", "C": "$C", "D": "•••", "T": true },
    +      "env": { "A": "•••", "N": •••, "B": "${B}", "C": "$C", "D": "•••", "T": true, "E": "•••" },
           "timeout": 5000
         },
         "b": {
           "url": "https://•••@h.example/mcp?•••",
           "requestInit": { "Headers": { "X": ["•••"] } },
           "auth": { "type": "bearer", "credentialId": "github", "token": "•••" },
    -      "command": "npx x --token •••",
    -      "clientSecret": "•••"
    +      "command": "npx x --token •••"
         }
       }
     }
    "#);
    assert_eq!(diff(JSON, JSON, Notation::Json, "x"), "");
}

#[test]
fn a_diff_marks_changed_secrets() {
    let after = apply(
        JSON,
        Notation::Json,
        &[set("mcpServers/b/url", json!("https://user:0ther@h.example/mcp?key=1"))],
    );
    let after = after.unwrap().replace("\"N\": 42", "\"N\": 43");
    assert_snapshot!(diff(JSON, &after, Notation::Json, "x"), @r#"
    --- x
    +++ x
    @@ -5,11 +5,11 @@
         "a": {
           "command": "npx",
           "args": ["-y", "pkg", "--api-key", "•••", "--url=https://h/?•••", "${X}"],
    -      "env": { "A": "•••", "N": •••, "B": "${B}", "C": "$C", "D": "•••", "T": true },
    +      "env": { "A": "•••", "N": ••• (changed), "B": "${B}", "C": "$C", "D": "•••", "T": true },
           "timeout": 5000
         },
         "b": {
    -      "url": "https://•••@h.example/mcp?•••",
    +      "url": "https://•••@h.example/mcp?••• (changed)",
           "requestInit": { "Headers": { "X": ["•••"] } },
           "auth": { "type": "bearer", "credentialId": "github", "token": "•••" },
           "command": "npx x --token •••",
    "#);
}

#[test]
fn occurrences_of_a_duplicate_key_are_compared_in_order() {
    let text = r#"{"env": {"A": "s3cret"}, "env": {"A": "0ther"}}"#;
    assert_eq!(diff(text, text, Notation::Json, "x"), "");
    let after = apply(text, Notation::Json, &[set("env/A", json!("third"))]).unwrap();
    assert_snapshot!(diff(text, &after, Notation::Json, "x"), @r#"
    --- x
    +++ x
    @@ -1 +1 @@
    -{"env": {"A": "•••"}, "env": {"A": "•••"}}
    \ No newline at end of file
    +{"env": {"A": "•••"}, "env": {"A": "••• (changed)"}}
    \ No newline at end of file
    "#);
}

#[test]
fn a_new_file_is_all_additions() {
    let after = apply("", Notation::Toml, &[set("s/a", json!({"env": {"A": "s3cret"}}))]).unwrap();
    assert_snapshot!(diff("", &after, Notation::Toml, "x"), @r#"
    --- x
    +++ x
    @@ -0,0 +1,2 @@
    +[s.a.env]
    +A = "•••"
    "#);
}
