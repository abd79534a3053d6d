//! Tests of accepted TOML, line numbers and error messages.

use crate::document::outline::outline;
use crate::document::{Notation, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outline(text, Notation::Toml), expected);
}

#[test]
fn scalars_keep_their_kind_and_digits() {
    check(
        "a = 'x'\nb = true\nc = 1_000\nd = 0xFF\ne = +1.50\nf = inf",
        r#"{a@1: "x"@1, b@2: true@2, c@3: 1_000@3, d@4: 0xFF@4, e@5: +1.50@5, f@6: inf@6}@1"#,
    );
}

#[test]
fn dates_are_strings_as_written() {
    check(
        "a = 1979-05-27T07:32:00Z\nb = 1979-05-27\nc = 07:32:00",
        r#"{a@1: "1979-05-27T07:32:00Z"@1, b@2: "1979-05-27"@2, c@3: "07:32:00"@3}@1"#,
    );
}

#[test]
fn a_table_is_on_the_line_of_its_header() {
    check(
        "# top\n[mcp_servers.fs]\ncommand = 'npx'\n\n[mcp_servers.fs.env]\nA = 'b'\n",
        "{mcp_servers@2: {fs@2: {command@3: \"npx\"@3, env@5: {A@6: \"b\"@6}@5}@2}@2}@1",
    );
}

#[test]
fn a_header_may_come_after_its_children() {
    check("[a.b]\nx = 1\n[a]\ny = 2", "{a@3: {b@1: {x@2: 1@2}@1, y@4: 2@4}@3}@1");
}

#[test]
fn dotted_keys_are_on_their_own_line() {
    check("\na.b = 1\na.c = { d.e = 2 }", "{a@2: {b@2: 1@2, c@3: {d@3: {e@3: 2@3}@3}@3}@2}@1");
}

#[test]
fn lists_of_tables_are_lists() {
    check("[[s]]\na = 1\n[[s]]\na = 2", "{s@1: [{a@2: 1@2}@1, {a@4: 2@4}@3]@1}@1");
}

#[test]
fn values_over_several_lines_begin_on_the_first() {
    check(
        "a = [\n  1,\n  { b = '''\nx''' },\n]\r\nc = 2",
        r#"{a@1: [1@2, {b@3: "x"@3}@3]@1, c@6: 2@6}@1"#,
    );
}

#[test]
fn an_empty_text_is_null_on_line_one() {
    check("", "null@1");
    check("\n# only a comment\n", "null@1");
    check("[a]", "{a@1: {}@1}@1");
}

#[test]
fn duplicate_keys_are_an_error() {
    check("a = 1\n\na = 2", "3:1: duplicate key");
    check("[a]\n[b]\n[a]", "3:2: duplicate key");
}

#[test]
fn columns_are_characters() {
    check("\n\"é😀\" = ", "2:8: string values must be quoted, expected literal string");
}

#[test]
fn errors_never_quote_the_text() {
    let broken = [
        "key = sk-secret",
        "key = \"sk-secret",
        "key = 'sk-secret' 'sk-secret'",
        "[sk-secret",
        "sk-secret",
        "key = \"\\sk-secret\"",
        "sk-secret = 1\nsk-secret = 2",
        "sk-secret = 1\n[sk-secret.a]",
        "key = 2000-99-99secret",
        "key = 0xsecret",
    ];
    for text in broken {
        let error = parse(text, Notation::Toml).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        assert!(!error.message.contains('\n'), "{error:?}");
    }
}

#[test]
fn nesting_depth_is_limited() {
    let lists = |depth| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&lists(80), Notation::Toml).is_ok());
    check(&lists(81), "1:85: nested more than 80 levels deep");
    check(&lists(100_000), "1:517: nested more than 128 levels deep");
    check(&format!("a{} = 1", ".a".repeat(80)), "1:160: a key has more than 80 names");
    let header = format!("[a{}]\nb{} = ", ".a".repeat(69), ".b".repeat(54));
    assert!(parse(&format!("{header}[[{{}}]]"), Notation::Toml).is_ok());
    check(&format!("{header}[[[{{}}]]]"), "2:116: nested more than 128 levels deep");
}

#[test]
fn dotted_keys_in_nested_inline_tables_count_towards_the_depth_limit() {
    let key = vec!["k"; 80].join(".");
    let closed = format!("{{{key} = ").repeat(80) + "1" + &"}".repeat(80);
    let confused = format!("{{x = ], {key} = ").repeat(80);
    for text in [closed, confused] {
        let error = parse(&format!("a = {text}"), Notation::Toml).unwrap_err();
        assert_eq!(error.message, "nested more than 128 levels deep");
    }
}
