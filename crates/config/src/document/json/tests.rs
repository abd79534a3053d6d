//! Tests of accepted JSON, line numbers and error messages.

use crate::document::outline::{on_a_small_stack, outline};
use crate::document::{MAX_DEPTH, Notation, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outline(text, Notation::Json), expected);
}

#[test]
fn scalars_keep_their_kind_and_digits() {
    check("null", "null@1");
    check("[true, false]", "[true@1, false@1]@1");
    check("[0, -0, 1.50, 1E+5]", "[0@1, -0@1, 1.50@1, 1E+5@1]@1");
    check("12345678901234567890.123456789", "12345678901234567890.123456789@1");
    check(r#""a b""#, r#""a b"@1"#);
}

#[test]
fn values_and_keys_have_their_line() {
    check(
        "\n{\n  \"a\":\n    [1,\n     {}],\n  \"b\": null\n}\n",
        "{a@3: [1@4, {}@5]@4, b@6: null@6}@2",
    );
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_accepted() {
    check("\u{feff}{\r\n\"a\": 1\r\n}\r\n", "{a@2: 1@2}@1");
}

#[test]
fn comments_and_trailing_commas_are_accepted() {
    check("// a\n{/* b\n */\"a\": [1,], // c\n}\n// d", "{a@3: [1@3]@3}@2");
}

#[test]
fn an_empty_text_is_null_on_line_one() {
    check("", "null@1");
    check(" \n\n", "null@1");
    check("\n// only a comment\n/* and another */", "null@1");
}

#[test]
fn escapes_are_decoded() {
    check(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\uDE00""#, r#""\"\\/\u{8}\u{c}\n\r\té😀"@1"#);
}

#[test]
fn half_a_surrogate_pair_is_an_error() {
    for half in [r#""\ud83d""#, r#""\ude00""#, r#""\ud83d\n""#, r#""\ud83dx""#, r#""\ud83d\ud83d""#]
    {
        check(half, r"1:2: `\u` is only half of a surrogate pair");
    }
    check(r#""\u12"#, r"1:2: `\u` needs four hexadecimal digits");
    check(r#""\ud83d\u1é"#, r"1:2: `\u` needs four hexadecimal digits");
}

#[test]
fn of_duplicate_keys_the_last_value_is_used_at_the_first_position() {
    check(
        "{\"a\": 1,\n\"b\": {\"x\": 1, \"\\u0078\": 2},\n\"a\": 3}",
        "{a@3: 3@3, b@2: {x@2: 2@2}@2}@1 twice x@2,2 twice a@1,3",
    );
}

#[test]
fn a_truncated_file_says_where_it_ends_and_what_is_open() {
    check("{\n\"a\": [\n1", "3:2: the file ends inside the list of line 2");
    check("{\n\"a\": 1,\n\n", "2:8: the file ends inside the object of line 1");
    check("{\"a\"", "1:5: the file ends inside the object of line 1");
    check("{\"a\":", "1:6: the file ends inside the object of line 1");
    check("/* a", "1:1: the file ends inside this comment");
}

#[test]
fn a_missing_comma_is_reported_after_the_last_value() {
    check("{\n  \"é\": \"é\"\n  \"b\": 2\n}", "2:11: a comma is missing here");
    check("[1 // one\n 2]", "1:3: a comma is missing here");
    check("[{}\n{}]", "1:4: a comma is missing here");
    check("[01]", "1:3: a comma is missing here");
}

#[test]
fn a_missing_quote_is_reported_where_the_string_begins() {
    let message = "the closing quote of this string is missing";
    check("{\n\"a\": \"npx,\n\"b\": \"c\"\n}", &format!("2:6: {message}"));
    check("{\"a\": \"npx", &format!("1:7: {message}"));
    check("\"a\\", &format!("1:1: {message}"));
}

#[test]
fn misplaced_tokens_are_named() {
    check("{\"a\" 1}", "1:6: `:` is missing after the key");
    check("{\"a\": }", "1:7: a value is missing here");
    check("[,]", "1:2: a value or `]` is missing here");
    check("[1,,]", "1:4: a value or `]` is missing here");
    check("{,}", "1:2: a key in double quotes or `}` is missing here");
    check("{1: 2}", "1:2: a key in double quotes or `}` is missing here");
    check("[1}", "1:3: `,` or `]` is missing here");
    check("{\"a\": 1]", "1:8: `,` or `}` is missing here");
    check("{\"a\": 1: 2}", "1:8: `,` or `}` is missing here");
    check("]", "1:1: a value is missing here");
    check("{} {}", "1:4: unexpected text after the value");
    check("1 // fine\n2", "2:1: unexpected text after the value");
}

#[test]
fn syntax_of_other_json_dialects_is_rejected() {
    check("{a: 1}", "1:2: a key must be in double quotes");
    check("{'a': 1}", "1:2: single quotes are not allowed; use double quotes");
    check("[0x1F]", "1:2: hexadecimal numbers are not allowed");
    check("[+1]", "1:2: a number must not begin with `+`");
    check("[.5]", "1:2: a number needs digits on both sides of the decimal point");
    check("[5.]", "1:2: a number needs digits on both sides of the decimal point");
    check("[-Infinity]", "1:2: `NaN` and `Infinity` are not allowed");
    let word =
        "1:2: a string must be in double quotes; only `true`, `false` and `null` are unquoted";
    check("[NaN]", word);
    check("[True]", word);
    check("[sk-abc,\n1]", word);
    check("[a b]", word);
    check("[-]", "1:3: a digit is missing in this number");
    check("[1e]", "1:4: a digit is missing in this number");
    check(r#"["\x41"]"#, r"1:3: `\` begins an unknown escape sequence");
    check(r#"["\'"]"#, r"1:3: `\` begins an unknown escape sequence");
    check("# a\n1", "1:1: this character is not allowed here");
    check("[\"a\tb\"]", "1:4: a control character inside a string must be escaped");
    check("[\u{a0}1]", "1:2: the white space character U+00A0 is not allowed here");
}

#[test]
fn errors_never_quote_the_text() {
    let secret = "sk-secret";
    let broken = [
        format!("{{\"key\": {secret}}}"),
        format!("{{\"key\": \"{secret}}}"),
        format!("{{\"key\": '{secret}'}}"),
        format!("{{\"key\": \"\\{secret}\"}}"),
        format!("{{{secret}: 1}}"),
        format!("{{\"key\": 1 {secret}}}"),
    ];
    for text in broken {
        let error = parse(&text, Notation::Json).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}

#[test]
fn deep_nesting_is_rejected_without_recursion() {
    on_a_small_stack(|| {
        let nested = |open: &str, close: &str, depth| open.repeat(depth) + &close.repeat(depth);
        assert!(parse(&nested("[", "]", MAX_DEPTH), Notation::Json).is_ok());
        check(&nested("[", "]", MAX_DEPTH + 1), "1:129: nested more than 128 levels deep");
        check(&"{\"a\":\n".repeat(1_000_000), "129:1: nested more than 128 levels deep");
    });
}
