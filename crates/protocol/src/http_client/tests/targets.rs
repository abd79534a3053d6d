//! Parsing and formatting of addresses.

use super::super::{HttpTarget, HttpTargetError};

fn check(address: &str, expected: &str) {
    let target: HttpTarget = address.parse().unwrap();
    assert_eq!(target.to_string(), expected);
    assert_eq!(format!("{target:?}"), format!("Target({expected})"));
}

#[test]
fn display_shows_scheme_host_port_and_path() {
    check("http://example.com", "http://example.com/");
    check("https://example.com:443/mcp", "https://example.com/mcp");
    check("http://[::1]:8080/mcp", "http://[::1]:8080/mcp");
    check("unix:///run/a b.sock#/mcp", "unix:///run/a b.sock#/mcp");
    check("unix:///run/a.sock", "unix:///run/a.sock#/");
    check("unix:/run/a.sock#mcp", "unix:///run/a.sock#/mcp");
}

#[test]
fn display_omits_secrets() {
    check("https://me:secret@example.com/mcp?key=secret#secret", "https://example.com/mcp");
    check("unix:///run/a.sock#/mcp?key=secret", "unix:///run/a.sock#/mcp");
    let error = "ftp://me:secret@example.com".parse::<HttpTarget>().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[test]
fn invalid_addresses_are_rejected() {
    let check = |address: &str, error| assert_eq!(address.parse::<HttpTarget>(), Err(error));
    check("", HttpTargetError::Scheme);
    check("example.com/mcp", HttpTargetError::Scheme);
    check("ftp://example.com", HttpTargetError::Scheme);
    check("file:///etc/passwd", HttpTargetError::Scheme);
    check("unix://relative.sock#/mcp", HttpTargetError::SocketPath);
    check("unix:///", HttpTargetError::SocketPath);
    assert!(matches!("http://".parse::<HttpTarget>(), Err(HttpTargetError::Invalid(_))));
    assert!(matches!("http://a:99999".parse::<HttpTarget>(), Err(HttpTargetError::Invalid(_))));
}

#[test]
fn references_are_resolved() {
    let check = |base: &str, reference: &str, joined: &str, is_same: bool| {
        let base: HttpTarget = base.parse().unwrap();
        let target = base.join(reference).unwrap();
        assert_eq!(target.to_string(), joined);
        assert_eq!(target.origin() == base.origin(), is_same, "{joined}");
    };
    check("http://a/sse", "/messages?id=1", "http://a/messages", true);
    check("http://a/x/sse", "messages", "http://a/x/messages", true);
    check("http://a/sse", "http://a:80/m", "http://a/m", true);
    check("http://a/sse", "//b/m", "http://b/m", false);
    check("http://a/sse", "https://a/m", "https://a/m", false);
    check("http://a/sse", "http://a:8080/m", "http://a:8080/m", false);
    check("unix:///s#/sse", "/m?id=1", "unix:///s#/m", true);
    check("unix:///s#/sse", "http://localhost/m", "unix:///s#/m", true);
    check("unix:///s#/sse", "http://localhost:80/m", "unix:///s#/m", true);
    check("unix:///s#/sse", "http://localhost:81/m", "http://localhost:81/m", false);
}

#[test]
fn credentials_stay_with_their_origin() {
    let base: HttpTarget = "http://me:secret@a/sse".parse().unwrap();
    assert!(base.has_credentials());
    assert!(base.join("/messages").unwrap().has_credentials());
    assert!(!base.join("http://b/messages").unwrap().has_credentials());
    assert!(!base.join("https://a/messages").unwrap().has_credentials());
}

#[test]
fn loopback_addresses_are_recognized() {
    let is_loopback = |address: &str| address.parse::<HttpTarget>().unwrap().origin().is_loopback();
    for address in [
        "http://localhost/",
        "http://a.localhost/",
        "http://127.1.2.3/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "unix:///s",
    ] {
        assert!(is_loopback(address), "{address}");
    }
    for address in ["http://example.com/", "http://10.0.0.1/", "http://notlocalhost/"] {
        assert!(!is_loopback(address), "{address}");
    }
}

#[test]
fn the_secrets_of_an_address_are_its_user_and_query() {
    let secrets = |text: &str| {
        let mut secrets = text.parse::<HttpTarget>().unwrap().secrets();
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort_unstable();
        secrets.dedup();
        secrets
    };
    assert_eq!(
        secrets("https://me:pass%20word@a.example/mcp?key=one%2Ftwo&x=3#frag"),
        [
            "3",
            "bWU6cGFzcyB3b3Jk",
            "key=one%2Ftwo&x=3",
            "me:pass word",
            "one%2Ftwo",
            "one/two",
            "pass word"
        ]
    );
    assert_eq!(secrets("https://a.example/mcp"), Vec::<String>::new());
}
