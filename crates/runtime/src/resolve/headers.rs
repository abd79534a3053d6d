//! Checks the headers of an entry, and encodes their values.
//!
//! Every value is marked as sensitive, so that debug output redacts it.

use http::{HeaderName, HeaderValue};
use wharf_config::{Secret, TokenType};

/// Headers that Wharf sets: for the connection, the body and the protocol. Another value would
/// break the connection, or use the session of another client.
const RESERVED: [&str; 20] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Why a header of an entry is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeaderError {
    #[error("not a valid header name")]
    Name,
    #[error("Wharf sets it itself")]
    Reserved,
    #[error("its value has characters that cannot be sent")]
    Value,
}

/// Parses the name of a header.
pub(super) fn name(text: &str) -> Result<HeaderName, HeaderError> {
    let name: HeaderName = text.trim().parse().map_err(|_| HeaderError::Name)?;
    let is_reserved = RESERVED.contains(&name.as_str()) || name.as_str().starts_with("mcp-param-");
    if is_reserved { Err(HeaderError::Reserved) } else { Ok(name) }
}

/// Encodes the value of a header, without surrounding white space.
pub(super) fn value(text: &Secret) -> Result<HeaderValue, HeaderError> {
    let value = HeaderValue::from_bytes(text.expose().trim().as_bytes());
    let mut value = value.map_err(|_| HeaderError::Value)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Encodes a token as the value of `Authorization`.
pub(super) fn bearer(token: &Secret) -> Result<HeaderValue, HeaderError> {
    authorization(TokenType::Bearer, token)
}

/// Encodes a token of a type as the value of `Authorization`.
pub(super) fn authorization(kind: TokenType, token: &Secret) -> Result<HeaderValue, HeaderError> {
    value(&Secret::new(format!("{} {}", kind.word(), token.expose().trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_and_reserved_header_names_are_rejected() {
        let check = |text: &str, expected: Result<&str, HeaderError>| {
            let found = name(text);
            assert_eq!(found.as_ref().map(HeaderName::as_str), expected.as_ref().copied());
        };
        check("Authorization", Ok("authorization"));
        check(" X-Api-Key ", Ok("x-api-key"));
        for bad in ["", "a b", "a:b", "a\r\nb", "ä", "a\0"] {
            check(bad, Err(HeaderError::Name));
        }
        for reserved in ["Host", "CONTENT-LENGTH", "Mcp-Session-Id", "mcp-param-x", "Accept"] {
            check(reserved, Err(HeaderError::Reserved));
        }
    }

    #[test]
    fn a_value_is_sensitive_and_cannot_start_another_header() {
        let sent = value(&Secret::new(" hunter2 \n")).unwrap();
        assert_eq!(sent, "hunter2");
        assert_eq!(format!("{sent:?}"), "Sensitive");
        assert_eq!(value(&Secret::new("käse")).unwrap().as_bytes(), "käse".as_bytes());
        for bad in ["a\r\nX-Evil: 1", "a\nb", "a\0b", "a\u{7f}"] {
            assert_eq!(value(&Secret::new(bad)), Err(HeaderError::Value), "{bad:?}");
        }
        assert_eq!(bearer(&Secret::new("hunter2\n")).unwrap(), "Bearer hunter2");
        assert_eq!(bearer(&Secret::new("a\nb")), Err(HeaderError::Value));
    }
}
