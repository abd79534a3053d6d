//! Renders requests, and finds the id, the error and the cursor in a response.
//!
//! A request is rendered once; only its id changes from call to call.

use std::io::{self, Write as _};

/// The metadata that the protocol requires in every request.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"wharf-bare","version":"0.1.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);
/// How far from either end of a response the id or the cursor may be.
const EDGE: usize = 256;

/// A request without its id.
pub(crate) struct Request {
    /// The HTTP headers that repeat the method and the name of the tool.
    pub(crate) headers: String,
    after_id: String,
}

impl Request {
    pub(crate) fn discover() -> Self {
        Self::new("server/discover", None, "")
    }

    pub(crate) fn list(cursor: Option<&str>) -> Self {
        let cursor = cursor.map(|cursor| format!(r#""cursor":"{cursor}","#));
        Self::new("tools/list", None, &cursor.unwrap_or_default())
    }

    pub(crate) fn echo(text: &str) -> Self {
        let params = format!(r#""name":"echo","arguments":{{"text":"{text}"}},"#);
        Self::new("tools/call", Some("echo"), &params)
    }

    pub(crate) fn blob(bytes: usize) -> Self {
        let params = format!(r#""name":"blob","arguments":{{"bytes":{bytes}}},"#);
        Self::new("tools/call", Some("blob"), &params)
    }

    fn new(method: &str, tool: Option<&str>, params: &str) -> Self {
        let name = tool.map(|tool| format!("Mcp-Name: {tool}\r\n")).unwrap_or_default();
        Self {
            headers: format!("Mcp-Method: {method}\r\n{name}"),
            after_id: format!(r#","method":"{method}","params":{{{params}{META}}}}}"#),
        }
    }

    /// Appends the request with this id.
    pub(crate) fn write(&self, id: u64, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        write!(out, "{id}")?;
        out.extend_from_slice(self.after_id.as_bytes());
        Ok(())
    }
}

/// Returns the id of a response; a notification has none.
pub(crate) fn id_of(answer: &[u8]) -> Option<u64> {
    let digits = find_near_ends(answer, br#""id":"#)?;
    let mut id = None;
    for digit in digits.iter().take_while(|byte| byte.is_ascii_digit()) {
        id = Some(id.unwrap_or(0) * 10 + u64::from(digit - b'0'));
    }
    id
}

/// Fails if the response is an error.
pub(crate) fn fail_on_error(answer: &[u8]) -> io::Result<()> {
    let start = &answer[..answer.len().min(64)];
    if find(start, br#""error":"#).is_none() {
        return Ok(());
    }
    Err(io::Error::other(format!("the server answered {}", String::from_utf8_lossy(answer).trim())))
}

/// Returns the cursor of the next page.
pub(crate) fn next_cursor(page: &[u8]) -> Option<&str> {
    let rest = find_near_ends(page, br#""nextCursor":""#)?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Counts the tools of a page. It is slow, so it runs after the time was taken.
pub(crate) fn count_tools(page: &[u8]) -> usize {
    String::from_utf8_lossy(page).matches(r#""inputSchema":"#).count()
}

/// Returns what follows the key, which is searched near the start, then near the end.
fn find_near_ends<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let found = find(&text[..text.len().min(EDGE)], key).or_else(|| {
        let from = text.len().saturating_sub(EDGE);
        Some(from + find(&text[from..], key)?)
    });
    Some(&text[found? + key.len()..])
}

fn find(text: &[u8], key: &[u8]) -> Option<usize> {
    text.windows(key.len()).position(|window| window == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_valid_and_carries_its_metadata() {
        let mut out = Vec::new();
        Request::echo("abc").write(17, &mut out).expect("written");
        let message: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(message["id"], 17);
        assert_eq!(message["params"]["arguments"]["text"], "abc");
        let meta = &message["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    }

    #[test]
    fn the_id_is_found_at_either_end() {
        let long = "x".repeat(1000);
        assert_eq!(id_of(br#"{"jsonrpc":"2.0","id":12,"result":{}}"#), Some(12));
        assert_eq!(id_of(format!(r#"{{"result":"{long}","id":345}}"#).as_bytes()), Some(345));
        assert_eq!(id_of(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#), None);
        assert_eq!(id_of(b""), None);
    }

    #[test]
    fn the_cursor_is_found_after_the_tools() {
        let tools = "x".repeat(1000);
        let page = format!(r#"{{"tools":["{tools}"],"nextCursor":"3","ttlMs":0}}"#);
        assert_eq!(next_cursor(page.as_bytes()), Some("3"));
        assert_eq!(next_cursor(br#"{"tools":[]}"#), None);
    }

    #[test]
    fn an_error_response_is_not_a_result() {
        let error = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;
        assert!(fail_on_error(error).is_err());
        assert!(fail_on_error(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).is_ok());
    }
}
