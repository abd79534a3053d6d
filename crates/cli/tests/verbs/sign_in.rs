//! `wharf login` and `logout` without a terminal, and what other verbs say about a sign-in.

use insta::assert_snapshot;
use serde_json::Value;
use wharf_testkit::oauth::{OAuthServerOptions, visit};

use crate::sign_in_world::SignInWorld;
use crate::world::World;

#[test]
fn a_sign_in_is_stored_and_used() {
    let world = SignInWorld::new();
    let signed_in = world.sign_in("");
    assert_snapshot!(without_addresses(&world.render(&signed_in)), @r#"
    exit 0
    --- stdout
    Signed in to "web"
      issuer         [issuer]
      renewal        automatic
    --- stderr
    Sign in at 127.0.0.1:


    Your browser was asked to open this page.
    Waiting for the browser. Ctrl-C cancels.
    "#);
    let tested = world.run("test web");
    assert!(tested.starts_with("exit 0"), "{tested}");
    let called = world.run("call web/echo text=ahoy");
    assert!(called.starts_with("exit 0"), "{called}");
    assert_eq!(world.server.requests_to("/authorize"), 1);
    assert_snapshot!(world.run("status"), @"
    exit 0
    --- stdout
    NAME  TRANSPORT  STATUS          CREDENTIAL  LAST ATTEMPT
    web   http       url configured  signed in   connected just now
    --- stderr
    1 of 1 ready.
    ");
    let rendered = world.render(&signed_in);
    world.check_for_leaks(&[&rendered, &tested, &called, &world.run("list --json")]);
    assert_eq!(world.world.mode("home/.wharf/credentials.json"), 0o600);
}

#[test]
fn a_sign_in_as_json_has_no_secret() {
    let world = SignInWorld::new();
    let signed_in = world.sign_in("--json --scope read");
    let answer: Value = serde_json::from_slice(&signed_in.stdout).unwrap();
    let fields = ["ok", "name", "issuer", "scopes", "renewable"].map(|name| &answer[name]);
    let expected = serde_json::json!([true, "web", world.server.issuer(), ["read"], true]);
    assert_eq!(serde_json::json!(fields), expected);
    world.check_for_leaks(&[&world.render(&signed_in)]);
}

#[test]
fn a_server_in_the_file_of_another_program_is_signed_in_to_and_its_file_stays_unchanged() {
    let world = SignInWorld::defined_by(|world, url| {
        let file = format!(r#"{{ "mcpServers": {{ "web": {{ "url": "{url}" }} }} }}"#);
        world.home(".cursor/mcp.json", &file)
    });
    let before = world.world.read("home/.cursor/mcp.json");
    assert!(world.sign_in("").status.success());
    assert_eq!(world.world.read("home/.cursor/mcp.json"), before);
    assert!(!world.world.path("home/.wharf/mcp.json").exists());
    assert!(world.run("tools web").starts_with("exit 0"));
}

#[test]
fn an_expired_token_is_renewed_without_the_person() {
    let world = SignInWorld::new();
    assert!(world.sign_in("").status.success());
    let before = world.stored();
    world.server.expire_access_tokens();
    assert!(world.run("test web").starts_with("exit 0"));
    assert_eq!(world.server.token_requests("refresh_token"), 1);
    assert_ne!(world.stored(), before);
    assert!(world.run("test web").starts_with("exit 0"));
    assert_eq!(world.server.token_requests("refresh_token"), 1);
}

#[test]
fn a_revoked_sign_in_is_not_deleted_and_the_verb_says_what_to_type() {
    let world = SignInWorld::new();
    assert!(world.sign_in("").status.success());
    world.server.revoke_all();
    let tested = world.run("test web");
    assert!(tested.starts_with("exit 4") && tested.contains("`wharf login web`"), "{tested}");
    assert!(world.stored().contains("refresh-"));
    assert!(world.sign_in("").status.success());
    assert!(world.run("test web").starts_with("exit 0"));
}

#[test]
fn without_a_terminal_verbs_name_the_command_for_signing_in() {
    let world = SignInWorld::new();
    for line in ["test web", "call web/echo text=a", "tools web"] {
        let rendered = world.run(line);
        assert!(rendered.starts_with("exit 4"), "{line}: {rendered}");
        assert!(rendered.contains("`wharf login web`"), "{line}: {rendered}");
    }
    assert_eq!(world.server.requests_to("/authorize"), 0);
}

#[test]
fn signing_out_revokes_the_tokens_and_removes_them() {
    let world = SignInWorld::new();
    assert!(world.sign_in("").status.success());
    assert_eq!(world.server.active_grants(), 1);
    assert_snapshot!(world.run("logout web"), @r#"
    exit 0
    --- stdout
    Signed out of "web"
    "#);
    assert_eq!(world.server.active_grants(), 0);
    assert!(!world.stored().contains("access-"), "{}", world.stored());
    assert_snapshot!(world.run("unauth web"), @r#"
    exit 1
    --- stderr
    error: Nobody is signed in to "web"
      hint: `wharf credentials list` shows what is stored
    "#);
}

#[test]
fn a_code_on_another_device_signs_in() {
    let world = SignInWorld::new();
    let signed_in = world.world.output("login web --device");
    let rendered = world.render(&signed_in);
    assert_snapshot!(rendered, @r#"
    exit 0
    --- stdout
    Signed in to "web"
      issuer         [issuer]
      renewal        automatic
    --- stderr
    Sign in at 127.0.0.1, on any device:

      open           [issuer]/activate
      enter          WDJB-MJHT
      or open        [issuer]/activate?user_code=WDJB-MJHT

    The code is valid for 10 minutes. Ctrl-C cancels.
    "#);
    assert!(world.run("test web").starts_with("exit 0"));
    world.check_for_leaks(&[&rendered]);
}

#[test]
fn an_account_has_a_credential_of_its_own() {
    let world = SignInWorld::with(OAuthServerOptions::default(), r#", "account": "work""#);
    assert!(world.sign_in("--account home").status.success());
    assert!(world.run("test web").starts_with("exit 4"));
    assert!(world.sign_in("").status.success());
    assert!(world.run("test web").starts_with("exit 0"));
    let listed: Value =
        serde_json::from_slice(&world.world.output("credentials list --json").stdout).unwrap();
    let mut accounts: Vec<&str> = listed["credentials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["account"].as_str().unwrap())
        .collect();
    accounts.sort_unstable();
    assert_eq!(accounts, ["home", "work"]);
    assert!(world.run("logout web --account home").starts_with("exit 0"));
    assert!(world.run("test web").starts_with("exit 0"));
}

#[test]
fn without_a_browser_the_address_is_printed() {
    let world = SignInWorld::new();
    let mut login = world.start("login web --no-browser");
    let address = {
        use std::io::{BufRead, BufReader};
        let lines = BufReader::new(login.stderr.take().unwrap()).lines();
        let mut lines = lines.map(|line| line.unwrap().trim().to_owned());
        lines.find(|line| line.starts_with("http://")).unwrap()
    };
    assert!(visit(&address).unwrap().starts_with("HTTP/1.1 200"));
    assert!(login.wait().unwrap().success());
    assert!(!world.world.path("bin/browser.opened").exists());
}

#[test]
fn a_sign_in_that_nobody_completes_ends() {
    let world = SignInWorld::new();
    let rendered = world.run("login web --no-browser --timeout 200ms");
    assert!(rendered.starts_with("exit 5"), "{rendered}");
    let error = rendered.lines().find(|line| line.starts_with("error")).unwrap();
    assert_eq!(error, "error: OAuth flow timed out. Please try again.");
    assert_eq!(world.stored(), "");
}

#[test]
fn a_server_without_oauth_is_explained() {
    let world = World::new().tool_server("box").own_servers(&[
        ("box", r#""command": "box""#),
        ("off", r#""url": "http://127.0.0.1:9/mcp", "enabled": false"#),
        ("own", r#""url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer x" }"#),
    ]);
    assert_snapshot!(world.run("login box"), @r#"
    exit 1
    --- stderr
    error: Server "box" is a local program, which has no sign-in
      hint: to store a token for it: `wharf add box --token -`
    "#);
    assert_snapshot!(world.run("login off"), @r#"
    exit 1
    --- stderr
    error: Server "off" is disabled. Run wharf enable off first.
    "#);
    assert_snapshot!(world.run("login own"), @r#"
    exit 1
    --- stderr
    error: Server "own" has its own "Authorization" header
      hint: correct the header in its entry (`wharf get own`)
    "#);
    assert_snapshot!(world.run("login bux"), @r#"
    exit 1
    --- stderr
    error: Server "bux" not found
      hint: did you mean "box"?
    "#);
}

#[test]
fn nothing_is_sent_to_an_untrusted_server() {
    let world = SignInWorld::defined_by(|world, url| {
        let file = format!(r#"{{ "mcpServers": {{ "web": {{ "url": "{url}" }} }} }}"#);
        world.project(".mcp.json", &file)
    });
    for line in ["login web", "logout web"] {
        assert!(world.run(line).starts_with("exit 6"), "{line}");
    }
    assert_eq!(world.server.requests().len(), 0);
}

/// Replaces addresses that differ between runs.
fn without_addresses(text: &str) -> String {
    let is_address = |line: &&str| !line.trim_start().starts_with("[issuer]/authorize?");
    text.lines().filter(is_address).collect::<Vec<_>>().join("\n")
}
