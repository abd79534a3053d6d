//! The calls of a scripted server: the arguments say what it does before and after the response.
//!
//! `die` is the point where it exits, and `sleepMs` a delay. `tools` and `extras` change its lists.
//! `fail` and `refuse` (an error message) make the call fail. `log` is a line that it logs, and
//! `notify` the method of a notification. `ask` (a method and its parameters) is a request to the
//! client, whose response becomes the text; with `takeBack` it cancels that request. `pages` are
//! the ids of URL elicitations that the call requires: it rejects the first such call, or with
//! `isStubborn` every such call, and notifies at once that the elicitations are complete.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::Script;
use super::message_loop::{Actor, internal_error};

/// The id of its own requests.
const REQUEST_ID: &str = "question";

/// The state that a modern client must send back with its responses.
const REQUEST_STATE: &str = "asked once";

impl Actor {
    pub(super) fn call(&mut self, id: &Value, params: &Value) -> Result<(), ExitCode> {
        let arguments = &params["arguments"];
        self.log.append("metas", &params["_meta"].to_string());
        let die = arguments["die"].as_str().unwrap_or_default();
        if die == "after-read" {
            return Err(ExitCode::FAILURE);
        }
        if let Some(pages) = arguments["pages"].as_array()
            && (!self.has_required_urls || arguments["isStubborn"] == true)
        {
            self.has_required_urls = true;
            self.require_urls(pages, id);
            return Ok(());
        }
        let mut text = arguments["text"].as_str().unwrap_or("done").to_owned();
        if arguments["ask"].is_object() {
            match self.request(id, params)? {
                Some(response) => text = response,
                None => return Ok(()),
            }
        }
        sleep(Duration::from_millis(arguments["sleepMs"].as_u64().unwrap_or_default()));
        self.log.append("effects", &text);
        self.change_lists(arguments);
        match die {
            "after-effect" => return Err(ExitCode::FAILURE),
            "mid-reply" => {
                let half = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[");
                self.write_bytes(half.as_bytes());
                return Err(ExitCode::FAILURE);
            }
            _ => {}
        }
        if let Some(line) = arguments["log"].as_str() {
            let params = json!({ "level": "info", "data": line });
            let method = "notifications/message";
            self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
        if let Some(method) = arguments["notify"].as_str() {
            self.send(&json!({ "jsonrpc": "2.0", "method": method }));
        }
        if let Some(message) = arguments["refuse"].as_str() {
            self.respond(id, Err(internal_error(message)));
            return Ok(());
        }
        let is_error = arguments["fail"].as_bool().unwrap_or_default();
        let content = json!([{ "type": "text", "text": text }]);
        self.respond(id, Ok(json!({ "content": content, "isError": is_error })));
        // The next call may be in the pipe, but it is never read.
        if die == "after-reply" { Err(ExitCode::FAILURE) } else { Ok(()) }
    }

    /// Rejects a call until URL elicitations are complete, and notifies that they are.
    fn require_urls(&mut self, pages: &[Value], id: &Value) {
        let page = |name: &Value| {
            let url = "https://harbour.example/sign-in";
            json!({ "mode": "url", "message": "Which berth?", "url": url, "elicitationId": name })
        };
        let data = json!({ "elicitations": pages.iter().map(page).collect::<Vec<_>>() });
        let error = json!({ "code": -32042, "message": "visit a page first", "data": data });
        self.respond(id, Err(error));
        let method = "notifications/elicitation/complete";
        for name in pages {
            let params = json!({ "elicitationId": name });
            self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
    }

    fn change_lists(&mut self, arguments: &Value) {
        if let Some(tools) = arguments["tools"].as_array() {
            let names = tools.iter().filter_map(Value::as_str);
            self.script =
                Script { tools: names.map(str::to_owned).collect(), ..self.script.clone() };
            self.save_script();
            self.notify_list_changed("tools");
        }
        if let Some(extras) = arguments["extras"].as_u64() {
            self.script.extras = usize::try_from(extras).unwrap_or_default();
            self.save_script();
            self.notify_list_changed("resources");
            self.notify_list_changed("prompts");
        }
    }

    /// Sends a request to the client and returns its response as text; `None` if a modern client
    /// must call again.
    fn request(&mut self, id: &Value, params: &Value) -> Result<Option<String>, ExitCode> {
        let request = &params["arguments"]["ask"];
        if self.script.modern {
            return Ok(self.request_in_result(id, params, request));
        }
        let mut message = request.clone();
        message["jsonrpc"] = "2.0".into();
        message["id"] = REQUEST_ID.into();
        self.send(&message);
        if request["takeBack"] == true {
            let cancelled = json!({ "requestId": REQUEST_ID });
            let method = "notifications/cancelled";
            self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": cancelled }));
            return Ok(Some("taken back".to_owned()));
        }
        while let Some(message) = self.next_message() {
            if message["id"] == REQUEST_ID && message.get("method").is_none() {
                return Ok(Some(message.get("result").unwrap_or(&message["error"]).to_string()));
            }
            self.handle(&message)?;
        }
        Err(ExitCode::SUCCESS)
    }

    fn request_in_result(&mut self, id: &Value, params: &Value, request: &Value) -> Option<String> {
        let Some(responses) = params.get("inputResponses") else {
            let request = json!({ "method": request["method"], "params": request["params"] });
            let result = json!({
                "resultType": "input_required",
                "inputRequests": { REQUEST_ID: request },
                "requestState": REQUEST_STATE,
            });
            self.respond(id, Ok(result));
            return None;
        };
        let is_ours = params["requestState"] == REQUEST_STATE;
        Some(if is_ours {
            responses[REQUEST_ID].to_string()
        } else {
            "the state is lost".to_owned()
        })
    }
}
