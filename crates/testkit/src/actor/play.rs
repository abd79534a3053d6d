//! The actor on its stage: reads lines, answers them, dies where it is told to.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::Script;

/// Speaks on the standard streams until its input ends.
pub fn play(folder: &Path) -> ExitCode {
    let script = Script::read(folder);
    let mut actor = Actor { folder: folder.to_path_buf(), script, output: io::stdout().lock() };
    actor.note("starts", &std::process::id().to_string());
    if !actor.script.stderr.is_empty() {
        // Whether anybody reads it is not for the actor to say.
        drop(writeln!(io::stderr(), "{}", actor.script.stderr));
    }
    if let Some(code) = actor.script.exit {
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Err(code) = actor.hear(&message) {
            return code;
        }
    }
    ExitCode::SUCCESS
}

struct Actor {
    folder: PathBuf,
    script: Script,
    output: io::StdoutLock<'static>,
}

impl Actor {
    fn hear(&mut self, message: &Value) -> Result<(), ExitCode> {
        let Some(id) = message.get("id") else { return Ok(()) };
        let params = message.get("params").cloned().unwrap_or_default();
        let outcome = match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                sleep(Duration::from_millis(self.script.hello_delay_ms));
                Ok(self.hello(&params))
            }
            "ping" => Ok(json!({})),
            "tools/list" => {
                sleep(Duration::from_millis(self.script.list_delay_ms));
                if self.script.list_fails {
                    Err(json!({ "code": -32603, "message": "the list is lost" }))
                } else {
                    Ok(json!({ "tools": self.script.listed() }))
                }
            }
            "tools/call" => return self.call(id, &params),
            method if self.script.extras > 0 => self.extra(method, &params),
            _ => Err(unknown()),
        };
        self.answer(id, outcome);
        Ok(())
    }

    fn hello(&self, params: &Value) -> Value {
        let extra = if self.script.extras > 0 { json!({}) } else { Value::Null };
        json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {
                "tools": { "listChanged": true },
                "resources": extra,
                "prompts": extra,
                "completions": extra,
            },
            "serverInfo": { "name": "actor", "version": "1" },
            "instructions": self.script.instructions,
        })
    }

    fn call(&mut self, id: &Value, params: &Value) -> Result<(), ExitCode> {
        let arguments = &params["arguments"];
        self.note("metas", &params["_meta"].to_string());
        let die = arguments["die"].as_str().unwrap_or_default();
        if die == "after-read" {
            return Err(ExitCode::FAILURE);
        }
        sleep(Duration::from_millis(arguments["sleepMs"].as_u64().unwrap_or_default()));
        let text = arguments["text"].as_str().unwrap_or("done").to_owned();
        self.note("effects", &text);
        if let Some(tools) = arguments["tools"].as_array() {
            let names = tools.iter().filter_map(Value::as_str);
            self.script =
                Script { tools: names.map(str::to_owned).collect(), ..self.script.clone() };
            self.script.write(&self.folder);
            self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        }
        match die {
            "after-effect" => return Err(ExitCode::FAILURE),
            "mid-reply" => {
                let half = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[");
                drop(self.output.write_all(half.as_bytes()));
                drop(self.output.flush());
                return Err(ExitCode::FAILURE);
            }
            _ => {}
        }
        let is_error = arguments["fail"].as_bool().unwrap_or_default();
        let content = json!([{ "type": "text", "text": text }]);
        self.answer(id, Ok(json!({ "content": content, "isError": is_error })));
        // The next call is in the pipe at best: nobody reads it any more.
        if die == "after-reply" { Err(ExitCode::FAILURE) } else { Ok(()) }
    }

    fn extra(&self, method: &str, params: &Value) -> Result<Value, Value> {
        let each = || 0..self.script.extras;
        match method {
            "resources/list" => {
                let all = each()
                    .map(|it| json!({ "uri": format!("actor://{it}"), "name": format!("r{it}") }));
                Ok(json!({ "resources": all.collect::<Value>() }))
            }
            "resources/templates/list" => {
                let template = json!([{ "uriTemplate": "actor://{number}", "name": "t" }]);
                Ok(json!({ "resourceTemplates": template }))
            }
            "resources/read" => {
                let contents = json!([{ "uri": params["uri"], "text": "what is in it" }]);
                Ok(json!({ "contents": contents }))
            }
            "prompts/list" => {
                let arguments = json!([{ "name": "who" }]);
                let all =
                    each().map(|it| json!({ "name": format!("p{it}"), "arguments": arguments }));
                Ok(json!({ "prompts": all.collect::<Value>() }))
            }
            "prompts/get" => {
                let who = params["arguments"]["who"].as_str().unwrap_or("nobody");
                let content = json!({ "type": "text", "text": format!("hello {who}") });
                Ok(json!({ "messages": [{ "role": "user", "content": content }] }))
            }
            "completion/complete" => Ok(json!({ "completion": { "values": ["one", "two"] } })),
            _ => Err(unknown()),
        }
    }

    fn answer(&mut self, id: &Value, outcome: Result<Value, Value>) {
        let message = match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        };
        self.say(&message);
    }

    fn say(&mut self, message: &Value) {
        // Who does not listen any more has ended the play.
        drop(writeln!(self.output, "{message}").and_then(|()| self.output.flush()));
    }

    /// Writes a line into the diary in one piece, so that lines of several actors do not mix.
    fn note(&self, name: &str, line: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.folder.join(name));
        if let Ok(mut file) = file {
            drop(file.write_all(format!("{line}\n").as_bytes()));
        }
    }
}

fn unknown() -> Value {
    json!({ "code": -32601, "message": "no such method" })
}
