//! Sign-ins whose server, issuer or page lies, fails or floods: a clear refusal, nothing stored,
//! nothing sent to the wrong party, and the old credential stays.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_testkit::oauth::OAuthEndpoint::{
    Authorize, Device, Mcp, Register, ResourceMetadata, ServerMetadata, Token,
};
use wharf_testkit::oauth::{
    AuthorizationRedirect, Misbehavior, OAuthEndpoint, OAuthParty, OAuthServer, OAuthServerOptions,
    visit,
};

use crate::sign_in_world::{SignInWorld, wait_for};

/// How an endpoint misbehaves; it may need the addresses of the servers.
type How = fn(&OAuthServer) -> Misbehavior;

/// Signs in as a patient person would; returns the output.
fn sign_in(world: &SignInWorld, arguments: &str) -> Output {
    let mut login = world.start(&format!("login web {arguments}"));
    let file = world.world.path("bin/browser.opened");
    wait_for(|| {
        if login.try_wait().unwrap().is_some() {
            return Some(());
        }
        if std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
            // The page may be broken; the output says what came of it.
            drop(visit(&world.opened()));
        }
        None
    });
    login.wait_with_output().unwrap()
}

/// Checks that a sign-in fails with this text, and that it has no other effect.
fn check(endpoint: OAuthEndpoint, how: How, expected: &str) {
    let world = SignInWorld::new();
    world.server.misbehave(endpoint, how(&world.server));
    refused(&world, "", expected);
}

fn refused(world: &SignInWorld, arguments: &str, expected: &str) {
    let before = world.stored();
    let began = Instant::now();
    let output = sign_in(world, arguments);
    let rendered = world.render(&output);
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}: {rendered}", began.elapsed());
    assert_eq!(output.status.code(), Some(4), "{rendered}");
    assert!(rendered.contains(expected), "{expected}: {rendered}");
    assert!(!rendered.contains('\u{1b}') && rendered.len() < 10_000, "{rendered:?}");
    assert_eq!(world.stored(), before);
    if !world.server.secrets().is_empty() {
        world.check_for_leaks(&[&rendered]);
    }
    let requests = world.server.requests();
    let at_other = requests.iter().filter(|request| request.party == OAuthParty::OtherOrigin);
    for request in at_other {
        assert_eq!(request.http_method, "GET", "{request:?}");
        assert!(request.query.is_empty() && request.authorization().is_none(), "{request:?}");
    }
}

