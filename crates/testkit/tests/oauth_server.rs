//! Tests that the authorization server for tests does its duty, and misbehaves only where told,
//! with raw requests.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use url::form_urlencoded::Serializer;
use wharf_testkit::oauth::{
    AuthorizationRedirect, Misbehavior, OAuthEndpoint, OAuthParty, OAuthServer, OAuthServerOptions,
    RegisteredClient, visit,
};

/// The verifier and challenge of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:9/callback";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Sends a request; returns the status, the head and the body.
fn send(address: &str, headers: &str, body: &str) -> (u16, String, String) {
    let rest = address.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let verb = if body.is_empty() { "GET" } else { "POST" };
    let length = body.len();
    write!(
        stream,
        "{verb} /{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), body.to_owned())
}

fn form(address: &str, fields: &[(&str, &str)]) -> (u16, Value) {
    let body = Serializer::new(String::new()).extend_pairs(fields).finish();
    let kind = "content-type: application/x-www-form-urlencoded\r\n";
    let (status, _, body) = send(address, kind, &body);
    (status, serde_json::from_str(&body).unwrap())
}

fn initialize(server: &OAuthServer, token: Option<&str>) -> (u16, String) {
    let authorization = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    let headers = format!(
        "content-type: application/json\r\naccept: application/json, text/event-stream\r\n{}",
        authorization.unwrap_or_default()
    );
    let (status, head, _) = send(&server.url(), &headers, INITIALIZE);
    (status, head)
}

fn authorize_address(server: &OAuthServer, client: &str, scope: &str) -> String {
    let resource = server.url();
    let query = Serializer::new(String::new())
        .extend_pairs([
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "abc"),
            ("scope", scope),
            ("resource", resource.as_str()),
        ])
        .finish();
    format!("{}/authorize?{query}", server.issuer())
}

/// Signs in; returns the token response.
fn sign_in(server: &OAuthServer, client: &str, scope: &str, verifier: &str) -> (u16, Value) {
    let redirect = AuthorizationRedirect::of(&authorize_address(server, client, scope)).unwrap();
    assert_eq!(redirect.parameter("state").as_deref(), Some("abc"));
    assert_eq!(redirect.parameter("iss"), Some(server.issuer()));
    let code = redirect.parameter("code").unwrap();
    redeem(server, client, &code, verifier)
}

fn redeem(server: &OAuthServer, client: &str, code: &str, verifier: &str) -> (u16, Value) {
    form(
        &format!("{}/token", server.issuer()),
        &[
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", REDIRECT),
            ("resource", &server.url()),
        ],
    )
}

fn refresh(server: &OAuthServer, client: &str, token: &Value) -> (u16, Value) {
    let token = token.as_str().unwrap();
    let fields = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    form(&format!("{}/token", server.issuer()), &fields)
}

fn with_client() -> OAuthServer {
    OAuthServer::start(OAuthServerOptions {
        clients: vec![
            RegisteredClient::public("app"),
            RegisteredClient::confidential("robot", "robot-key"),
        ],
        ..OAuthServerOptions::default()
    })
    .unwrap()
}

#[test]
fn the_challenge_leads_to_the_metadata_and_to_a_registration() {
    let server = OAuthServer::start(OAuthServerOptions::default()).unwrap();
    let (status, head) = initialize(&server, None);
    assert_eq!(status, 401);
    let address = head.split("resource_metadata=\"").nth(1).unwrap().split('"').next().unwrap();
    let resource: Value = serde_json::from_str(&send(address, "", "").2).unwrap();
    assert_eq!(resource["resource"], server.url());
    let issuer = resource["authorization_servers"][0].as_str().unwrap();
    let metadata = send(&format!("{issuer}/.well-known/oauth-authorization-server"), "", "").2;
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    assert_eq!(metadata["issuer"], issuer);
    let wanted = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
    let register = metadata["registration_endpoint"].as_str().unwrap();
    let kind = "content-type: application/json\r\n";
    let (status, _, client) = send(register, kind, &wanted.to_string());
    let client: Value = serde_json::from_str(&client).unwrap();
    assert_eq!((status, &client["client_secret"]), (201, &Value::Null));
    let id = client["client_id"].as_str().unwrap();
    assert_eq!(sign_in(&server, id, "", VERIFIER).0, 200);
}

#[test]
fn only_a_valid_token_opens_the_server() {
    let server = with_client();
    let (status, tokens) = sign_in(&server, "app", "", VERIFIER);
    assert_eq!(status, 200);
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(initialize(&server, Some(access)).0, 200);
    assert_eq!(initialize(&server, Some("other")).0, 401);
    server.expire_access_tokens();
    let (status, head) = initialize(&server, Some(access));
    assert!(status == 401 && head.contains("error=\"invalid_token\""), "{head}");
}

#[test]
fn a_code_needs_its_verifier_and_is_used_once() {
    let server = with_client();
    let (status, error) = sign_in(&server, "app", "", "another-verifier");
    assert_eq!((status, error), (400, json!({ "error": "invalid_grant" })));
    let address = authorize_address(&server, "app", "");
    let code = AuthorizationRedirect::of(&address).unwrap().parameter("code").unwrap();
    assert_eq!(redeem(&server, "app", &code, VERIFIER).0, 200);
    assert_eq!(redeem(&server, "app", &code, VERIFIER).0, 400);
}

