//! The correct responses of a server in both eras, as JSON text.
//!
//! A quirk changes one of these responses; the rest of the session is correct. The checks of what a
//! modern client must send are strict, so that the tests also find errors of our client.

use serde_json::Value;

use super::mode::QuirkEra;

/// The revision of the modern era.
pub(super) const MODERN_VERSION: &str = "2026-07-28";
/// The newest revision of the legacy era.
pub(super) const LATEST_LEGACY: &str = "2025-11-25";
const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LATEST_LEGACY];

const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The tool that returns its argument.
pub(super) const ECHO_TOOL: &str = r#"{"name":"echo","description":"Returns the text it is given.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#;
/// The tool that adds two numbers.
pub(super) const ADD_TOOL: &str = r#"{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}"#;
/// The `serverInfo`.
pub(super) const SERVER_INFO: &str = r#"{"name":"wharf-quirk","version":"1.0.0"}"#;

/// A message of the client: a request, or a notification if there is no id.
#[derive(Clone, Debug)]
pub(super) struct ClientMessage {
    /// The id as JSON text.
    pub(super) id: Option<String>,
    pub(super) method: String,
    pub(super) params: Value,
}

impl ClientMessage {
    /// Parses a request or notification; returns `None` for a response, which has no method.
    pub(super) fn parse(message: &Value) -> Option<Self> {
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

    /// Returns the capabilities of the client; a legacy client sends them once, in `initialize`.
    pub(super) fn client_capabilities(&self) -> Option<&Value> {
        if self.method == "initialize" {
            return self.params.get("capabilities");
        }
        self.params.get("_meta")?.get(CAPABILITIES_KEY)
    }

    /// Returns the version that a legacy server puts into its `initialize` result.
    fn negotiated_version(&self) -> &str {
        let requested = self.params.get("protocolVersion").and_then(Value::as_str);
        requested.filter(|version| LEGACY_VERSIONS.contains(version)).unwrap_or(LATEST_LEGACY)
    }
}

/// A JSON-RPC error.
#[derive(Clone, Debug)]
pub(super) struct JsonRpcError {
    pub(super) code: i64,
    pub(super) message: String,
    /// The `data`, as JSON text.
    pub(super) data: Option<String>,
}

impl JsonRpcError {
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

/// Returns the member of a response after the id: `"result":…` or `"error":…`.
pub(super) fn result_or_error(outcome: &Result<String, JsonRpcError>) -> String {
    match outcome {
        Ok(result) => format!("\"result\":{result}"),
        Err(error) => format!("\"error\":{}", error.json()),
    }
}

/// Returns a whole JSON-RPC response.
pub(super) fn rpc_response(id: &str, outcome: &Result<String, JsonRpcError>) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, result_or_error(outcome))
}

/// Returns a notification; `params` is JSON text.
pub(super) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Returns the correct result of a request.
pub(super) fn correct_result(
    era: QuirkEra,
    request: &ClientMessage,
) -> Result<String, JsonRpcError> {
    let template = match era {
        QuirkEra::Legacy => legacy_result(request)?,
        QuirkEra::Modern => modern_result(request)?,
    };
    Ok(add_modern_members(era, &request.method, &fill_placeholders(&template, request)))
}

fn legacy_result(request: &ClientMessage) -> Result<String, JsonRpcError> {
    Ok(match request.method.as_str() {
        "initialize" => r#"{"protocolVersion":"$VERSION","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":$INFO}"#.to_owned(),
        "ping" | "logging/setLevel" => "{}".to_owned(),
        _ => common_result(request)?,
    })
}

fn modern_result(request: &ClientMessage) -> Result<String, JsonRpcError> {
    if request.method == "initialize" {
        return Err(unsupported_version(&["2026-07-28"]));
    }
    let meta = request.params.get("_meta");
    let version = meta.and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
    if version != Some(MODERN_VERSION) {
        return Err(unsupported_version(&[MODERN_VERSION]));
    }
    if !request.client_capabilities().is_some_and(Value::is_object) {
        return Err(JsonRpcError::new(-32602, "the request has no client capabilities"));
    }
    Ok(match request.method.as_str() {
        "server/discover" => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":$INFO}}"#.to_owned(),
        _ => common_result(request)?,
    })
}

fn common_result(request: &ClientMessage) -> Result<String, JsonRpcError> {
    Ok(match request.method.as_str() {
        "tools/list" => r#"{"tools":[$TOOLS]}"#.to_owned(),
        "tools/call" => call_result(&request.params)?,
        method => return Err(JsonRpcError::new(-32601, &format!("Method not found: {method}"))),
    })
}

fn call_result(params: &Value) -> Result<String, JsonRpcError> {
    let number = |name| params.pointer(name).and_then(Value::as_f64).unwrap_or_default();
    match params.get("name").and_then(Value::as_str) {
        Some("echo") => Ok(r#"{"content":[{"type":"text","text":$TEXT}]}"#.to_owned()),
        Some("add") => {
            let sum = number("/arguments/a") + number("/arguments/b");
            Ok(format!(r#"{{"content":[{{"type":"text","text":"{sum}"}}]}}"#))
        }
        _ => Err(JsonRpcError::new(-32602, "Unknown tool")),
    }
}

/// Returns the error for an unsupported version.
pub(super) fn unsupported_version(supported: &[&str]) -> JsonRpcError {
    let supported = Value::from(supported.to_vec());
    JsonRpcError::new(-32022, "Unsupported protocol version")
        .with_data(format!(r#"{{"supported":{supported},"requested":"?"}}"#))
}

/// Replaces the `$` placeholders of a template by values of a request.
pub(super) fn fill_placeholders(template: &str, request: &ClientMessage) -> String {
    if !template.contains('$') {
        return template.to_owned();
    }
    let id = request.id();
    // The caller's text comes last, so that placeholders in it are not replaced.
    template
        .replace("$TOOLS", &format!("{ECHO_TOOL},{ADD_TOOL}"))
        .replace("$ECHO", ECHO_TOOL)
        .replace("$ADD", ADD_TOOL)
        .replace("$INFO", SERVER_INFO)
        .replace("$VERSION", request.negotiated_version())
        .replace("$IDTEXT", id.trim_matches('"'))
        .replace("$ID", id)
        .replace("$TOKEN", request.progress_token().as_deref().unwrap_or("\"none\""))
        .replace("$TEXT", &request.text())
}

/// Adds the required members of modern results, unless the result has a `resultType`.
pub(super) fn add_modern_members(era: QuirkEra, method: &str, result: &str) -> String {
    let Some(fields) = result.strip_prefix('{') else { return result.to_owned() };
    if era == QuirkEra::Legacy || fields.contains("\"resultType\"") {
        return result.to_owned();
    }
    let comma = if fields.starts_with('}') { "" } else { "," };
    let caching = match method {
        "tools/list" | "server/discover" => r#","ttlMs":0,"cacheScope":"private""#,
        _ => "",
    };
    format!(r#"{{"resultType":"complete"{caching}{comma}{fields}"#)
}
