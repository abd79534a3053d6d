//! Completes a result with what the modern revision demands and the service left out.
//!
//! The result's own text is copied once and never decoded: missing members are put in front of the
//! first one, and the server's name goes into `_meta`.

use crate::Json;
use crate::scan;

/// The key in `_meta` under which a server says who it is.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What a result may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A legacy result goes as it is.
    AsIs,
    /// A modern result.
    Typed,
    /// A modern result that must say how long it may be kept.
    Cacheable,
}

impl Shape {
    /// Returns what the modern answer to `method` must have.
    pub(crate) fn of_modern(method: &str) -> Self {
        match method {
            "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read" => Self::Cacheable,
            _ => Self::Typed,
        }
    }

    /// Adds what `result` lacks; `info` is the server's own description.
    pub(crate) fn complete(self, result: Json, info: &Json) -> Json {
        if self == Self::AsIs || !result.is_object() {
            return result;
        }
        let seen = Seen::of(result.as_str());
        let mut front = String::new();
        if seen.kind.is_none() {
            front.push_str(r#""resultType":"complete","#);
        }
        // Only a finished result may be kept; one that asks for input says nothing about caching.
        let is_final = seen.kind.is_none_or(|kind| kind == r#""complete""#);
        if self == Self::Cacheable && is_final {
            if !seen.ttl {
                front.push_str(r#""ttlMs":0,"#);
            }
            if !seen.scope {
                front.push_str(r#""cacheScope":"private","#);
            }
        }
        if seen.meta.is_none() {
            front.extend([r#""_meta":{""#, SERVER_INFO, r#"":"#, info.as_str(), "},"]);
        }
        let named = seen.meta.filter(|meta| lacks_name(meta)).map(|meta| {
            let member = format!(r#""{SERVER_INFO}":{},"#, info.as_str());
            (offset(result.as_str(), meta) + 1, member)
        });
        if front.is_empty() && named.is_none() {
            return result;
        }
        Json::trusted(inserted(result.as_str(), front, named))
    }
}

/// Puts `member` in front of the members of `object`.
pub(crate) fn with_member(object: &Json, member: &str) -> Json {
    Json::trusted(inserted(object.as_str(), format!("{member},"), None))
}

struct Seen<'a> {
    kind: Option<&'a str>,
    meta: Option<&'a str>,
    ttl: bool,
    scope: bool,
}

impl<'a> Seen<'a> {
    fn of(object: &'a str) -> Self {
        let mut seen = Self { kind: None, meta: None, ttl: false, scope: false };
        for (key, value) in scan::members(object) {
            if scan::is_key(key, "resultType") {
                seen.kind = Some(value);
            } else if scan::is_key(key, "_meta") {
                seen.meta = Some(value);
            } else if scan::is_key(key, "ttlMs") {
                seen.ttl = true;
            } else if scan::is_key(key, "cacheScope") {
                seen.scope = true;
            }
        }
        seen
    }
}

fn lacks_name(meta: &str) -> bool {
    meta.starts_with('{') && scan::member(meta, SERVER_INFO).is_none()
}

fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}

/// Inserts `front` behind the opening brace and `later` where it says.
fn inserted(object: &str, mut front: String, later: Option<(usize, String)>) -> String {
    let (head, rest) = object.split_at(object.find('{').map_or(0, |at| at + 1));
    drop_comma_before_end(&mut front, rest);
    let more = later.as_ref().map_or(0, |(_, member)| member.len());
    let mut text = String::with_capacity(object.len() + front.len() + more);
    text.push_str(head);
    text.push_str(&front);
    match later {
        None => text.push_str(rest),
        Some((at, mut member)) => {
            let (before, after) = rest.split_at(at - head.len());
            drop_comma_before_end(&mut member, after);
            text.push_str(before);
            text.push_str(&member);
            text.push_str(after);
        }
    }
    text
}

/// Takes the last comma away if nothing follows it.
fn drop_comma_before_end(members: &mut String, rest: &str) {
    if rest.trim_start().starts_with('}') {
        members.truncate(members.trim_end_matches(',').len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, result: &str, expected: &str) {
        let info = Json::parse(r#"{"name":"n","version":"1"}"#).unwrap();
        let found = Shape::of_modern(method).complete(result.parse().unwrap(), &info);
        assert_eq!(found.as_str().parse::<Json>().unwrap().as_str(), expected, "{result}");
    }

    #[test]
    fn what_a_modern_result_lacks_is_put_in_front() {
        check(
            "tools/call",
            r#"{"content":[1.0]}"#,
            r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}},"content":[1.0]}"#,
        );
        check(
            "tools/call",
            "{ }",
            r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}} }"#,
        );
    }

    #[test]
    fn lists_say_that_they_must_not_be_kept() {
        check(
            "tools/list",
            r#"{"_meta":{"a":1},"tools":[]}"#,
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"},"a":1},"tools":[]}"#,
        );
    }

    #[test]
    fn what_the_service_said_stays() {
        let whole = r#"{"x":1,"_meta":{"io.modelcontextprotocol/serverInfo":{}},"cacheScope":"public","ttlMs":5,"resultType":"complete"}"#;
        check("tools/list", whole, whole);
    }

    #[test]
    fn a_result_that_asks_for_input_gets_no_cache_hints() {
        check(
            "resources/read",
            r#"{"resultType":"input_required","_meta":{}}"#,
            r#"{"resultType":"input_required","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}}"#,
        );
    }

    #[test]
    fn what_is_no_object_is_left_alone() {
        check("tools/call", "null", "null");
    }
}