#[test]
fn using_a_refresh_token_twice_revokes_the_grant() {
    let server = with_client();
    let first = sign_in(&server, "app", "", VERIFIER).1;
    let (status, second) = refresh(&server, "app", &first["refresh_token"]);
    assert_eq!(status, 200);
    assert_eq!(initialize(&server, second["access_token"].as_str()).0, 200);
    assert_eq!(refresh(&server, "app", &first["refresh_token"]).0, 400);
    assert_eq!(refresh(&server, "app", &second["refresh_token"]).0, 400);
    assert_eq!(initialize(&server, second["access_token"].as_str()).0, 401);
    assert_eq!((server.active_grants(), server.token_requests("refresh_token")), (0, 3));
}

#[test]
fn a_device_waits_until_the_person_has_confirmed() {
    let server = with_client();
    let (_, device) = form(&format!("{}/device", server.issuer()), &[("client_id", "app")]);
    let poll = || {
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "app"),
            ("device_code", device["device_code"].as_str().unwrap()),
        ];
        form(&format!("{}/token", server.issuer()), &fields)
    };
    assert_eq!(poll(), (400, json!({ "error": "authorization_pending" })));
    let (status, tokens) = poll();
    assert_eq!((status, initialize(&server, tokens["access_token"].as_str()).0), (200, 200));
}

#[test]
fn a_client_with_a_secret_gets_a_token_for_itself() {
    let server = with_client();
    let token = format!("{}/token", server.issuer());
    let fields = |secret| {
        [("grant_type", "client_credentials"), ("client_id", "robot"), ("client_secret", secret)]
    };
    assert_eq!(form(&token, &fields("wrong")).0, 401);
    let (status, tokens) = form(&token, &fields("robot-key"));
    assert_eq!((status, &tokens["refresh_token"]), (200, &Value::Null));
    // The same in a header.
    let basic = "authorization: Basic cm9ib3Q6cm9ib3Qta2V5\r\n\
                 content-type: application/x-www-form-urlencoded\r\n";
    assert_eq!(send(&token, basic, "grant_type=client_credentials").0, 200);
}

#[test]
fn an_exchanged_assertion_is_accepted() {
    let server = with_client();
    let token = format!("{}/token", server.issuer());
    let exchange = ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
    let (_, exchanged) = form(&token, &[exchange, ("client_id", "app"), ("subject_token", "id")]);
    let assertion = exchanged["access_token"].as_str().unwrap();
    let bearer = ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let grant = |assertion| form(&token, &[bearer, ("client_id", "app"), ("assertion", assertion)]);
    assert_eq!((grant(assertion).0, grant("made up").0), (200, 400));
}

#[test]
fn a_tool_may_need_a_scope_of_its_own() {
    let server = OAuthServer::start(OAuthServerOptions {
        clients: vec![RegisteredClient::public("app")],
        required_scope: Some("read".to_owned()),
        tool_scopes: vec![("echo".to_owned(), "write".to_owned())],
        ..OAuthServerOptions::default()
    })
    .unwrap();
    let call = |token: &str| {
        let headers = format!(
            "content-type: application/json\r\nauthorization: Bearer {token}\r\n\
             accept: application/json, text/event-stream\r\n"
        );
        let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#;
        send(&server.url(), &headers, body)
    };
    let narrow = sign_in(&server, "app", "read", VERIFIER).1;
    let (status, head, _) = call(narrow["access_token"].as_str().unwrap());
    assert!(status == 403 && head.contains("scope=\"read write\""), "{head}");
    let wide = sign_in(&server, "app", "read write", VERIFIER).1;
    assert_ne!(call(wide["access_token"].as_str().unwrap()).0, 403);
}

#[test]
fn an_endpoint_misbehaves_only_as_often_as_told() {
    let server = with_client();
    server.misbehave_times(
        OAuthEndpoint::Token,
        1,
        Misbehavior::edit(|answer| answer["expires_in"] = json!(-1)),
    );
    assert_eq!(sign_in(&server, "app", "", VERIFIER).1["expires_in"], -1);
    assert_eq!(sign_in(&server, "app", "", VERIFIER).1["expires_in"], 3600);
    server.misbehave(OAuthEndpoint::ServerMetadata, Misbehavior::RedirectLoop);
    let metadata = format!("{}/.well-known/openid-configuration", server.issuer());
    assert!(send(&metadata, "", "").1.contains("location: /.well-known"));
    server.behave();
    assert_eq!(send(&metadata, "", "").0, 200);
}

#[test]
fn requests_and_secrets_are_recorded() {
    let server = with_client();
    let tokens = sign_in(&server, "app", "", VERIFIER).1;
    let secrets = server.secrets();
    for secret in [VERIFIER, tokens["access_token"].as_str().unwrap()] {
        assert!(secrets.iter().any(|known| known == secret), "{secrets:?}");
    }
    let other = format!("{}/token", server.other_origin());
    assert_eq!(send(&other, "", "x").0, 404);
    let at_other: Vec<_> = server.requests();
    let at_other = at_other.iter().filter(|request| request.party == OAuthParty::OtherOrigin);
    assert_eq!((at_other.count(), server.requests_to("/authorize")), (1, 1));
}

#[test]
fn a_browser_follows_the_redirect() {
    let server = with_client();
    // The callback of this test is another page of the authorization server.
    let address = authorize_address(&server, "app", "")
        .replace("127.0.0.1%3A9%2F", &format!("127.0.0.1%3A{}%2F", port(&server.issuer())));
    assert!(visit(&address).unwrap().starts_with("HTTP/1.1 404"));
    assert_eq!(server.requests_to("/callback"), 1);
}

fn port(origin: &str) -> &str {
    origin.rsplit(':').next().unwrap()
}
