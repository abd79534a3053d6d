//! What a well-behaved server answers, in both eras, as JSON text.
//!
//! A quirk changes one of these answers; the rest of the conversation is right. The core is strict
//! about what a modern client has to send, so that a test also notices our own mistakes.

use serde_json::Value;

use super::mode::Era;

/// The revision of the modern era.
pub(super) const MODERN_VERSION: &str = "2026-07-28";
/// The newest revision of the legacy era.
pub(super) const LATEST_LEGACY: &str = "2025-11-25";
const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LATEST_LEGACY];

const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The tool that returns its argument.
pub(super) const ECHO: &str = r#"{"name":"echo","description":"Returns the text it is given.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#;
/// The tool that adds two numbers.
pub(super) const ADD: &str = r#"{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}"#;
/// How the server introduces itself.
pub(super) const INFO: &str = r#"{"name":"wharf-quirk","version":"1.0.0"}"#;

/// What a client sent: a request, or a notification if there is no id.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The id as JSON text.
    pub(super) id: Option<String>,
    pub(super) method: String,
    pub(super) params: Value,
}

impl Request {
    /// Reads a message that has a method; a reply has none.
    pub(super) fn of(message: &Value) -> Option<Self> {
        Some(Self {
            id: message.get("id").map(Value::to_string),
            method: message.get("method")?.as_str()?.to_owned(),
            params: message.get("params").cloned().unwrap_or(Value::Null),
        })
    }

    /// Returns the id as JSON text.
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or("null")
    }

    /// Returns the argument `text` of a call as JSON text.
    pub(super) fn text(&self) -> String {
        self.params.pointer("/arguments/text").unwrap_or(&Value::from("")).to_string()
    }

    /// Returns the progress token as JSON text.
    pub(super) fn progress_token(&self) -> Option<String> {
        self.params.pointer("/_meta/progressToken").map(Value::to_string)
    }

    /// Returns what the client says it can do; the legacy era says it once, in `initialize`.
    pub(super) fn client_capabilities(&self) -> Option<&Value> {
        if self.method == "initialize" {
            return self.params.get("capabilities");
        }
        self.params.get("_meta")?.get(CAPABILITIES_KEY)
    }

    /// Returns the version that a legacy server answers with.
    fn version(&self) -> &str {
        let asked = self.params.get("protocolVersion").and_then(Value::as_str);
        asked.filter(|asked| LEGACY_VERSIONS.contains(asked)).unwrap_or(LATEST_LEGACY)
    }
}

/// A refusal.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    /// The `data`, as JSON text.
    pub(super) data: Option<String>,
}

impl Refusal {
    pub(super) fn new(code: i64, message: &str) -> Self {
        Self { code, message: message.to_owned(), data: None }
    }

    fn with_data(mut self, data: String) -> Self {
        self.data = Some(data);
        self
    }

    fn json(&self) -> String {
        let message = Value::from(self.message.as_str());
        let data = self.data.as_ref().map(|data| format!(",\"data\":{data}")).unwrap_or_default();
        format!(r#"{{"code":{},"message":{message}{data}}}"#, self.code)
    }
}

/// Returns the part of a reply after the id: `"result":…` or `"error":…`.
pub(super) fn body(answer: &Result<String, Refusal>) -> String {
    match answer {
        Ok(result) => format!("\"result\":{result}"),
        Err(refusal) => format!("\"error\":{}", refusal.json()),
    }
}

/// Returns a whole reply.
pub(super) fn reply(id: &str, answer: &Result<String, Refusal>) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, body(answer))
}

/// Returns a notification; `params` is JSON text.
pub(super) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Returns the right answer to a request.
pub(super) fn answer(era: Era, request: &Request) -> Result<String, Refusal> {
    let template = match era {
        Era::Legacy => legacy(request)?,
        Era::Modern => modern(request)?,
    };
    Ok(dress(era, &request.method, &fill(&template, request)))
}

fn legacy(request: &Request) -> Result<String, Refusal> {
    Ok(match request.method.as_str() {
        "initialize" => r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":$INFO}"#.to_owned(),
        "ping" | "logging/setLevel" => "{}".to_owned(),
        _ => in_either_era(request)?,
    })
}

fn modern(request: &Request) -> Result<String, Refusal> {
    if request.method == "initialize" {
        return Err(unsupported_version(&["2026-07-28"]));
    }
    let meta = request.params.get("_meta");
    let version = meta.and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
    if version != Some(MODERN_VERSION) {
        return Err(unsupported_version(&[MODERN_VERSION]));
    }
    if !request.client_capabilities().is_some_and(Value::is_object) {
        return Err(Refusal::new(-32602, "the request does not say what the client can do"));
    }
    Ok(match request.method.as_str() {
        "server/discover" => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":$INFO}}"#.to_owned(),
        _ => in_either_era(request)?,
    })
}

fn in_either_era(request: &Request) -> Result<String, Refusal> {
    Ok(match request.method.as_str() {
        "tools/list" => r#"{"tools":[$TOOLS]}"#.to_owned(),
        "tools/call" => called(&request.params)?,
        method => return Err(Refusal::new(-32601, &format!("Method not found: {method}"))),
    })
}

fn called(params: &Value) -> Result<String, Refusal> {
    let number = |name| params.pointer(name).and_then(Value::as_f64).unwrap_or_default();
    match params.get("name").and_then(Value::as_str) {
        Some("echo") => Ok(r#"{"content":[{"type":"text","text":$TEXT}]}"#.to_owned()),
        Some("add") => {
            let sum = number("/arguments/a") + number("/arguments/b");
            Ok(format!(r#"{{"content":[{{"type":"text","text":"{sum}"}}]}}"#))
        }
        _ => Err(Refusal::new(-32602, "Unknown tool")),
    }
}

/// Returns the refusal of a version.
pub(super) fn unsupported_version(supported: &[&str]) -> Refusal {
    let supported = Value::from(supported.to_vec());
    Refusal::new(-32022, "Unsupported protocol version")
        .with_data(format!(r#"{{"supported":{supported},"requested":"?"}}"#))
}

/// Puts the values of a request into a text with `$` names.
pub(super) fn fill(template: &str, request: &Request) -> String {
    if !template.contains('$') {
        return template.to_owned();
    }
    let id = request.id();
    // The text of the caller comes last: what it contains is not looked at again.
    template
        .replace("$TOOLS", &format!("{ECHO},{ADD}"))
        .replace("$ECHO", ECHO)
        .replace("$ADD", ADD)
        .replace("$INFO", INFO)
        .replace("$VERSION", request.version())
        .replace("$IDTEXT", id.trim_matches('"'))
        .replace("$ID", id)
        .replace("$TOKEN", request.progress_token().as_deref().unwrap_or("\"none\""))
        .replace("$TEXT", &request.text())
}

/// Adds what every modern result has to a result that says nothing about it.
pub(super) fn dress(era: Era, method: &str, result: &str) -> String {
    let Some(fields) = result.strip_prefix('{') else { return result.to_owned() };
    if era == Era::Legacy || fields.contains("\"resultType\"") {
        return result.to_owned();
    }
    let comma = if fields.starts_with('}') { "" } else { "," };
    let caching = match method {
        "tools/list" | "server/discover" => r#","ttlMs":0,"cacheScope":"private""#,
        _ => "",
    };
    format!(r#"{{"resultType":"complete"{caching}{comma}{fields}"#)
}
