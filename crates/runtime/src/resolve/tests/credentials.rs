//! Tests that a stored credential is used only for its own address and account.

use std::sync::Arc;

use wharf_config::{Credentials, Secret};

use super::World;
use crate::credentials::{CredentialQuery, CredentialStore, CredentialStoreError, FileCredentials};

const AUTH: &str = r#""auth": { "type": "bearer", "credentialId": "c" }"#;
const SENT: &str = "authorization: Bearer stored-token";

#[tokio::test]
async fn a_credential_is_sent_to_its_own_address_only() {
    let check = async |resource: &str, url: &str, expected: &str| {
        let world = World::new()
            .with_project(&format!(r#""url": "{url}", {AUTH}"#))
            .with_credential(resource, None);
        assert_eq!(world.show_headers().await, expected, "{url}");
    };
    check("https://a.example/mcp", "https://a.example/mcp", SENT).await;
    check("https://A.example:443/mcp", "https://u:p@a.example/mcp", SENT).await;
    let other = "stored credential left out: it is bound to https://a.example/mcp?•••";
    for url in ["https://evil.example/mcp", "http://a.example/mcp?k=1", "https://a.example/mcp"] {
        check("https://a.example/mcp?k=1", url, other).await;
    }
}

#[tokio::test]
async fn a_credential_is_used_for_its_own_account_only() {
    let check = async |own: Option<&str>, wanted: &str, expected: &str| {
        let world = World::new()
            .with_own(&format!(r#""url": "https://a.example", {AUTH} {wanted}"#))
            .with_credential("https://a.example", own);
        assert_eq!(world.show_headers().await, expected);
    };
    check(Some("me"), "", SENT).await;
    check(Some("me"), r#", "account": "me""#, SENT).await;
    let other = "stored credential left out: it is for another account";
    check(Some("you"), r#", "account": "me""#, other).await;
    check(None, r#", "account": "me""#, other).await;
}

#[tokio::test]
async fn a_missing_credential_is_a_warning_even_for_a_strict_entry() {
    let fields = format!(r#""strict": true, "url": "https://a.example", {AUTH}"#);
    let world = World::new().with_own(&fields);
    let expected = "stored credential left out: it is not in the store";
    assert_eq!(world.show_headers().await, expected);
    *world.store.0.lock().unwrap() = Err(CredentialStoreError::new("it is locked"));
    let expected = "stored credential left out: the store cannot be read: it is locked";
    assert_eq!(world.show_headers().await, expected);
}

#[tokio::test]
async fn an_entry_that_names_no_credential_gets_one_for_its_address_silently() {
    let world = World::new().with_own(r#""url": "https://a.example""#);
    assert_eq!(world.show_headers().await, "");
    let world = world.with_credential("https://a.example", None);
    assert_eq!(world.show_headers().await, SENT);
}

#[tokio::test]
async fn a_value_of_the_entry_beats_the_stored_credential() {
    let fields =
        format!(r#""url": "https://a.example", {AUTH}, "headers": {{ "authorization": "own" }}"#);
    let world = World::new().with_own(&fields).with_credential("https://a.example", None);
    assert_eq!(
        world.show_headers().await,
        "authorization: own\nstored credential left out: the entry has its own header \
         \"authorization\""
    );
    let fields =
        format!(r#""command": "server", {AUTH}, "env": {{ "OAUTH_ACCESS_TOKEN": "own" }}"#);
    let world = World::new().with_own(&fields).with_credential("https://a.example", None);
    let rendered = world.show_launch(&["OAUTH_ACCESS_TOKEN"]).await;
    let expected = "OAUTH_ACCESS_TOKEN=own\nstored credential left out: the entry has its own \
                    env \"OAUTH_ACCESS_TOKEN\"";
    assert!(rendered.ends_with(expected), "{rendered}");
}

#[tokio::test]
async fn a_program_gets_its_token_in_a_variable_unless_a_project_defines_it() {
    let fields = format!(r#""command": "server", {AUTH}"#);
    let world = World::new().with_own(&fields).with_credential("https://a.example", None);
    let rendered = world.show_launch(&["OAUTH_ACCESS_TOKEN"]).await;
    assert!(rendered.ends_with("OAUTH_ACCESS_TOKEN=stored-token"), "{rendered}");
    let world = World::new().with_project(&fields).with_credential("https://a.example", None);
    let rendered = world.show_launch(&["OAUTH_ACCESS_TOKEN"]).await;
    let expected = "OAUTH_ACCESS_TOKEN=(not set)\n\
                    stored credential left out: local programs defined by a project cannot use stored credentials";
    assert!(rendered.ends_with(expected), "{rendered}");
    let world =
        World::new().with_own(r#""command": "server""#).with_credential("https://a.example", None);
    let rendered = world.show_launch(&["OAUTH_ACCESS_TOKEN"]).await;
    assert!(rendered.ends_with("OAUTH_ACCESS_TOKEN=(not set)"), "{rendered}");
}

#[test]
fn the_file_is_read_anew_each_time() {
    let world = World::new();
    let store = FileCredentials::new(Arc::new(world.env.clone()));
    let wanted = |id| CredentialQuery::new(id, None, None);
    assert_eq!(store.find(&wanted(Some("c"))), Ok(None));
    let mut file = Credentials::load(&world.env).unwrap();
    let id = file.add_bearer("https://a.example", &Secret::new("hunter2")).unwrap();
    file.save().unwrap();
    let found = store.find(&wanted(Some(&id))).unwrap().unwrap().credential;
    assert_eq!((found.resource.as_str(), found.token.expose()), ("https://a.example", "hunter2"));
    assert_eq!(store.find(&wanted(None)), Ok(None));
    world.write("home/.wharf/credentials.json", "{ hunter2");
    let error = store.find(&wanted(Some(&id))).unwrap_err().to_string();
    assert!(error.ends_with("credentials.json is malformed (line 1)"), "{error}");
}
