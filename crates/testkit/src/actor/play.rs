//! The actor on its stage: reads lines, answers them, dies where it is told to.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::Script;
use super::extras::extra;
use super::modern::Listener;

/// Speaks on the standard streams until its input ends.
pub fn play(folder: &Path) -> ExitCode {
    let script = Script::read(folder);
    let mut actor = Actor {
        folder: folder.to_path_buf(),
        script,
        input: io::stdin().lock().lines(),
        output: io::stdout().lock(),
        listeners: Vec::new(),
        late: None,
        has_refused: false,
    };
    actor.note("starts", &std::process::id().to_string());
    if !actor.script.stderr.is_empty() {
        // Whether anybody reads it is not for the actor to say.
        drop(writeln!(io::stderr(), "{}", actor.script.stderr));
    }
    if let Some(code) = actor.script.exit {
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    while let Some(message) = actor.next() {
        if let Err(code) = actor.hear(&message) {
            return code;
        }
    }
    ExitCode::SUCCESS
}

pub(super) struct Actor {
    folder: PathBuf,
    pub(super) script: Script,
    input: io::Lines<io::StdinLock<'static>>,
    output: io::StdoutLock<'static>,
    /// Who is told of changes, in the modern era.
    pub(super) listeners: Vec<Listener>,
    /// Who will be told once the tools have been listed.
    pub(super) late: Option<(Value, Value)>,
    /// Whether it has refused a call until pages are visited.
    pub(super) has_refused: bool,
}

impl Actor {
    /// Reads the next message; none when the input has ended.
    pub(super) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.input.next()?.ok()?;
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(message);
            }
        }
    }

    pub(super) fn hear(&mut self, message: &Value) -> Result<(), ExitCode> {
        let method = message["method"].as_str().unwrap_or_default();
        let params = message.get("params").cloned().unwrap_or_default();
        let Some(id) = message.get("id") else {
            if method == "notifications/cancelled" {
                self.listeners.retain(|listener| listener.id != params["requestId"]);
            }
            return Ok(());
        };
        self.note("asked", method);
        let outcome = match method {
            "initialize" if !self.script.modern => {
                self.note("hellos", &params["capabilities"].to_string());
                sleep(Duration::from_millis(self.script.hello_delay_ms));
                match &self.script.hello_error {
                    Some(message) => Err(refusal(message)),
                    None => Ok(self.hello(&params)),
                }
            }
            "server/discover" if self.script.modern => {
                sleep(Duration::from_millis(self.script.hello_delay_ms));
                Ok(self.discovered(&params))
            }
            "subscriptions/listen" if self.script.modern => {
                self.listen(id, &params);
                return Ok(());
            }
            "ping" if !self.script.modern => Ok(json!({})),
            "logging/setLevel" if !self.script.modern && !self.script.mute => {
                self.note("levels", params["level"].as_str().unwrap_or_default());
                Ok(json!({}))
            }
            "tools/list" => self.list(),
            "tools/call" => return self.call(id, &params),
            method if self.script.extras > 0 => extra(method, &params, self.script.extras),
            _ => Err(unknown()),
        };
        self.answer(id, outcome);
        if method == "tools/list"
            && let Some((id, params)) = self.late.take()
        {
            self.script.listen_late = false;
            self.listen(&id, &params);
        }
        Ok(())
    }

    fn hello(&self, params: &Value) -> Value {
        json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": self.capabilities(),
            "serverInfo": { "name": "actor", "version": "1" },
            "instructions": self.script.instructions,
        })
    }

    pub(super) fn capabilities(&self) -> Value {
        let extra = |can: Value| if self.script.extras > 0 { can } else { Value::Null };
        json!({
            "tools": { "listChanged": true },
            "resources": extra(json!({ "listChanged": true })),
            "prompts": extra(json!({ "listChanged": true })),
            "completions": extra(json!({})),
            "logging": if self.script.mute { Value::Null } else { json!({}) },
        })
    }

    fn list(&mut self) -> Result<Value, Value> {
        sleep(Duration::from_millis(self.script.list_delay_ms));
        if let Some(message) = &self.script.list_error {
            return Err(refusal(message));
        }
        let listed = json!({ "tools": self.script.listed() });
        if let Some(tools) = self.script.after_list.take() {
            self.script.tools = tools;
            self.changed("tools");
        }
        Ok(listed)
    }

    /// Tells of a change of a list whoever has to be told.
    pub(super) fn changed(&mut self, list: &str) {
        let method = format!("notifications/{list}/list_changed");
        if !self.script.modern {
            return self.say(&json!({ "jsonrpc": "2.0", "method": method }));
        }
        let told: Vec<Value> =
            self.listeners.iter().filter_map(|it| it.told(list, &method)).collect();
        for message in told {
            self.say(&message);
        }
    }

    pub(super) fn answer(&mut self, id: &Value, outcome: Result<Value, Value>) {
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
        self.say(&message);
    }

    pub(super) fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        // Who does not listen any more has ended the play.
        drop(self.output.write_all(bytes).and_then(|()| self.output.flush()));
    }

    /// Keeps what it has become for the next start.
    pub(super) fn keep(&self) {
        self.script.write(&self.folder);
    }

    /// Writes a line into the diary in one piece, so that lines of several actors do not mix.
    pub(super) fn note(&self, name: &str, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.folder.join(name));
        if let Ok(mut file) = file {
            drop(file.write_all(format!("{line}\n").as_bytes()));
        }
    }
}

/// An error in the actor's own words.
pub(super) fn refusal(message: &str) -> Value {
    json!({ "code": -32603, "message": message })
}

fn unknown() -> Value {
    json!({ "code": -32601, "message": "no such method" })
}
