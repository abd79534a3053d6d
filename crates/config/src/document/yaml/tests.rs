//! Tests of accepted YAML, line numbers, aliases and error messages.

use std::fmt::Write as _;

use crate::document::outline::{on_a_small_stack, outline};
use crate::document::{MAX_DEPTH, Notation, parse};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outline(text, Notation::Yaml), expected);
}

#[test]
fn scalars_without_quotes_have_types() {
    check("[~, true, 0x1F, 1.50, yes]", r#"[null@1, true@1, 0x1F@1, 1.50@1, "yes"@1]@1"#);
    check("['1', \"true\", !!int '2', !env X]", r#"["1"@1, "true"@1, "2"@1, "X"@1]@1"#);
    check("# top\n--- |\n 1\n", r#""1\n"@2"#);
    check("- |\n 1\n- &a >\n 2\n", r#"["1\n"@1, "2\n"@3]@1"#);
}

#[test]
fn values_and_keys_have_their_line() {
    check(
        "# top\na:\n  - b\n  -\n    c: |\n      d\n    e: 'f\n\n      g'\nh: {i: 1,\n  j: 2}\n",
        r#"{a@2: ["b"@3, {c@5: "d\n"@5, e@7: "f\ng"@7}@5]@3, h@10: {i@10: 1@10, j@11: 2@11}@10}@2"#,
    );
    check("a: 1\r\nb: 2\rc: 3", "{a@1: 1@1, b@2: 2@2, c@3: 3@3}@1");
}

#[test]
fn an_omitted_value_is_null_on_the_line_of_its_key() {
    check("a:\nb:\n\n", "{a@1: null@1, b@2: null@2}@1");
    check("? a\n\n? b\n", "{a@1: null@1, b@3: null@3}@1");
    check("{a\n,b}", "{a@1: null@1, b@2: null@2}@1");
    check("-\n-\n", "[null@1, null@2]@1");
}

#[test]
fn an_empty_text_is_null_on_line_one() {
    check("", "null@1");
    check("\n# only a comment\n", "null@1");
    check("\n---\n", "null@1");
}

#[test]
fn keys_become_their_text() {
    check(
        "1: a\ntrue: b\n~: c\n'd': e\n",
        r#"{1@1: "a"@1, true@2: "b"@2, ~@3: "c"@3, d@4: "e"@4}@1"#,
    );
    check("- &x 0x1\n- *x : a", r#"[0x1@1, {0x1@2: "a"@2}@2]@1"#);
}

#[test]
fn keys_that_are_lists_or_objects_are_an_error() {
    let message = "a key must be a string, not a list or an object";
    check("? [a]\n: b", &format!("1:3: {message}"));
    check("{a: 1, {b: 2}: 3}", &format!("1:8: {message}"));
    check("a: &x [1]\n*x : 2", &format!("2:1: {message}"));
}

#[test]
fn of_duplicate_keys_the_last_value_is_used_at_the_first_position() {
    check("a: 1\nb: 2\na: 3", "{a@3: 3@3, b@2: 2@2}@1 twice a@1,3");
    check("a: &x {b: 1, b: 2}\nc: *x", "{a@1: {b@1: 2@1}@1, c@2: {b@1: 2@1}@1}@1 twice b@1,1");
}

#[test]
fn only_the_first_document_is_read() {
    check("---\na: 1\n---\nb: [", "{a@2: 1@2}@2");
    check("a: 1\n...\n", "{a@1: 1@1}@1");
    check("'a'\n'b'", "2:1: unexpected text after the value");
}

#[test]
fn aliases_are_copies_on_the_line_of_the_anchor() {
    check("a: &x [1, &y 2]\nb: *x\nc: *y", "{a@1: [1@1, 2@1]@1, b@2: [1@1, 2@1]@1, c@3: 2@1}@1");
    check("- &x 1\n- &x 2\n- *x", "[1@1, 2@2, 2@2]@1");
}

#[test]
fn undefined_and_recursive_aliases_are_errors() {
    check("a: *x", "1:4: this alias refers to an undefined anchor");
    check("a: &x [1, *x]", "1:11: an alias refers to the value that contains it");
    check("&x a: &y {b: *y}", "1:14: an alias refers to the value that contains it");
    check("&x {<<: *x}", "1:9: an alias refers to the value that contains it");
}

#[test]
fn merge_keys_add_missing_keys() {
    check(
        "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3",
        "{a@1: {x@1: 1@1, y@1: 2@1}@1, b@2: {y@4: 3@4, x@1: 1@1}@3}@1",
    );
    check("<<: [{x: 1}, {x: 2, y: 3}]\nz: 4", "{z@2: 4@2, x@1: 1@1, y@1: 3@1}@1");
    check("<<: {x: 1}\n<<: {x: 2}", "{x@1: 1@1}@1");
    check("'<<': {x: 1}", "{<<@1: {x@1: 1@1}@1}@1");
    for source in ["1", "[1]", "", "[[{}]]"] {
        let text = outline(&format!("<<: {source}"), Notation::Yaml);
        assert!(text.ends_with("`<<` needs an object or a list of objects"), "{text}");
    }
}

#[test]
fn an_anchor_bomb_is_refused_before_it_unfolds() {
    let mut bomb = "- &a0 [x, x]\n".to_owned();
    for level in 1..100 {
        let below = level - 1;
        writeln!(bomb, "- &a{level} [*a{below}, *a{below}]").unwrap();
    }
    check(&bomb, "18:15: aliases unfold to more than 1000000 values");
}

#[test]
fn repeated_merges_add_each_key_once() {
    let mut text = "- &a0 {k0: x}\n".to_owned();
    for level in 1..100 {
        let below = level - 1;
        writeln!(text, "- &a{level} {{k{level}: x, <<: [*a{below}, *a{below}]}}").unwrap();
    }
    let parsed = parse(&text, Notation::Yaml).unwrap();
    let last = parsed.root.as_list().unwrap().last().unwrap();
    assert_eq!(last.as_map().unwrap().0.len(), 100);
}

#[test]
fn copies_of_long_texts_count_towards_the_alias_limit() {
    let long = "x".repeat(100_000);
    let text = format!("a: &a '{long}'\nb: [{}]", "*a, ".repeat(1_000));
    check(&text, "2:2561: aliases unfold to more than 1000000 values");
    let text = format!("a: &a {{'{long}': 1}}\nb: [{}]", "*a, ".repeat(1_000));
    check(&text, "2:2561: aliases unfold to more than 1000000 values");
}

#[test]
fn a_list_without_aliases_may_be_longer_than_the_limit_for_aliases() {
    let text = "- 1\n".repeat(1_000_001);
    let parsed = parse(&text, Notation::Yaml).unwrap();
    assert_eq!(parsed.root.as_list().map(<[_]>::len), Some(1_000_001));
}

#[test]
fn deep_nesting_is_rejected_without_recursion() {
    on_a_small_stack(|| {
        let lists = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&lists(MAX_DEPTH), Notation::Yaml).is_ok());
        check(&lists(MAX_DEPTH + 1), "1:129: nested more than 128 levels deep");
        check(&lists(100_000), "1:256: nested more than 128 levels deep");
        check(&"- ".repeat(100_000), "1:257: nested more than 128 levels deep");
    });
}

#[test]
fn aliases_cannot_nest_deeper_than_allowed() {
    let mut chain = "- &a0 []\n".to_owned();
    for level in 1..200 {
        writeln!(chain, "- &a{level} [*a{}]", level - 1).unwrap();
    }
    check(&chain, "128:10: nested more than 128 levels deep");
}

#[test]
fn common_mistakes_are_explained() {
    check("a: 'b", "1:4: the file ends inside a string");
    check("a: b: c", "1:5: `:` is not allowed here; put a value that contains it in quotes");
    check("a:\n\tb: 1", "2:2: a tab is used for indentation; use spaces");
    check("a: 1\nb\nc: 2", "3:1: `:` is missing after a key");
    check("a: [1 2", "1:8: `,` or `]` is missing here");
    check("a: 1\n  b: 2", "2:4: `:` is not allowed here; put a value that contains it in quotes");
}

#[test]
fn errors_never_quote_the_text() {
    let broken = [
        "key: 'sk-secret",
        "key: \"\\sk-secret\"",
        "key: *sk-secret",
        "key: !sk-secret!x y",
        "key: [sk-secret",
        "key: {sk-secret: 1",
        "key: @sk-secret",
        "%sk-secret",
        "sk-secret: a: b",
    ];
    for text in broken {
        let error = parse(text, Notation::Yaml).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}
