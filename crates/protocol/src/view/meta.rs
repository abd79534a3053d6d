//! Adds members such as `_meta` to JSON text without changing any other byte.
//!
//! Since 2026-07-28 every request has the client info and the client capabilities in `_meta`.
//! Arguments may be large and their digits matter, so they are copied as text, never decoded.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::Json;
use crate::json::{Members, push_string};
use crate::scan::{self, is_key};

/// The keys in `_meta` that the specification names.
pub(crate) mod key {
    /// In a request: the protocol revision.
    pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// In a request: the client capabilities.
    pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// In a request: the client info.
    pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// In a request: the minimum level of log messages.
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// In a result: the server info.
    pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// In a notification: the id of the `subscriptions/listen` request.
    pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// In a request: the token for `notifications/progress`.
    pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
}

/// Finds the key `_meta`, unless it is written with escapes.
static META: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"_meta\""));

/// Returns the parameters with entries added to their `_meta`; each entry is a key and a JSON text.
///
/// Existing entries keep their position; a new entry replaces an existing one with the same key.
/// Of new entries with the same key the last counts. Parameters that are not an object are dropped.
#[cfg(any(feature = "serve", test, fuzzing))]
pub(crate) fn with_meta(params: Option<&Json>, entries: &[(&str, &str)]) -> Json {
    if entries.is_empty() {
        return Json::trusted(object_text(params.map_or("{}", Json::as_str)).to_owned());
    }
    let mut text = String::new();
    push_with_meta(&mut text, params, &meta_object(entries));
    Json::trusted(text)
}

/// Writes entries of `_meta` as an object; of entries with the same key the last counts.
pub(crate) fn meta_object(entries: &[(&str, &str)]) -> Json {
    let mut text = String::from("{");
    for (index, (key, value)) in entries.iter().enumerate() {
        if is_last(entries, index) {
            push_member(&mut text, key, value);
        }
    }
    text.push('}');
    Json::trusted(text)
}

/// Appends the parameters with the members of `meta` added to their `_meta`, as [`with_meta`] does.
pub(crate) fn push_with_meta(text: &mut String, params: Option<&Json>, meta: &Json) {
    let params = object_text(params.map_or("{}", Json::as_str));
    // Most parameters have no `_meta`; a search is faster than reading the members.
    let may_have_meta = META.find(params.as_bytes()).is_some()
        || memchr::memchr(b'\\', params.as_bytes()).is_some();
    let existing = if may_have_meta { scan::member(params, "_meta") } else { None };
    let Some(existing) = existing else {
        // Last, so that a reader finds the name and the arguments of a call first.
        text.push_str(params.strip_suffix('}').unwrap_or("{").trim_end());
        push_member(text, "_meta", meta.as_str());
        return text.push('}');
    };
    let entries = meta.members();
    let entries = entries.iter().flat_map(Members::iter).map(|(key, value)| (key, value.get()));
    let meta = with_members(existing, &entries.collect::<Vec<_>>());
    text.push_str(with_members(params, &[("_meta", meta.as_str())]).as_str());
}

/// Returns an object with members set; each is a key and a JSON text. A value that is not an object
/// counts as an empty object.
pub(crate) fn with_members(object: &str, entries: &[(&str, &str)]) -> Json {
    let object = object_text(object);
    // Every occurrence of a key is replaced, because readers differ in which of them they use.
    let written: Vec<(&str, &str)> = scan::members(object).collect();
    let mut replaced: Vec<(Range<usize>, &str)> = Vec::new();
    let mut text = String::from("{");
    for (index, (key, value)) in entries.iter().enumerate() {
        if !is_last(entries, index) {
            continue;
        }
        let before = replaced.len();
        let places = written.iter().filter(|(written, _)| is_key(written, key));
        replaced.extend(places.map(|(_, old)| (range_in(object, old), *value)));
        if replaced.len() == before {
            push_member(&mut text, key, value);
        }
    }
    replaced.sort_by_key(|(range, _)| range.start);
    let mut changed = String::from("{");
    let mut done = 1;
    for (range, value) in replaced {
        changed.push_str(&object[done..range.start]);
        changed.push_str(value);
        done = range.end;
    }
    changed.push_str(&object[done..]);
    push_rest(&mut text, &changed);
    Json::trusted(text)
}

/// Returns the text of an object; of any other value, that of an empty one.
fn object_text(value: &str) -> &str {
    if value.starts_with('{') { value } else { "{}" }
}

/// Tells whether no later entry has the same key.
fn is_last(entries: &[(&str, &str)], index: usize) -> bool {
    entries[index + 1..].iter().all(|(later, _)| *later != entries[index].0)
}

