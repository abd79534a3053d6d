//! Adds the members to a result that the modern revision requires and the service left out.
//!
//! The text of the result is copied and never decoded: missing members are added before the first
//! one, and the server info is added to `_meta`.

use crate::Json;
use crate::scan;
use crate::view::meta::key::SERVER_INFO;
use crate::view::meta::{with_members, with_meta};

/// The required members of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultShape {
    /// A legacy result: sent unchanged.
    AsIs,
    /// A modern result: needs a type and the server info.
    Typed,
    /// A modern result that also needs cache hints.
    Cacheable,
}

impl ResultShape {
    /// Returns the required members of the modern result of `method`.
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

    /// Adds the missing members to `result`; `info` is the server info.
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
        // Only a complete result may be cached; an `input_required` result has no cache hints.
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
