//! Reads, writes and selects credentials, and checks that no output shows a token.

use super::*;

fn signed_in() -> Credential {
    let mut client = OAuthClient::new("client-1", ClientOrigin::Registered);
    client.secret = Some(Secret::new("hunter4"));
    client.registration_token = Some(Secret::new("hunter5"));
    client.secret_expires_at = Some(9);
    let mut grant = OAuthGrant::new(GrantKind::AuthorizationCode, "https://as.example/t", client);
    grant.token_type = TokenType::Dpop;
    grant.expires_at = Some(1_800_000_000);
    grant.refresh_token = Some(Secret::new("hunter6"));
    grant.dpop_key = Some(Secret::new("hunter7"));
    grant.scopes = vec!["a".to_owned(), "b".to_owned()];
    let token = Secret::new("hunter3");
    let mut credential = Credential::oauth("https://a.example/mcp", token, grant);
    credential.issuer = Some("https://as.example".to_owned());
    credential.with_account(Some("work".to_owned()))
}

#[test]
fn the_debug_output_of_a_credential_has_no_secret() {
    for resource in ["https://a.example/mcp?key=hunter1", "tool --token hunter1"] {
        let mut credential = signed_in();
        credential.resource = resource.to_owned();
        credential.issuer = Some("https://issuer.example/?key=hunter2".to_owned());
        let summary = CredentialSummary::of("id", &credential);
        let rendered = format!("{credential:?} {summary:?}");
        assert!(!rendered.contains("hunter") && rendered.contains("resource"), "{rendered}");
    }
    let fields = crate::EntryFields {
        headers_helper: Some(Secret::new("print hunter4")),
        ..crate::EntryFields::default()
    };
    assert!(!format!("{fields:?}").contains("hunter"));
}

#[test]
fn a_credential_is_read_as_it_was_written() {
    let credential = signed_in();
    assert_eq!(Credential::from_json(&credential.to_json()).unwrap(), credential);
    let fixed = Credential::bearer("https://a.example/", Secret::new("t"));
    assert_eq!(Credential::from_json(&fixed.to_json()).unwrap(), fixed);
}

#[test]
fn unknown_fields_of_a_credential_are_kept_at_every_level() {
    let text = signed_in().to_json();
    let mut fields: Value = serde_json::from_str(text.expose()).unwrap();
    fields["later"] = Value::from(1);
    fields["oauth"]["later"] = Value::from(2);
    fields["oauth"]["client"]["later"] = Value::from(3);
    let read = Credential::from_json(&Secret::new(fields.to_string())).unwrap();
    let written: Value = serde_json::from_str(read.to_json().expose()).unwrap();
    assert_eq!(written, fields);
}

#[test]
fn a_text_that_is_not_a_credential_is_an_error() {
    for text in ["", "[]", "{}", r#"{"resource":1,"token":"t"}"#, r#"{"resource":"r"}"#] {
        assert!(Credential::from_json(&Secret::new(text)).is_err(), "{text}");
    }
    let grant = r#"{"resource":"r","token":"t","oauth":{"grant":"other","tokenEndpoint":"e"}}"#;
    assert!(Credential::from_json(&Secret::new(grant)).is_err());
}

#[test]
#[cfg(feature = "http")]
fn the_account_decides_between_credentials_of_one_server() {
    let named = |id: &'static str, account: Option<&str>| {
        let credential = Credential::bearer("https://a.example/mcp", Secret::new("t"));
        (id, credential.with_account(account.map(str::to_owned)))
    };
    let check = |stored: Vec<(&'static str, Credential)>, account, expected: Option<&str>| {
        let found = select_credential(stored, "https://a.example/mcp", account);
        assert_eq!(found.map(|(id, _)| id), expected, "{account:?}");
    };
    let both = || vec![named("w", Some("work")), named("h", Some("home"))];
    check(both(), Some("home"), Some("h"));
    check(both(), Some("other"), None);
    check(both(), None, None);
    check([both(), vec![named("d", None)]].concat(), None, Some("d"));
    check(vec![named("w", Some("work"))], None, Some("w"));
    let elsewhere = ("e", Credential::bearer("https://b.example/mcp", Secret::new("t")));
    check(vec![elsewhere], None, None);
}

#[test]
fn the_reference_of_a_sign_in_depends_on_server_and_account() {
    let id = credential_id("https://a.example/", None);
    assert_eq!(id.len(), 32);
    assert_eq!(id, credential_id("https://a.example/", None));
    assert_ne!(id, credential_id("https://a.example/", Some("work")));
    assert_ne!(id, credential_id("https://b.example/", None));
}
