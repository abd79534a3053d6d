//! Tests of headers: which are sent, and how they are renewed after a 401.

use http::StatusCode;
use insta::assert_snapshot;
use wharf_config::Secret;
use wharf_protocol::HttpTransport;
use wharf_protocol::transport::{Authorizer, Challenge, ChallengeAction};

use super::super::ResolvedTransport;
use super::World;
use super::world::{http_of, sent, show};
use crate::credentials::CredentialStoreError;

#[tokio::test]
async fn invalid_headers_are_omitted_and_the_others_sent() {
    let world = World::new().with_variable("KEY", "from variable").with_own(
        r#""url": "https://a.example/mcp", "headers": {
            "X-Key": "KEY", "X-Command": "!echo printed", "X-Gone": "!exit 1",
            "bad name": "!echo ran > ran", "Mcp-Session-Id": "!echo ran > ran", "Host": "b.example",
            "X-Lines": "!printf 'a\\nb'", "X-Unset": "${NOT_SET}" }"#,
    );
    assert_snapshot!(world.show_headers().await, @r#"
    x-key: from variable
    x-command: printed
    x-unset: ${NOT_SET}
    header "bad name" left out: not a valid header name
    header "Mcp-Session-Id" left out: Wharf sets it itself
    header "Host" left out: Wharf sets it itself
    header "X-Gone" left out: command exited 1
    header "X-Lines" left out: its value has characters that cannot be sent
    "#);
    assert!(!world.root.join("home/ran").exists());
}

#[tokio::test]
async fn a_strict_entry_may_not_set_reserved_headers() {
    let fields = r#""strict": true, "url": "https://a.example", "headers": { "Host": "b" }"#;
    assert_eq!(
        World::new().with_own(fields).show_headers().await,
        "header \"Host\" left out: Wharf sets it itself"
    );
    let fields = r#""strict": true, "url": "https://a.example", "headers": { "X": "a\nb" }"#;
    let error = World::new().with_own(fields).resolve().await.unwrap_err();
    let expected = "header \"X\" cannot be resolved: its value has characters that cannot be sent";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn the_type_of_an_entry_says_which_transport_is_tried_first() {
    let check = async |kind: &str, expected: HttpTransport| {
        let fields = format!(r#""type": "{kind}", "url": " https://u:p@a.example/x?k=1 ""#);
        let resolved = World::new().with_own(&fields).resolve().await.unwrap();
        let ResolvedTransport::Http { target, http_transport, .. } = resolved.transport else {
            panic!()
        };
        assert_eq!(
            (target.to_string().as_str(), http_transport),
            ("https://a.example/x", expected)
        );
    };
    check("http", HttpTransport::Auto).await;
    check("sse", HttpTransport::PreferSse).await;
}

#[tokio::test]
async fn an_address_with_a_placeholder_that_is_not_set_is_not_contacted() {
    let world = World::new().with_own(r#""url": "https://u:hunter2@${UNSET_HOST}/mcp""#);
    let error = world.resolve().await.unwrap_err();
    let expected = "a placeholder in \"url\" has no value: https://•••@${UNSET_HOST}/mcp";
    assert_eq!(error.to_string(), expected);
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

async fn challenge(
    authorizer: &dyn Authorizer,
    status: u16,
    previous_challenges: usize,
) -> ChallengeAction {
    let status = StatusCode::from_u16(status).unwrap();
    let generation = authorizer.generation();
    authorizer
        .on_challenge(Challenge {
            status,
            www_authenticate: Vec::new(),
            nonce: None,
            previous_challenges,
            generation,
        })
        .await
}

#[tokio::test]
async fn after_a_401_commands_run_again_once() {
    let world = World::new().with_own(
        r#""url": "https://a.example", "headers": { "A": "1",
            "B": "!echo run >> runs; wc -l < runs | tr -d ' '" }"#,
    );
    let authorizer = world.authorizer().await;
    assert_eq!(show(&sent(&*authorizer).await), ["a: 1", "b: 1"]);
    assert_eq!(challenge(&*authorizer, 403, 0).await, ChallengeAction::GiveUp);
    assert_eq!(challenge(&*authorizer, 401, 1).await, ChallengeAction::GiveUp);
    assert_eq!(show(&sent(&*authorizer).await), ["a: 1", "b: 1"]);
    let before = authorizer.generation();
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::Retry);
    assert_eq!(show(&sent(&*authorizer).await), ["a: 1", "b: 2"]);
    // A second request with the old header: it was renewed meanwhile.
    let (status, www_authenticate) = (StatusCode::UNAUTHORIZED, Vec::new());
    let late = Challenge {
        status,
        www_authenticate,
        nonce: None,
        previous_challenges: 0,
        generation: before,
    };
    assert_eq!(authorizer.on_challenge(late).await, ChallengeAction::Retry);
    assert_eq!(show(&sent(&*authorizer).await), ["a: 1", "b: 2"]);
}

#[tokio::test]
async fn after_a_401_an_unchanged_value_is_not_sent_again() {
    let fields = r#""url": "https://a.example", "headers": { "A": "!echo value" }"#;
    let authorizer = World::new().with_own(fields).authorizer().await;
    assert_eq!(show(&sent(&*authorizer).await), ["a: value"]);
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::GiveUp);
}

#[tokio::test]
async fn after_a_401_an_omitted_header_is_resolved_again() {
    let world = World::new().with_own(
        r#""url": "https://a.example", "headers": { "A": "!test -e ready && echo value" }"#,
    );
    let authorizer = world.authorizer().await;
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::GiveUp);
    world.write("home/ready", "");
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::Retry);
    assert_eq!(show(&sent(&*authorizer).await), ["a: value"]);
}