/// Appends a member to an unfinished object.
pub(crate) fn push_member(text: &mut String, key: &str, value: &str) {
    if !text.ends_with('{') {
        text.push(',');
    }
    push_string(text, key);
    text.push(':');
    text.push_str(value);
}

/// Finishes an object with the members of another one.
fn push_rest(text: &mut String, object: &str) {
    if !text.ends_with('{') && !object[1..].trim_start().starts_with('}') {
        text.push(',');
    }
    text.push_str(&object[1..]);
}

/// Returns the range of a slice within its text.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn check(params: &str, expected: &str) {
        let params: Json = params.parse().unwrap();
        let entries = [("progressToken", "7"), (key::LOG_LEVEL, "\"info\"")];
        assert_eq!(with_meta(Some(&params), &entries).as_str(), expected);
    }

    const OURS: &str = r#""progressToken":7,"io.modelcontextprotocol/logLevel":"info""#;

    #[test]
    fn meta_is_added_last_and_all_other_values_stay() {
        check("{}", &format!(r#"{{"_meta":{{{OURS}}}}}"#));
        check("{ }", &format!(r#"{{"_meta":{{{OURS}}}}}"#));
        check(
            r#"{ "b" : 1.50, "a":"é" }"#,
            &format!(r#"{{ "b" : 1.50, "a":"é","_meta":{{{OURS}}}}}"#),
        );
    }

    #[test]
    fn existing_meta_entries_stay_unless_the_key_is_set() {
        check(
            r#"{"a":1,"_meta": {"x":2, "progressToken" : 3} ,"b":4}"#,
            r#"{"a":1,"_meta": {"io.modelcontextprotocol/logLevel":"info","x":2, "progressToken" : 7} ,"b":4}"#,
        );
        check(r#"{"\u005fmeta":{"a":1}}"#, &format!(r#"{{"\u005fmeta":{{{OURS},"a":1}}}}"#));
        check(
            r#"{"_meta":{"io.modelcontextprotocol\/logLevel":"debug"}}"#,
            r#"{"_meta":{"progressToken":7,"io.modelcontextprotocol\/logLevel":"info"}}"#,
        );
    }

    #[test]
    fn a_nested_meta_member_is_not_changed() {
        check(
            r#"{"arguments":{"_meta":1},"text":"_meta"}"#,
            &format!(r#"{{"arguments":{{"_meta":1}},"text":"_meta","_meta":{{{OURS}}}}}"#),
        );
    }

    #[test]
    fn the_last_of_equal_entries_wins() {
        let entries = [("a", "1"), ("b", "2"), ("a", "3")];
        assert_eq!(with_meta(None, &entries).as_str(), r#"{"_meta":{"b":2,"a":3}}"#);
        let params: Json = r#"{"_meta":{"a":0}}"#.parse().unwrap();
        assert_eq!(with_meta(Some(&params), &entries).as_str(), r#"{"_meta":{"b":2,"a":3}}"#);
    }

    #[test]
    fn a_value_that_is_not_an_object_is_replaced() {
        check("null", &format!(r#"{{"_meta":{{{OURS}}}}}"#));
        check("[1]", &format!(r#"{{"_meta":{{{OURS}}}}}"#));
        check(r#"{"_meta":5}"#, &format!(r#"{{"_meta":{{{OURS}}}}}"#));
        assert_eq!(with_meta(None, &[]).as_str(), "{}");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c_\\\\\"/é]{0,6}".prop_map(Value::from),
            Just(json!("_meta")),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key =
                prop_oneof!["[a-c\\\\\"]{0,3}", Just("_meta".to_owned()), Just("k/1".to_owned())];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn only_the_given_entries_change(params in any_value(), is_pretty: bool) {
            let text = if is_pretty { serde_json::to_string_pretty(&params) } else { serde_json::to_string(&params) };
            let written = with_meta(Some(&text.unwrap().parse().unwrap()), &[("k/1", "[1, 2]"), ("b", "null")]);
            let found: Value = serde_json::from_str(written.as_str()).unwrap();

            let mut expected = if params.is_object() { params } else { json!({}) };
            if !expected["_meta"].is_object() {
                expected["_meta"] = json!({});
            }
            expected["_meta"]["k/1"] = json!([1, 2]);
            expected["_meta"]["b"] = Value::Null;
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn without_a_meta_every_byte_is_kept(value in any_value()) {
            let inner = serde_json::to_string(&value).unwrap();
            let text = format!("{{ \"x\" : {inner} }}");
            let written = with_meta(Some(&text.parse().unwrap()), &[("b", "1")]);
            prop_assert_eq!(written.as_str(), format!("{{ \"x\" : {inner},\"_meta\":{{\"b\":1}}}}"));
        }
    }
}
