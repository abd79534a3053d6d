//! Irregular pages, invalid entries, cursors, cache hints and limits.

use proptest::prelude::*;

use super::super::{Prompt, ToolDefinition};
use super::*;

fn page(text: &str) -> ListPage<ToolDefinition> {
    ListPage::read(&text.parse().unwrap())
}

/// Compares the names of the tools, the reasons of rejected entries, the cursor and the violations.
fn check(text: &str, expected: &str) {
    let page = page(text);
    let names: Vec<_> = page.items.iter().map(|tool| tool.name().to_string()).collect();
    let why: Vec<_> = page.rejected.iter().map(|rejected| rejected.why.to_string()).collect();
    let violations: Vec<_> = page.violations.iter().map(ToString::to_string).collect();
    let parts = [names.join(","), why.join("; "), page.next_cursor.unwrap_or_default()];
    let rendered = format!("{} | {}", parts.join(" | "), violations.join("; "));
    assert_eq!(rendered, expected, "{text}");
}

#[test]
fn an_invalid_tool_is_rejected_and_the_others_are_kept() {
    check(
        r#"{"tools":[{"name":"a"},{},7,{"name":""},{"name":5},null,{"name":"b"}]}"#,
        "a,b | name is missing; entry is a number, not an object; name is empty; \
         name is a number, not a string; entry is null, not an object |  | ",
    );
}

#[test]
fn a_list_that_is_not_an_array_is_read_where_possible() {
    check("{}", " |  |  | tools is missing");
    check(r#"{"tools":null,"nextCursor":"c"}"#, " |  | c | tools is null, not an array");
    check(r#"{"tools":"no"}"#, " |  |  | tools is a string, not an array");
    check(
        r#"{"tools":{"a":{"description":"d"},"b":{"name":"c"},"x":1}}"#,
        "a,c | entry is a number, not an object |  | tools is an object, not an array",
    );
    check(r#"[{"name":"a"}]"#, "a |  |  | result is an array, not an object");
    check("null", " |  |  | result is null, not an object");
    check(r#"{"tools":7,"tools":[{"name":"a"}]}"#, "a |  |  | ");
    check(r#"{"t\u006fols":[{"n\u0061me":"\u0061"}]}"#, "a |  |  | ");
}

#[test]
fn a_cursor_of_any_json_type_is_handled() {
    check(r#"{"tools":[],"nextCursor":"a\"b"}"#, " |  | a\"b | ");
    check(r#"{"tools":[],"nextCursor":""}"#, " |  |  | ");
    check(r#"{"tools":[],"nextCursor":null}"#, " |  |  | nextCursor is null, not a string");
    check(r#"{"tools":[],"nextCursor":20}"#, " |  | 20 | nextCursor is a number, not a string");
    check(r#"{"tools":[],"nextCursor":{}}"#, " |  |  | nextCursor is an object, not a string");
}

#[test]
fn invalid_cache_hints_mean_do_not_cache() {
    let read = |rest: &str| page(&format!(r#"{{"tools":[]{rest}}}"#)).cache;
    let public = CacheHints { ttl: Duration::from_secs(5), scope: CacheScope::Public };
    assert_eq!(read(r#","ttlMs":5000,"cacheScope":"public""#), public);
    for invalid in ["", r#","ttlMs":-1"#, r#","ttlMs":"5","cacheScope":"all""#, r#","ttlMs":null"#]
    {
        assert_eq!(read(invalid), CacheHints::default(), "{invalid}");
    }
}

#[test]
fn a_page_is_read_up_to_the_limit() {
    let check = |text: &str, limit: usize, expected: &str| {
        let page: ListPage<ToolDefinition> = ListPage::read_up_to(&text.parse().unwrap(), limit);
        let names: Vec<_> = page.items.iter().map(|tool| tool.name().to_string()).collect();
        let found = format!("{} {} {}", names.join(","), page.rejected.len(), page.is_truncated);
        assert_eq!(found, expected, "{text}");
    };
    let three = r#"{"tools":[{"name":"a"},{},{"name":"c"}],"nextCursor":"x"}"#;
    check(three, 3, "a,c 1 false");
    check(three, 2, "a 1 true");
    check(three, 0, " 0 true");
    check(r#"{"tools":[]}"#, 0, " 0 false");
    // The limit also applies to irregular lists.
    check(r#"{"tools":{"a":{},"b":{},"c":{}}}"#, 2, "a,b 0 true");
    check(r#"[{"name":"a"},7,{"name":"c"}]"#, 2, "a 1 true");
    check(r#"{"tools":[{"name":"a"},7,8,9]}"#, 3, "a 2 true");
}

#[test]
fn entries_share_the_buffer_of_the_page() {
    let text: Json = r#"{"tools":[{"name":"a","description":"d"}]}"#.parse().unwrap();
    let page: ListPage<ToolDefinition> = ListPage::read(&text);
    let whole = text.as_str().as_bytes().as_ptr_range();
    assert!(whole.contains(&page.items[0].raw().as_str().as_ptr()));
    assert!(whole.contains(&page.items[0].name().as_ptr()));
}

#[test]
fn prompts_are_read_like_tools() {
    let page: ListPage<Prompt> = ListPage::read(&r#"{"prompts":[{"name":"p"}]}"#.parse().unwrap());
    assert_eq!(page.items[0].name(), "p");
}

proptest! {
    #[test]
    fn an_invalid_tool_at_any_position_does_not_affect_the_others(
        count in 0_usize..20,
        place in 0_usize..20,
        bad in prop_oneof![
            Just("null"), Just("7"), Just("\"x\""), Just("[]"), Just("{}"), Just(r#"{"name":null}"#),
            Just(r#"{"name":{"name":"x"}}"#), Just("1e999"), Just(r#""\ud800""#), Just("[[[{}]]]"),
        ],
    ) {
        let mut entries: Vec<String> =
            (0..count).map(|number| format!(r#"{{"name":"t{number}","x":[{number}]}}"#)).collect();
        entries.insert(place.min(count), bad.to_owned());
        let page = page(&format!(r#"{{"tools":[{}]}}"#, entries.join(" , ")));
        let names: Vec<_> = page.items.iter().map(|tool| tool.name().to_string()).collect();
        let expected: Vec<_> = (0..count).map(|number| format!("t{number}")).collect();
        prop_assert_eq!(names, expected);
        prop_assert_eq!(page.rejected.len(), 1);
        prop_assert_eq!(page.rejected[0].raw.as_str(), bad);
    }
}