fn edit(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Misbehavior {
    Misbehavior::edit(change)
}

const FAILED: &str = "error: OAuth authentication failed: ";
const NOT_DISCOVERED: &str =
    "error: Authentication required for \"web\", but OAuth endpoints could not be discovered.";

#[test]
fn an_issuer_without_metadata_is_reported_with_the_addresses_that_were_tried() {
    let world = SignInWorld::new();
    world.server.misbehave(ServerMetadata, Misbehavior::json(404, &json!({})));
    refused(&world, "", NOT_DISCOVERED);
    let rendered = world.run("login web");
    assert!(
        rendered.contains("[issuer]/.well-known/openid-configuration (status 404)"),
        "{rendered}"
    );
}

#[test]
fn metadata_about_another_resource_is_refused() {
    check(
        ResourceMetadata,
        |_| edit(|it| it["resource"] = json!("https://other.example/mcp")),
        FAILED,
    );
}

#[test]
fn issuers_at_unsafe_addresses_are_not_contacted() {
    for issuer in [
        "http://10.0.0.1/",
        "http://192.168.1.1",
        "http://169.254.169.254/latest",
        "http://issuer.example",
        "https://user:pass@issuer.example",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "not an address",
    ] {
        let world = SignInWorld::new();
        let lie = edit(move |it| it["authorization_servers"] = json!([issuer]));
        world.server.misbehave(ResourceMetadata, lie);
        refused(&world, "", "error: ");
    }
}

#[test]
fn an_issuer_that_says_to_be_another_is_refused() {
    check(ServerMetadata, |_| edit(|it| it["issuer"] = json!("https://other.example")), FAILED);
}

#[test]
fn an_issuer_without_pkce_is_refused() {
    let none = |_: &OAuthServer| {
        edit(|it| drop(it.as_object_mut().unwrap().remove("code_challenge_methods_supported")))
    };
    check(ServerMetadata, none, "PKCE");
    let plain =
        |_: &OAuthServer| edit(|it| it["code_challenge_methods_supported"] = json!(["plain"]));
    check(ServerMetadata, plain, "PKCE");
}

#[test]
fn unsafe_pages_and_endpoints_are_refused() {
    let cases: [How; 5] = [
        |_| edit(|it| it["authorization_endpoint"] = json!("javascript:alert(1)")),
        |_| edit(|it| it["authorization_endpoint"] = json!("http://issuer.example/authorize")),
        |_| edit(|it| it["token_endpoint"] = json!("http://issuer.example/token")),
        |_| edit(|it| it["registration_endpoint"] = json!("file:///tmp/x")),
        |_| edit(|it| it["authorization_endpoint"] = json!(17)),
    ];
    for how in cases {
        check(ServerMetadata, how, FAILED);
    }
}

#[test]
fn metadata_that_is_too_large_never_ends_or_redirects_is_refused() {
    for endpoint in [ResourceMetadata, ServerMetadata] {
        for how in [
            (|_| Misbehavior::Huge(10 << 20)) as How,
            |_| Misbehavior::RedirectLoop,
            |server| Misbehavior::Redirect(format!("{}/metadata", server.other_origin())),
            |_| Misbehavior::Answer(200, "text/html", "<html>".to_owned()),
            |_| Misbehavior::Answer(200, "application/json", "[".repeat(100_000)),
            |_| Misbehavior::Abort,
        ] {
            check(endpoint, how, "error: ");
        }
    }
}

#[test]
fn an_issuer_that_never_answers_ends_the_sign_in() {
    check(ServerMetadata, |_| Misbehavior::Silent, "error: ");
    check(Token, |_| Misbehavior::Endless, "error: ");
}

#[test]
fn a_callback_with_a_wrong_issuer_or_an_error_is_refused() {
    check(Authorize, |_| edit(|it| it["iss"] = json!("https://other.example")), FAILED);
    let no_issuer = |_: &OAuthServer| edit(|it| drop(it.as_object_mut().unwrap().remove("iss")));
    check(Authorize, no_issuer, FAILED);
    let denied = |_: &OAuthServer| {
        edit(|it| {
            it.as_object_mut().unwrap().remove("code");
            it["error"] = json!("access_denied");
            it["error_description"] = json!("no\u{1b}[2J thanks");
        })
    };
    check(Authorize, denied, "access_denied");
}

#[test]
fn callbacks_from_elsewhere_do_not_end_the_sign_in() {
    let world = SignInWorld::new();
    let login = world.start("login web");
    let page = world.opened();
    let AuthorizationRedirect(callback) = AuthorizationRedirect::of(&page).unwrap();
    let state = AuthorizationRedirect(callback.clone()).parameter("state").unwrap();
    let origin = &callback[..callback.find("/callback").unwrap_or(callback.len())];
    for wrong in [
        callback.replace(&state, "another"),
        callback.split('?').next().unwrap().to_owned(),
        format!("{origin}/favicon.ico"),
        format!("{origin}/"),
    ] {
        // Whatever the answer is, the sign-in goes on.
        drop(visit(&wrong));
    }
    assert!(visit(&callback).unwrap().starts_with("HTTP/1.1 200"));
    let rendered = world.render(&login.wait_with_output().unwrap());
    assert!(rendered.starts_with("exit 0"), "{rendered}");
    // The second callback comes too late.
    assert!(visit(&callback).is_err() || world.server.token_requests("authorization_code") == 1);
    assert_eq!(world.server.token_requests("authorization_code"), 1);
}

#[test]
fn token_responses_that_are_no_tokens_are_refused() {
    let cases: [How; 8] = [
        |_| Misbehavior::json(200, &json!({ "error": "invalid_grant", "error_description": "x" })),
        |_| Misbehavior::json(400, &json!({ "error": "invalid_grant" })),
        |_| Misbehavior::json(500, &json!({})),
        |_| Misbehavior::Answer(200, "text/html", "<html>".to_owned()),
        |_| Misbehavior::Huge(10 << 20),
        |_| Misbehavior::Abort,
        |_| edit(|it| it["token_type"] = json!("mac")),
        |_| edit(|it| it["access_token"] = json!("a\r\nx-evil: 1")),
    ];
    for how in cases {
        check(Token, how, FAILED);
    }
}

#[test]
fn codes_and_secrets_are_not_sent_along_a_redirect() {
    for endpoint in [Token, Register] {
        check(
            endpoint,
            |server| Misbehavior::Redirect(format!("{}/token", server.other_origin())),
            FAILED,
        );
    }
}

#[test]
fn odd_but_usable_token_responses_are_accepted() {
    let cases: [How; 6] = [
        |_| edit(|it| drop(it.as_object_mut().unwrap().remove("expires_in"))),
        |_| edit(|it| it["expires_in"] = json!("3600")),
        |_| edit(|it| it["expires_in"] = json!(u64::MAX)),
        |_| edit(|it| it["expires_in"] = json!(-5)),
        |_| edit(|it| it["expires_in"] = json!(1e300)),
        |_| edit(|it| it["scope"] = json!("lesen schreiben-über")),
    ];
    for how in cases {
        let world = SignInWorld::new();
        world.server.misbehave(Token, how(&world.server));
        let rendered = world.render(&sign_in(&world, ""));
        assert!(rendered.starts_with("exit 0"), "{rendered}");
        for line in ["status", "list", "credentials list --json", "doctor --offline -v"] {
            let looked = world.run(line);
            assert!(!looked.starts_with("exit 101"), "{line}: {looked}");
        }
    }
}

#[test]
fn a_challenge_with_other_letters_is_no_trouble() {
    let world = SignInWorld::new();
    world.server.misbehave(Mcp, edit(|it| it["scope"] = json!("über größe")));
    let rendered = world.render(&sign_in(&world, ""));
    assert!(rendered.starts_with("exit 0") || rendered.starts_with("exit 4"), "{rendered}");
}

#[test]
fn a_device_code_that_lies_is_refused() {
    let cases: [How; 3] = [
        |_| edit(|it| it["verification_uri"] = json!("javascript:alert(1)")),
        |_| edit(|it| drop(it.as_object_mut().unwrap().remove("device_code"))),
        |_| Misbehavior::json(400, &json!({ "error": "unauthorized_client" })),
    ];
    for how in cases {
        let world = SignInWorld::new();
        world.server.misbehave(Device, how(&world.server));
        refused(&world, "--device", FAILED);
    }
}

#[test]
fn a_failed_sign_in_keeps_the_old_credential() {
    let world = SignInWorld::new();
    assert!(world.sign_in("").status.success());
    world.server.misbehave(Token, Misbehavior::json(400, &json!({ "error": "invalid_grant" })));
    refused(&world, "", FAILED);
    assert!(world.run("test web").starts_with("exit 0"));
}

#[test]
fn a_renewal_that_fails_for_a_while_loses_nothing() {
    for how in [
        Misbehavior::json(503, &json!({})),
        Misbehavior::Abort,
        Misbehavior::json(429, &json!({ "error": "slow_down" })),
    ] {
        let world = SignInWorld::new();
        assert!(world.sign_in("").status.success());
        let before = world.stored();
        world.server.expire_access_tokens();
        world.server.misbehave(Token, how);
        assert!(!world.run("test web").starts_with("exit 0"));
        assert_eq!(world.stored(), before);
        world.server.behave();
        assert!(world.run("test web").starts_with("exit 0"));
    }
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let fields = format!(r#", "oauth": {{ "callbackPort": {port} }}"#);
    let world = SignInWorld::with(OAuthServerOptions::default(), &fields);
    refused(&world, "", &format!("port {port} for the callback cannot be used"));
}

#[test]
fn a_browser_that_does_not_exist_does_not_end_the_sign_in() {
    let world = SignInWorld::new();
    std::fs::remove_file(world.world.path("bin/browser")).unwrap();
    let rendered = world.run("login web --timeout 300ms");
    assert!(rendered.starts_with("exit 5"), "{rendered}");
    assert!(rendered.contains("open this page yourself"), "{rendered}");
}

#[test]
fn a_store_that_cannot_be_written_is_an_error_and_keeps_the_old_credential() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = SignInWorld::new();
    assert!(world.sign_in("").status.success());
    let before = world.stored();
    // A folder in the place of the file that is written first does what a full disk does.
    let home = world.world.path("home/.wharf");
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o500)).unwrap();
    let is_root = std::fs::File::create(home.join("probe")).is_ok();
    if !is_root {
        let rendered = world.render(&sign_in(&world, ""));
        assert!(rendered.starts_with("exit 1"), "{rendered}");
        assert_eq!(world.stored(), before);
    }
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).unwrap();
}