#[tokio::test]
async fn a_renewal_that_fails_keeps_the_header() {
    let world = World::new().with_own(
        r#""url": "https://a.example", "headers": { "A": "!test ! -e gone && echo value" }"#,
    );
    let authorizer = world.authorizer().await;
    world.write("home/gone", "");
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::GiveUp);
    assert_eq!(show(&sent(&*authorizer).await), ["a: value"]);
}

#[tokio::test]
async fn fixed_headers_are_not_renewed_after_a_401() {
    let fields = r#""url": "https://a.example", "headers": { "Authorization": "Bearer x" }"#;
    let authorizer = World::new().with_own(fields).authorizer().await;
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::GiveUp);
}

#[tokio::test]
async fn after_a_401_a_newly_stored_token_is_used() {
    let fields = r#""url": "https://a.example", "auth": { "type": "bearer", "credentialId": "c" }"#;
    let world = World::new().with_own(fields).with_credential("https://a.example", None);
    let authorizer = world.authorizer().await;
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::GiveUp);
    if let Ok(Some(credential)) = &mut *world.store.0.lock().unwrap() {
        credential.credential.token = Secret::new("newer");
    }
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::Retry);
    assert_eq!(show(&sent(&*authorizer).await), ["authorization: Bearer newer"]);
    *world.store.0.lock().unwrap() = Err(CredentialStoreError::new("locked"));
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::GiveUp);
    assert_eq!(show(&sent(&*authorizer).await), ["authorization: Bearer newer"]);
}

#[tokio::test]
async fn secrets_in_headers_are_collected_again_only_when_the_headers_change() {
    let world = World::new()
        .with_own(r#""url": "https://a.example", "headers": { "A": "!pwd", "B": "!cat token" }"#);
    world.write("home/token", "tiger-4711");
    let resolved = world.resolve().await.unwrap();
    let secrets = resolved.secrets.clone();
    let (_, authorizer) = http_of(resolved);
    let place = show(&sent(&*authorizer).await)[0].trim_start_matches("a: ").to_owned();
    let text = format!("{place} tiger-4711 tiger-4712");
    assert_eq!(secrets.redact(&text), format!("{place} ••• tiger-4712"));
    // If the secrets were collected again, the missing folder would be redacted.
    std::fs::rename(&place, format!("{place}-gone")).unwrap();
    sent(&*authorizer).await;
    assert_eq!(secrets.redact(&text), format!("{place} ••• tiger-4712"));
    std::fs::rename(format!("{place}-gone"), &place).unwrap();
    world.write("home/token", "tiger-4712");
    assert_eq!(challenge(&*authorizer, 401, 0).await, ChallengeAction::Retry);
    assert_eq!(secrets.redact(&text), format!("{place} ••• •••"));
}
