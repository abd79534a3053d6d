//! Reads one message and writes its response, for both eras.
//!
//! A response has two parts: the part that is specific to the request is appended to the caller's
//! buffer, and a long text that exists already (a page of tools, a blob) is borrowed, so that it is
//! never copied. The transport appends the brace that closes the message.

use crate::catalog::ToolCatalog;
use crate::scan::{Members, string, value};

/// The longest text that `blob` returns.
const MAX_BLOB_BYTES: usize = 64 << 20;
/// One line of a blob. In JSON each line end is an escape, as in the text of a real file.
const LINE: &str =
    "The quick brown fox jumps over the lazy dog, then naps in the warm afternoon sun";
const DISCOVER: &str = concat!(
    r#"{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"#,
    r#""capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public","resultType":"complete","#,
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"wharf-echo","version":"0.1.0"}}}"#
);
/// The revisions with `initialize`, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The state of one client connection.
pub(crate) struct ClientSession<'c> {
    catalog: &'c ToolCatalog,
    blob: String,
    blob_bytes: Option<usize>,
}

/// The response to one message.
pub(crate) enum EchoResponse<'a> {
    /// The message was a notification or a response: nothing is sent.
    NoResponse,
    /// The response is the buffer, then this text, which is often empty.
    Reply(&'a str),
    /// The buffer holds an error: the method does not exist.
    UnknownMethod,
}

#[derive(Default)]
struct Request<'a> {
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    fn read(message: &'a [u8]) -> Self {
        let mut request = Self::default();
        for (key, rest) in Members::of(message) {
            match key {
                b"id" => request.id = Some(value(rest)),
                b"method" => request.method = string(rest),
                b"params" => request.params = Some(rest),
                _ => {}
            }
            if request.id.is_some() && request.method.is_some() && request.params.is_some() {
                break;
            }
        }
        request
    }

    fn param(&self, name: &str) -> Option<&'a [u8]> {
        member(self.params?, name)
    }
}

impl<'c> ClientSession<'c> {
    pub(crate) fn new(catalog: &'c ToolCatalog) -> Self {
        Self { catalog, blob: String::new(), blob_bytes: None }
    }

