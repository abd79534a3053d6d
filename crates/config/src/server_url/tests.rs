//! Tests: parsing, comparison and redaction of addresses; the address shown is the address
//! contacted.

use super::*;
use crate::expand::Syntax;
use crate::server::WrittenText;

#[track_caller]
fn check(text: &str, expected: &str) {
    let rendered = match text.parse::<ServerUrl>() {
        Ok(url) => url.to_string(),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(rendered, expected, "{text}");
}

#[test]
fn an_address_is_shown_from_its_parse() {
    check("https://a.example/mcp", "https://a.example/mcp");
    check(" HTTPS://A.Example ", "https://a.example/");
    check("https://u:p@a.example/mcp?key=1#x", "https://•••@a.example/mcp?•••#x");
    check("https://a.example?key=a@b", "https://a.example/?•••");
    check("https://a.example/mcp#token=abc", "https://a.example/mcp#•••");
    check("https://b\u{fc}cher.example/\u{e9}", "https://xn--bcher-kva.example/%C3%A9");
    check("http://0x7f.1/", "http://127.0.0.1/");
    check("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/");
    check("https://github.example@127.0.0.1/", "https://•••@127.0.0.1/");
    check("unix:///run/x.sock#/mcp", "unix:///run/x.sock#/mcp");
    check("unix:/run/x.sock", "unix:///run/x.sock#/");
    check("unix:///run/a%20b.sock#mcp?key=1", "unix:///run/a%20b.sock#/mcp?•••");
}

#[test]
fn only_an_explicit_port_is_shown() {
    check("https://a.example:443/mcp", "https://a.example:443/mcp");
    check("http://u@a.example:80", "http://•••@a.example:80/");
    check("http://a.example:443/", "http://a.example:443/");
    check("https://a.example:/", "https://a.example/");
    check("https://[::1]:443/", "https://[::1]:443/");
    check("https://a.example/x:443", "https://a.example/x:443");
}

#[test]
fn characters_that_programs_read_differently_are_refused() {
    let backslash = "error: \"url\" must not contain a backslash";
    check("http://127.0.0.1:1\\@api.github.example/mcp/", backslash);
    check("http:\\\\a.example", backslash);
    let space = "error: \"url\" must not contain white space";
    check("http://a.example/a b", space);
    check("http://a\t.example/", space);
    check("http://a.exam\nple/", space);
    check("http://a\u{3000}.example/", space);
    let control = "error: \"url\" must not contain a control character";
    check("http://a\u{0}.example/", control);
    check("http://a\u{7f}.example/", control);
    check("http://a\u{202e}.example/", control);
}

#[test]
fn an_address_without_a_host_or_a_known_scheme_is_refused() {
    for text in ["a.example/mcp", "ftp://a.example", "file:///x", "mailto:a", ""] {
        check(text, "error: \"url\" must start with http://, https:// or unix://");
    }
    for text in ["ws://a.example", "WSS://a.example"] {
        check(text, "error: WebSocket is not supported");
    }
    for text in [
        "http://",
        "https:///",
        "http://:80/x",
        "https://u@/x",
        "http://?x",
        "https:///mcp",
        "https:a/b",
    ] {
        check(text, "error: \"url\" has no host");
    }
    let socket =
        "error: \"url\" must name the socket with an absolute path, as in unix:///run/a.sock#/mcp";
    for text in ["unix://run/x.sock", "unix:///", "unix:x", "unix:///a?b"] {
        check(text, socket);
    }
    check("http://a.example:99999/", "error: \"url\" is not a valid address: invalid port number");
}

#[test]
fn addresses_are_compared_after_parsing() {
    let parse = |text: &str| text.parse::<ServerUrl>().unwrap();
    let same = [
        ("https://a.example", "https://A.example:443/"),
        ("https://a.example/x/../mcp", "https://a.example/mcp"),
        ("unix:///run/a.sock#/mcp", "unix:/run/a.sock#mcp"),
    ];
    for (one, other) in same {
        assert_eq!(parse(one), parse(other));
        assert_eq!(parse(one).resource(), parse(other).resource());
    }
    let given_for = |text: &str| parse(text).resource();
    assert_eq!(given_for("https://u:p@a.example/mcp"), given_for(" https://a.example/mcp#x "));
    let different = [
        ("https://a.example/mcp", "http://a.example/mcp"),
        ("https://a.example/mcp", "https://a.example/mcp/"),
        ("https://a.example/mcp", "https://a.example:8443/mcp"),
        ("https://a.example/mcp", "https://a.example.evil/mcp"),
        ("https://a.example/mcp?x=1", "https://a.example/mcp?x=2"),
        ("unix:///run/a.sock#/mcp", "unix:///run/a.sock#/other"),
        ("unix:///run/a%23b#/c", "unix:///run/a#b#/c"),
    ];
    for (one, other) in different {
        assert_ne!(parse(one), parse(other));
        assert_ne!(given_for(one), given_for(other));
    }
}

#[test]
fn placeholders_are_shown_and_secrets_are_redacted() {
    let check = |text: &str, expected: &str| {
        let syntax = Syntax::BRACED | Syntax::ENV_COLON | Syntax::DOLLAR;
        let written = WrittenText { text: text.to_owned(), syntax };
        assert_eq!(render_written(&written), expected, "{text}");
        assert!(!expected.contains("wharfplaceholder"));
    };
    check("https://${HOST}/mcp", "https://${HOST}/mcp");
    check("https://${HOST}:${PORT}/mcp", "https://${HOST}:${PORT}/mcp");
    check("https://api.${DOMAIN}", "https://api.${DOMAIN}");
    check("${BASE}", "${BASE}");
    check("${BASE}/mcp?key=abc", "${BASE}/mcp?•••");
    check("${SCHEME}://a.example/", "${SCHEME}://a.example/");
    check("$BASE/mcp", "$BASE/mcp");
    check("https://me:hunter2@${HOST}/", "https://•••@${HOST}/");
    check("https://me:${PASSWORD}@a.example/", "https://•••${PASSWORD}@a.example/");
    check("https://${P:-hunter2}@a.example/", "https://${P:-•••}@a.example/");
    check("https://$ecret:${P}@a.example/", "https://•••${P}@a.example/");
    check("https://a.example/?key=${KEY:-abc}&b=c", "https://a.example/?key=${KEY:-•••}&b=•••");
    // The default of a variable could be the host.
    check("https://${X:-evil.example/}@a.example/", "https://${X:-evil.example/}@a.example/");
    check("https://evil.example/${X}@a.example/", "https://evil.example/${X}@a.example/");
    check("https://evil.example\\${X}@a.example/", "•••${X}•••");
    check("http://h:80${X}/", "http://h:80${X}/");
    // A text that is not an address is redacted or shown unchanged.
    check("http://127.0.0.1:1\\@a.example/", "•••");
    check("a.example/mcp", "a.example/mcp");
}

#[test]
fn only_the_secrets_of_other_addresses_are_redacted() {
    let cases = [
        ("https://H.example/", "https://H.example/"),
        ("https://u:p@h/x?k=1", "https://•••@h/x?•••"),
        ("postgres://me:tiger@db.example/x?sslkey=1", "postgres://•••@db.example/x?•••"),
        ("jdbc:mysql://me:tiger@db.example/x", "jdbc:mysql://•••@db.example/x"),
        ("git+ssh://git@h/x.git", "git+ssh://•••@h/x.git"),
        ("https://h/?k=${KEY}", "https://h/?k=${KEY}"),
        ("https://h/?k=${KEY}&l=1", "https://h/?k=${KEY}&l=•••"),
        ("//user:abc@a.example/x", "•••"),
        ("not a url", "not a url"),
        ("host:8080", "host:8080"),
        ("C:\\tools\\x.exe", "C:\\tools\\x.exe"),
        ("unix:///run/x.sock#/mcp?key=1", "unix:///run/x.sock#•••"),
        ("https://127.0.0.1\\@a.example/", "•••"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact_url(text), expected, "{text}");
    }
}

#[test]
fn the_secrets_of_an_address_are_found_encoded_and_decoded() {
    let secrets = secrets_of_url("https://me:ti%20ger@a.example/x?k=s%2B1&flag#t=2");
    for secret in ["me", "ti%20ger", "ti ger", "s%2B1", "s+1", "k=s%2B1&flag", "t=2"] {
        assert!(secrets.iter().any(|own| own == secret), "{secret} in {secrets:?}");
    }
}

#[test]
fn the_certain_secrets_of_an_address_are_decoded() {
    let check = |text: &str, expected: &[&str]| {
        let mut found = credentials_of_url(text);
        found.sort_unstable();
        assert_eq!(found, expected, "{text}");
    };
    check("https://me:p%26s&s%2B1@a.example/", &["me:p&s&s+1", "p&s&s+1"]);
    check("https://me@a.example/?api_key=a+b%2B&region=eu&token=", &["a b+"]);
    check("jdbc:mysql://me:tiger@db.example/x", &["me:tiger", "tiger"]);
    check("https://a.example/x", &[]);
    check("not a url", &[]);
}

#[test]
fn the_debug_output_of_an_address_is_redacted() {
    let url: ServerUrl = "https://me:hunter2@a.example/?k=hunter2".parse().unwrap();
    assert_eq!(format!("{url:?} {:?}", url.location()), "••• Network");
}

#[test]
fn only_plain_http_to_another_machine_is_unencrypted_remote() {
    let is_open = |text: &str| text.parse::<ServerUrl>().unwrap().is_unencrypted_remote();
    for text in ["http://example.com/mcp", "HTTP://10.0.0.2:80", "http://a@b.example?x"] {
        assert!(is_open(text), "{text}");
    }
    let closed = [
        "https://example.com",
        "http://localhost:3000/mcp",
        "http://127.1.2.3",
        "http://[::1]:8080/",
        "http://app.localhost./",
        "unix:///run/x.sock",
    ];
    for text in closed {
        assert!(!is_open(text), "{text}");
    }
}
