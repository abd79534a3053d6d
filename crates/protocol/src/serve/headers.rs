//! HTTP headers that repeat values of the body, so that proxies can route without parsing it.
//!
//! A value that is not plain ASCII is encoded as `=?base64?…?=`. A request whose headers do not
//! match its body is rejected, because a proxy may have made a decision based on the headers.

#[cfg(feature = "serve-http")]
use http::HeaderMap;
use http::{HeaderName, HeaderValue};

#[cfg(feature = "serve-http")]
use crate::Json;
use crate::envelope::{RpcError, code};
use crate::era::header_text;
#[cfg(feature = "serve-http")]
use crate::era::naming_parameter;

/// The prefix of headers that repeat arguments of a tool.
const PARAM: &str = "mcp-param-";

/// The `Mcp-Param-*` headers of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParamHeaders(Vec<(HeaderName, HeaderValue)>);

/// The value of a header cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is not valid Base64 of UTF-8 text")]
pub struct MalformedHeader;

impl ParamHeaders {
    #[cfg(feature = "serve-http")]
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let is_param = |name: &HeaderName| name.as_str().starts_with(PARAM);
        let found = headers.iter().filter(|(name, _)| is_param(name));
        Self(found.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Returns the decoded value of `Mcp-Param-{name}`; `None` if there is no such header.
    pub fn get(&self, name: &str) -> Option<Result<String, MalformedHeader>> {
        let is_meant = |header: &HeaderName| {
            header.as_str().strip_prefix(PARAM).is_some_and(|it| it.eq_ignore_ascii_case(name))
        };
        let found = self.0.iter().find(|(header, _)| is_meant(header));
        found.map(|(_, value)| header_text(value).ok_or(MalformedHeader))
    }

    /// Iterates over all of them, not decoded, for forwarding.
    pub fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Tells whether there are no such headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Creates the error for a header that does not match the body.
pub fn header_mismatch(what: &str) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {what}"))
}

/// Checks that `Mcp-Method` and `Mcp-Name` match the body.
#[cfg(feature = "serve-http")]
pub(crate) fn check_headers_match_body(
    headers: &HeaderMap,
    method: &str,
    params: Option<&Json>,
) -> Result<(), RpcError> {
    let found = headers.get("mcp-method").and_then(header_text);
    if found.as_deref() != Some(method) {
        return Err(header_mismatch("Mcp-Method does not match the method"));
    }
    let Some(key) = naming_parameter(method) else { return Ok(()) };
    let name = params.and_then(|params| params.get(key)?.to_text());
    let header = headers.get("mcp-name");
    let agrees = match (header, name) {
        (Some(header), Some(name)) => header_text(header) == Some(name),
        // A request without a name is invalid, but not because of its headers.
        (None, None) => true,
        _ => false,
    };
    if agrees { Ok(()) } else { Err(header_mismatch(&format!("Mcp-Name does not match {key}"))) }
}

#[cfg(test)]
#[cfg(feature = "serve-http")]
mod tests {
    use super::*;

    fn check(header: &str, expected: Option<&str>) {
        let value = HeaderValue::from_str(header).unwrap();
        assert_eq!(header_text(&value).as_deref(), expected, "{header}");
    }

    #[test]
    fn only_base64_values_are_decoded() {
        check("=?base64?SGVsbG8=?=", Some("Hello"));
        check("=?base64?w6k=?=", Some("é"));
        check("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8="));
        check("SGVsbG8=", Some("SGVsbG8="));
        check("  x  ", Some("x"));
    }

    #[test]
    fn invalid_base64_values_are_rejected() {
        check("=?base64?SGVsbG8?=", None);
        check("=?base64?SGVs!!!bG8=?=", None);
        check("=?base64?/w==?=", None);
    }

    #[test]
    fn method_and_name_headers_must_match_the_body() {
        let params = r#"{"name":"é"}"#.parse().unwrap();
        let check = |method: &str, name: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert("mcp-method", method.parse().unwrap());
            if let Some(name) = name {
                headers.insert("mcp-name", name.parse().unwrap());
            }
            check_headers_match_body(&headers, "tools/call", Some(&params)).is_ok()
        };
        assert!(check("tools/call", Some("=?base64?w6k=?=")));
        assert!(!check("TOOLS/CALL", Some("=?base64?w6k=?=")));
        assert!(!check("tools/call", Some("e")));
        assert!(!check("tools/call", None));
    }

    #[test]
    fn param_headers_are_found_by_name() {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-param-city", "=?base64?S8O2bG4=?=".parse().unwrap());
        headers.insert("authorization", "secret".parse().unwrap());
        let headers = ParamHeaders::of(&headers);
        assert_eq!(headers.get("City"), Some(Ok("Köln".to_owned())));
        assert_eq!(headers.get("authorization"), None);
        assert_eq!(headers.iter().count(), 1);
    }
}
