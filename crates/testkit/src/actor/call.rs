//! What a call does to the actor: it dies, waits, changes or asks back, as its arguments say.
//!
//! `die` names the moment of its death, `sleepMs` how long it takes, `tools` and `extras` what it
//! has from then on, `fail` and `refuse` (an error message) how it ends, `log` what it logs,
//! `notify` (a method) what it tells besides. `ask` (a method and its parameters) makes it ask the
//! client before it answers with the client's reply; `takeBack` makes it change its mind about
//! that. `pages` (their names) have to be visited first: it refuses the first such call, or with
//! `isStubborn` all, and says at once that they were visited.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::Script;
use super::play::{Actor, refusal};

/// The id of its own questions.
const QUESTION: &str = "question";

/// What has to come back with the answers of a modern client.
const STATE: &str = "asked once";

impl Actor {
    pub(super) fn call(&mut self, id: &Value, params: &Value) -> Result<(), ExitCode> {
        let arguments = &params["arguments"];
        self.note("metas", &params["_meta"].to_string());
        let die = arguments["die"].as_str().unwrap_or_default();
        if die == "after-read" {
            return Err(ExitCode::FAILURE);
        }
        if let Some(pages) = arguments["pages"].as_array()
            && (!self.has_refused || arguments["isStubborn"] == true)
        {
            self.has_refused = true;
            self.send_to(pages, id);
            return Ok(());
        }
        let mut text = arguments["text"].as_str().unwrap_or("done").to_owned();
        if arguments["ask"].is_object() {
            match self.ask(id, params)? {
                Some(reply) => text = reply,
                None => return Ok(()),
            }
        }
        sleep(Duration::from_millis(arguments["sleepMs"].as_u64().unwrap_or_default()));
        self.note("effects", &text);
        self.become_other(arguments);
        match die {
            "after-effect" => return Err(ExitCode::FAILURE),
            "mid-reply" => {
                let half = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[");
                self.write(half.as_bytes());
                return Err(ExitCode::FAILURE);
            }
            _ => {}
        }
        if let Some(line) = arguments["log"].as_str() {
            let params = json!({ "level": "info", "data": line });
            let method = "notifications/message";
            self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
        if let Some(method) = arguments["notify"].as_str() {
            self.say(&json!({ "jsonrpc": "2.0", "method": method }));
        }
        if let Some(message) = arguments["refuse"].as_str() {
            self.answer(id, Err(refusal(message)));
            return Ok(());
        }
        let is_error = arguments["fail"].as_bool().unwrap_or_default();
        let content = json!([{ "type": "text", "text": text }]);
        self.answer(id, Ok(json!({ "content": content, "isError": is_error })));
        // The next call is in the pipe at best: nobody reads it any more.
        if die == "after-reply" { Err(ExitCode::FAILURE) } else { Ok(()) }
    }

    /// Refuses a call until pages are visited.
    fn send_to(&mut self, pages: &[Value], id: &Value) {
        let page = |name: &Value| {
            let url = "https://harbour.example/sign-in";
            json!({ "mode": "url", "message": "Which berth?", "url": url, "elicitationId": name })
        };
        let data = json!({ "elicitations": pages.iter().map(page).collect::<Vec<_>>() });
        let error = json!({ "code": -32042, "message": "visit a page first", "data": data });
        self.answer(id, Err(error));
        let method = "notifications/elicitation/complete";
        for name in pages {
            let params = json!({ "elicitationId": name });
            self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
    }

    fn become_other(&mut self, arguments: &Value) {
        if let Some(tools) = arguments["tools"].as_array() {
            let names = tools.iter().filter_map(Value::as_str);
            self.script =
                Script { tools: names.map(str::to_owned).collect(), ..self.script.clone() };
            self.keep();
            self.changed("tools");
        }
        if let Some(extras) = arguments["extras"].as_u64() {
            self.script.extras = usize::try_from(extras).unwrap_or_default();
            self.keep();
            self.changed("resources");
            self.changed("prompts");
        }
    }

    /// Asks the client, and returns its reply as text; none if the client has to come again.
    fn ask(&mut self, id: &Value, params: &Value) -> Result<Option<String>, ExitCode> {
        let question = &params["arguments"]["ask"];
        if self.script.modern {
            return Ok(self.ask_in_result(id, params, question));
        }
        let mut message = question.clone();
        message["jsonrpc"] = "2.0".into();
        message["id"] = QUESTION.into();
        self.say(&message);
        if question["takeBack"] == true {
            let back = json!({ "requestId": QUESTION });
            let method = "notifications/cancelled";
            self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": back }));
            return Ok(Some("taken back".to_owned()));
        }
        while let Some(message) = self.next() {
            if message["id"] == QUESTION && message.get("method").is_none() {
                return Ok(Some(message.get("result").unwrap_or(&message["error"]).to_string()));
            }
            self.hear(&message)?;
        }
        Err(ExitCode::SUCCESS)
    }

    fn ask_in_result(&mut self, id: &Value, params: &Value, question: &Value) -> Option<String> {
        let Some(answers) = params.get("inputResponses") else {
            let ask = json!({ "method": question["method"], "params": question["params"] });
            let asked = json!({
                "resultType": "input_required",
                "inputRequests": { QUESTION: ask },
                "requestState": STATE,
            });
            self.answer(id, Ok(asked));
            return None;
        };
        let is_ours = params["requestState"] == STATE;
        Some(if is_ours { answers[QUESTION].to_string() } else { "the state is lost".to_owned() })
    }
}
