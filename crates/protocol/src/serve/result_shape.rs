//! Completes a result with what the modern revision demands and the service left out.
//!
//! The result's own text is copied and never decoded: missing members are put in front of the first
//! one, and the server's name goes into `_meta`.

use crate::Json;
use crate::scan;
use crate::view::meta::key::SERVER_INFO;
use crate::view::meta::{with_members, with_meta};

/// What a result may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultShape {
    /// A legacy result goes as it is.
    AsIs,
    /// A modern result.
    Typed,
    /// A modern result that must say how long it may be kept.
    Cacheable,
}

impl ResultShape {
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
        let [kind, ttl, scope, meta] =
            scan::find(result.as_str(), ["resultType", "ttlMs", "cacheScope", "_meta"]);
        let new_meta = format!(r#"{{"{SERVER_INFO}":{}}}"#, info.as_str());
        let mut missing = Vec::new();
        if kind.is_none() {
            missing.push(("resultType", r#""complete""#));
        }
        // Only a finished result may be kept; one that asks for input says nothing about caching.
        let is_final = kind.is_none_or(|kind| kind == r#""complete""#);
        if self == Self::Cacheable && is_final {
            missing.extend(ttl.is_none().then_some(("ttlMs", "0")));
            missing.extend(scope.is_none().then_some(("cacheScope", r#""private""#)));
        }
        missing.extend(meta.is_none().then_some(("_meta", &*new_meta)));
        let completed = with_members(result.as_str(), &missing);
        if meta.is_some_and(lacks_server_info) {
            return with_meta(Some(&completed), &[(SERVER_INFO, info.as_str())]);
        }
        completed
    }
}

fn lacks_server_info(meta: &str) -> bool {
    meta.starts_with('{') && scan::member(meta, SERVER_INFO).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, result: &str, expected: &str) {
        let info = Json::parse(r#"{"name":"n","version":"1"}"#).unwrap();
        let found = ResultShape::of_modern(method).complete(result.parse().unwrap(), &info);
        assert_eq!(found.as_str().parse::<Json>().unwrap().as_str(), expected, "{result}");
    }

    #[test]
    fn missing_members_of_a_modern_result_are_added_first() {
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
    fn lists_get_cache_hints_that_forbid_caching() {
        check(
            "tools/list",
            r#"{"_meta":{"a":1},"tools":[]}"#,
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"},"a":1},"tools":[]}"#,
        );
    }

    #[test]
    fn members_set_by_the_service_are_not_changed() {
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
    fn a_result_that_is_not_an_object_is_not_changed() {
        check("tools/call", "null", "null");
    }
}
