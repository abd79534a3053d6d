//! The message loop of a scripted server: reads lines, dispatches requests, writes responses.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::modern::Subscription;
use super::{ActorLog, Script, resources_and_prompts};

/// Serves on stdin and stdout until the input ends.
pub fn run(folder: &Path) -> ExitCode {
    let script = Script::read(folder);
    let mut actor = Actor {
        folder: folder.to_path_buf(),
        script,
        log: ActorLog::new(folder),
        input: io::stdin().lock().lines(),
        output: io::stdout().lock(),
        subscriptions: Vec::new(),
        late_subscription: None,
        has_required_urls: false,
    };
    // Held until this process ends.
    let _alive = actor.log.lock_own_file();
    actor.log.append("starts", &std::process::id().to_string());
    if !actor.script.stderr.is_empty() {
        // The pipe may be closed.
        drop(writeln!(io::stderr(), "{}", actor.script.stderr));
    }
    if let Some(code) = actor.script.exit {
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    while let Some(message) = actor.next_message() {
        if let Err(code) = actor.handle(&message) {
            return code;
        }
    }
    ExitCode::SUCCESS
}

pub(super) struct Actor {
    folder: PathBuf,
    pub(super) script: Script,
    pub(super) log: ActorLog,
    input: io::Lines<io::StdinLock<'static>>,
    output: io::StdoutLock<'static>,
    /// The open subscriptions of the modern era.
    pub(super) subscriptions: Vec<Subscription>,
    /// The id and parameters of a subscription that opens once the tools have been listed.
    pub(super) late_subscription: Option<(Value, Value)>,
    /// Whether it has rejected a call until URL elicitations are complete.
    pub(super) has_required_urls: bool,
}

impl Actor {
    /// Reads the next message; `None` at the end of the input.
    pub(super) fn next_message(&mut self) -> Option<Value> {
        loop {
            let line = self.input.next()?.ok()?;
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(message);
            }
        }
    }

    /// Handles a message; an error is the code with which the process exits.
    pub(super) fn handle(&mut self, message: &Value) -> Result<(), ExitCode> {
        let method = message["method"].as_str().unwrap_or_default();
        let params = message.get("params").cloned().unwrap_or_default();
        let Some(id) = message.get("id") else {
            if method == "notifications/cancelled" {
                self.subscriptions.retain(|subscription| subscription.id != params["requestId"]);
            }
            return Ok(());
        };
        self.log.append("asked", method);
        let outcome = match method {
            "initialize" if !self.script.modern => {
                self.log.append("hellos", &params["capabilities"].to_string());
                sleep(Duration::from_millis(self.script.hello_delay_ms));
                match &self.script.hello_error {
                    Some(message) => Err(internal_error(message)),
                    None => Ok(self.initialize_result(&params)),
                }
            }
            "server/discover" if self.script.modern => {
                sleep(Duration::from_millis(self.script.hello_delay_ms));
                Ok(self.discover_result(&params))
            }
            "subscriptions/listen" if self.script.modern => {
                self.subscribe(id, &params);
                return Ok(());
            }
            "ping" if !self.script.modern => Ok(json!({})),
            "logging/setLevel" if !self.script.modern && !self.script.mute => {
                self.log.append("levels", params["level"].as_str().unwrap_or_default());
                Ok(json!({}))
            }
            "tools/list" => self.list_tools(),
            "tools/call" => return self.call(id, &params),
            method if self.script.extras > 0 => {
                resources_and_prompts::result(method, &params, self.script.extras)
            }
            _ => Err(method_not_found()),
        };
        self.respond(id, outcome);
        if method == "tools/list"
            && let Some((id, params)) = self.late_subscription.take()
        {
            self.script.listen_late = false;
            self.subscribe(&id, &params);
        }
        Ok(())
    }

    fn initialize_result(&self, params: &Value) -> Value {
        json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": self.capabilities(),
            "serverInfo": { "name": "actor", "version": "1" },
            "instructions": self.script.instructions,
        })
    }

    pub(super) fn capabilities(&self) -> Value {
        let with_extras =
            |capability: Value| if self.script.extras > 0 { capability } else { Value::Null };
        json!({
            "tools": { "listChanged": true },
            "resources": with_extras(json!({ "listChanged": true })),
            "prompts": with_extras(json!({ "listChanged": true })),
            "completions": with_extras(json!({})),
            "logging": if self.script.mute { Value::Null } else { json!({}) },
        })
    }

    fn list_tools(&mut self) -> Result<Value, Value> {
        sleep(Duration::from_millis(self.script.list_delay_ms));
        if let Some(message) = &self.script.list_error {
            return Err(internal_error(message));
        }
        let result = json!({ "tools": self.script.tool_definitions() });
        if let Some(tools) = self.script.after_list.take() {
            self.script.tools = tools;
            self.notify_list_changed("tools");
        }
        Ok(result)
    }

    /// Notifies of a changed list: in the modern era on subscriptions only.
    pub(super) fn notify_list_changed(&mut self, list: &str) {
        let method = format!("notifications/{list}/list_changed");
        if !self.script.modern {
            return self.send(&json!({ "jsonrpc": "2.0", "method": method }));
        }
        let subscriptions = self.subscriptions.iter();
        let messages: Vec<Value> =
            subscriptions.filter_map(|it| it.list_changed(list, &method)).collect();
        for message in messages {
            self.send(&message);
        }
    }

    pub(super) fn respond(&mut self, id: &Value, outcome: Result<Value, Value>) {
        let message = match outcome {
            Ok(mut result) => {
                if self.script.modern && result.get("resultType").is_none() {
                    result["resultType"] = "complete".into();
                }
                let mut message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                if let Some(trailer) = &self.script.trailer {
                    message["trailer"] = trailer.clone();
                }
                message
            }
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        };
        self.send(&message);
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.write_bytes(format!("{message}\n").as_bytes());
    }

    pub(super) fn write_bytes(&mut self, bytes: &[u8]) {
        // The client may have closed the pipe.
        drop(self.output.write_all(bytes).and_then(|()| self.output.flush()));
    }

    /// Saves the changed script for the next start.
    pub(super) fn save_script(&self) {
        self.script.write(&self.folder);
    }
}

/// Returns an internal error with this message.
pub(super) fn internal_error(message: &str) -> Value {
    json!({ "code": -32603, "message": message })
}

fn method_not_found() -> Value {
    json!({ "code": -32601, "message": "no such method" })
}