    /// Appends the first part of the response to `out` and returns the second.
    pub(crate) fn answer(&mut self, message: &[u8], out: &mut Vec<u8>) -> EchoResponse<'_> {
        let request = Request::read(message);
        let Some(id) = request.id else {
            if request.method.is_some() {
                return EchoResponse::NoResponse;
            }
            return error(out, b"null", -32700, "this is not a message");
        };
        match request.method {
            None => EchoResponse::NoResponse,
            Some(b"tools/call") => self.call(id, &request, out),
            Some(b"tools/list") => {
                match self.catalog.page(request.param("cursor").and_then(string)) {
                    Some(page) => borrowed_result(out, id, page),
                    None => error(out, id, -32602, "there is no such page"),
                }
            }
            Some(b"server/discover") => borrowed_result(out, id, DISCOVER),
            Some(b"initialize") => initialize(id, &request, out),
            Some(b"ping") => borrowed_result(out, id, "{}"),
            Some(_) => {
                error(out, id, -32601, "there is no such method");
                EchoResponse::UnknownMethod
            }
        }
    }

    fn call(&mut self, id: &[u8], request: &Request<'_>, out: &mut Vec<u8>) -> EchoResponse<'_> {
        let (mut name, mut arguments) = (None, None);
        for (key, rest) in request.params.map(Members::of).into_iter().flatten() {
            match key {
                b"name" => name = string(rest),
                b"arguments" => arguments = Some(rest),
                _ => {}
            }
            if name.is_some() && arguments.is_some() {
                break;
            }
        }
        let argument = |name| arguments.and_then(|arguments| member(arguments, name));
        match name {
            Some(b"echo") => match argument("text").map(value) {
                Some(text) if text.starts_with(b"\"") => text_result(out, id, text),
                _ => error(out, id, -32602, "`text` has to be a string"),
            },
            Some(b"blob") => {
                let bytes =
                    argument("bytes").and_then(|text| std::str::from_utf8(value(text)).ok());
                match bytes.and_then(|text| text.parse().ok()) {
                    Some(bytes) if bytes <= MAX_BLOB_BYTES => {
                        borrowed_result(out, id, self.blob(bytes))
                    }
                    _ => error(out, id, -32602, "`bytes` has to be a number up to 67108864"),
                }
            }
            Some(name) if self.catalog.has(name) => text_result(out, id, br#""done""#),
            _ => error(out, id, -32602, "there is no such tool"),
        }
    }

    /// Returns a result with `bytes` bytes of text; it is kept for calls with the same length.
    fn blob(&mut self, bytes: usize) -> &str {
        if self.blob_bytes != Some(bytes) {
            let mut text = String::with_capacity(bytes + bytes / LINE.len() + 128);
            text.push_str(r#"{"content":[{"type":"text","text":""#);
            for _ in 0..bytes / (LINE.len() + 1) {
                text.push_str(LINE);
                text.push_str("\\n");
            }
            text.push_str(&LINE[..bytes % (LINE.len() + 1)]);
            text.push_str(r#""}],"resultType":"complete"}"#);
            self.blob = text;
            self.blob_bytes = Some(bytes);
        }
        &self.blob
    }
}

fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    Members::of(object).find(|(key, _)| *key == name.as_bytes()).map(|(_, rest)| rest)
}

/// Starts the response and borrows the whole result.
fn borrowed_result<'a>(out: &mut Vec<u8>, id: &[u8], result: &'a str) -> EchoResponse<'a> {
    start_message(out, id);
    out.extend_from_slice(br#","result":"#);
    EchoResponse::Reply(result)
}

/// Writes a whole result with one text, which is given as a JSON string.
fn text_result(out: &mut Vec<u8>, id: &[u8], text: &[u8]) -> EchoResponse<'static> {
    start_message(out, id);
    out.extend_from_slice(br#","result":{"content":[{"type":"text","text":"#);
    out.extend_from_slice(text);
    out.extend_from_slice(br#"}],"resultType":"complete"}"#);
    EchoResponse::Reply("")
}

fn initialize(id: &[u8], request: &Request<'_>, out: &mut Vec<u8>) -> EchoResponse<'static> {
    let asked = request.param("protocolVersion").and_then(string);
    let version = LEGACY.into_iter().find(|known| asked == Some(known.as_bytes()));
    start_message(out, id);
    let result = format!(
        r#","result":{{"protocolVersion":"{}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"wharf-echo","version":"0.1.0"}}}}"#,
        version.unwrap_or(LEGACY[0])
    );
    out.extend_from_slice(result.as_bytes());
    EchoResponse::Reply("")
}

fn error(out: &mut Vec<u8>, id: &[u8], code: i32, message: &str) -> EchoResponse<'static> {
    start_message(out, id);
    let error = format!(r#","error":{{"code":{code},"message":"{message}"}}"#);
    out.extend_from_slice(error.as_bytes());
    EchoResponse::Reply("")
}

fn start_message(out: &mut Vec<u8>, id: &[u8]) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id);
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Answers one message; the response must be JSON.
    fn answer(message: &str) -> Value {
        let catalog = ToolCatalog::new(5, Some(3));
        let mut session = ClientSession::new(&catalog);
        let mut out = Vec::new();
        let tail = match session.answer(message.as_bytes(), &mut out) {
            EchoResponse::NoResponse => return Value::Null,
            EchoResponse::Reply(tail) => tail,
            EchoResponse::UnknownMethod => "",
        };
        let text = format!("{}{tail}}}", String::from_utf8(out).expect("UTF-8"));
        serde_json::from_str(&text).expect("JSON")
    }

    #[track_caller]
    fn check(message: &str, expected: &str) {
        assert_eq!(answer(message).to_string(), expected);
    }

    #[test]
    fn a_text_is_echoed_unchanged() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"name":"x"},"name":"echo","arguments":{"text":"a\"b\u00e9"}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a\"bé"}],"resultType":"complete"}}"#,
        );
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        check(
            r#"{"params":{"arguments":{"text":"a"},"name":"echo"},"method":"tools/call","id":"x","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"a"}],"resultType":"complete"}}"#,
        );
    }

    #[test]
    fn a_blob_has_the_length_that_was_asked_for() {
        for bytes in [0, 1, LINE.len(), LINE.len() + 1, 100_000] {
            let message = format!(
                r#"{{"id":1,"method":"tools/call","params":{{"name":"blob","arguments":{{"bytes":{bytes}}}}}}}"#
            );
            let answer = answer(&message);
            let text = answer["result"]["content"][0]["text"].as_str().expect("text");
            assert_eq!(text.len(), bytes);
        }
    }

    #[test]
    fn the_list_continues_at_the_cursor() {
        let first = answer(r#"{"id":1,"method":"tools/list","params":{}}"#);
        let second = answer(r#"{"id":1,"method":"tools/list","params":{"cursor":"1"}}"#);
        assert_eq!(first["result"]["nextCursor"], "1");
        assert_eq!(second["result"]["tools"].as_array().map(Vec::len), Some(2));
        assert_eq!(second["result"].get("nextCursor"), None);
    }

    #[test]
    fn the_first_request_of_both_eras_is_answered() {
        let modern = answer(r#"{"id":1,"method":"server/discover","params":{}}"#);
        assert_eq!(modern["result"]["supportedVersions"][0], "2026-07-28");
        for (requested, negotiated) in [("2025-03-26", "2025-03-26"), ("2030-01-01", "2025-11-25")]
        {
            let message = format!(
                r#"{{"id":1,"method":"initialize","params":{{"protocolVersion":"{requested}"}}}}"#
            );
            assert_eq!(answer(&message)["result"]["protocolVersion"], negotiated);
        }
    }

    #[test]
    fn notifications_and_responses_get_no_answer() {
        check(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "null");
        check(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#, "null");
    }

    #[test]
    fn invalid_messages_get_an_error() {
        let code = |message| answer(message)["error"]["code"].clone();
        assert_eq!(code("nonsense"), -32700);
        assert_eq!(code(r#"{"id":1,"method":"resources/list"}"#), -32601);
        assert_eq!(code(r#"{"id":1,"method":"tools/list","params":{"cursor":"9"}}"#), -32602);
        assert_eq!(code(r#"{"id":1,"method":"tools/call","params":{"name":"no"}}"#), -32602);
        assert_eq!(code(r#"{"id":1,"method":"tools/call","params":{"name":"echo"}}"#), -32602);
    }
}
