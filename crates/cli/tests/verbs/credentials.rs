//! `wharf credentials`: what is stored, without secrets.

use insta::assert_snapshot;

use crate::world::World;

const STORED: &str = r#"{ "version": 1, "credentials": {
  "c1": { "type": "bearer", "resource": "https://a.example/mcp?key=hunter2", "token": "hunter3" },
  "c2": { "type": "oauth", "resource": "https://b.example/mcp", "issuer": "https://as.example",
    "account": "work", "token": "hunter4", "oauth": { "grant": "authorization_code",
      "expiresAt": 1000, "tokenEndpoint": "https://as.example/t", "client": { "id": "x" } } },
  "c3": { "type": "oauth", "resource": "https://c.example/mcp", "keychain": "e1",
    "oauth": { "grant": "authorization_code", "expiresAt": 99999999999999999, "renewable": true,
      "tokenEndpoint": "https://as.example/t", "client": { "id": "x" } } } } }"#;

fn world() -> World {
    World::new().home(".wharf/credentials.json", STORED).own_servers(&[
        ("a", r#""url": "https://a.example/mcp?key=hunter2", "auth": { "type": "bearer", "credentialId": "c1" }"#),
        ("b", r#""url": "https://b.example/mcp", "account": "work""#),
        ("c", r#""url": "https://c.example/mcp""#),
    ])
}

#[test]
fn stored_credentials_are_listed_without_secrets() {
    let world = world();
    assert_snapshot!(world.run("credentials list"), @"
    exit 0
    --- stdout
    SERVERS  ACCOUNT  KIND    EXPIRES                STORE     FOR
    a                 bearer  not known              file      https://a.example/mcp?•••
    b        work     oauth   expired                file      https://b.example/mcp
    c                 oauth   renewed automatically  keychain  https://c.example/mcp
    ");
    assert_snapshot!(world.run("credentials list --json"), @r#"
    exit 0
    --- stdout
    {
      "credentials": [
        {
          "id": "c1",
          "resource": "https://a.example/mcp?•••",
          "servers": [
            "a"
          ],
          "kind": "bearer",
          "renewable": false,
          "scopes": [],
          "store": "file"
        },
        {
          "id": "c2",
          "resource": "https://b.example/mcp",
          "servers": [
            "b"
          ],
          "issuer": "https://as.example",
          "account": "work",
          "kind": "oauth",
          "renewable": false,
          "expiresAt": "1970-01-01T00:16:40Z",
          "scopes": [],
          "store": "file"
        },
        {
          "id": "c3",
          "resource": "https://c.example/mcp",
          "servers": [
            "c"
          ],
          "kind": "oauth",
          "renewable": true,
          "expiresAt": "9999-12-31T23:59:59Z",
          "scopes": [],
          "store": "keychain"
        }
      ]
    }
    "#);
    assert!(!world.run("credentials list --json").contains("hunter"));
}

#[test]
fn an_expired_sign_in_is_shown_by_the_verbs_that_only_look() {
    let world = world();
    let listed = world.run("list");
    let warning = listed.lines().find(|line| line.contains("\"b\"")).unwrap_or_default();
    assert_snapshot!(warning, @r#"warning: "b": its sign-in has expired (`wharf login b`)"#);
    let status = world.run("status --json");
    assert_eq!(status.matches("\"credential\": \"stored\"").count(), 2, "{status}");
    assert_eq!(status.matches("\"credential\": \"expired\"").count(), 1, "{status}");
    let doctor = world.run("doctor --offline");
    let about: Vec<&str> =
        doctor.lines().filter(|line| line.contains("b:") || line.contains("keychain")).collect();
    assert_snapshot!(about.join("\n"), @"
    !!  keychain: there is no keychain in this session
    !!  b: its sign-in has expired
    ");
}

#[test]
fn a_credential_whose_keychain_is_missing_is_a_clear_error() {
    let world = world();
    let rendered = world.run("credentials move --to file c");
    assert!(
        rendered.starts_with("exit 1\n--- stderr\nerror: the credential store failed: "),
        "{rendered}"
    );
    assert!(world.read("home/.wharf/credentials.json").contains("\"keychain\": \"e1\""));
    assert_snapshot!(world.run("credentials move --to file a"), @"
    exit 0
    --- stdout
    Moved 0 credentials into the file
    ");
    assert_snapshot!(world.run("credentials move --to file nothere"), @r#"
    exit 1
    --- stderr
    error: Server "nothere" not found
    "#);
}

#[test]
fn an_empty_store_says_how_to_sign_in() {
    assert_snapshot!(World::new().run("credentials list"), @"
    exit 0
    --- stderr
    No credentials are stored (`wharf login NAME`).
    ");
}
