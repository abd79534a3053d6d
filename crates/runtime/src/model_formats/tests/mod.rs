//! Tests the formats of model providers against JSON Schemas of their requests, which were written
//! from the providers' documentation.

mod any_schema;
mod outcomes;
mod strict;
mod tools;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use jsonschema::Validator;
use serde_json::Value;
use wharf_config::{Level, Policy, ServerName, Source};
use wharf_protocol::Json;
use wharf_protocol::view::ListPage;

use crate::tools::name_table::NameTable;
use crate::tools::server_tools::{ServerTools, ToolList, ToolServer, ToolSettings};
use crate::tools::{Freshness, Registry, Tool};

/// A part of a provider's request.
struct Part(LazyLock<Validator>);

static CHAT_TOOLS: Part = Part(LazyLock::new(|| validator(OPENAI, "chatTools")));
static RESPONSES_TOOLS: Part = Part(LazyLock::new(|| validator(OPENAI, "responsesTools")));
static TOOL_MESSAGE: Part = Part(LazyLock::new(|| validator(OPENAI, "toolMessage")));
static USER_MESSAGE: Part = Part(LazyLock::new(|| validator(OPENAI, "userMessage")));
static FUNCTION_CALL_OUTPUT: Part = Part(LazyLock::new(|| validator(OPENAI, "functionCallOutput")));
static ANTHROPIC_TOOLS: Part = Part(LazyLock::new(|| validator(ANTHROPIC, "tools")));
static TOOL_RESULT: Part = Part(LazyLock::new(|| validator(ANTHROPIC, "toolResult")));
static GEMINI_TOOLS: Part = Part(LazyLock::new(|| validator(GEMINI, "tools")));
static GEMINI_PART: Part = Part(LazyLock::new(|| validator(GEMINI, "part")));

const OPENAI: &str = include_str!("schemas/openai.json");
const ANTHROPIC: &str = include_str!("schemas/anthropic.json");
const GEMINI: &str = include_str!("schemas/gemini.json");

fn validator(schemas: &str, part: &str) -> Validator {
    let mut schema: Value = serde_json::from_str(schemas).unwrap();
    schema["$ref"] = format!("#/$defs/{part}").into();
    jsonschema::validator_for(&schema).unwrap()
}

impl Part {
    /// Fails if a value is not what the provider accepts.
    #[track_caller]
    fn accepts(&self, json: &Json) {
        let value: Value = json.decode().unwrap();
        let errors: Vec<String> = self
            .0
            .iter_errors(&value)
            .map(|it| format!("{} at {}", it, it.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}\n{}", errors.join("\n"), json.as_str());
    }
}

/// Returns the tools of servers; each is given as its name and the JSON of its tools.
fn tools(servers: &[(&str, &str)]) -> Vec<Arc<Tool>> {
    let source = Arc::new(Source {
        provider: "wharf",
        provider_name: "Wharf",
        level: Level::User,
        path: PathBuf::from("mcp.json"),
        also_read_by: &[],
    });
    let policy = Policy::default();
    let lists = servers.iter().map(|(server, list)| {
        let page = ListPage::read(&format!(r#"{{"tools":{list}}}"#).parse().unwrap());
        let listed = ToolList { tools: page.items.into(), rejected: page.rejected, pins: None };
        let by = ToolServer { name: &ServerName::new(*server), source: &source, policy: &policy };
        Arc::new(ServerTools::prepare(&by, listed, Freshness::Live, ToolSettings::default()))
    });
    let lists: Vec<_> = lists.collect();
    Registry::build(&lists, &mut NameTable::default()).tools().to_vec()
}

/// Returns a tool with this input schema.
fn tool(schema: &str) -> Arc<Tool> {
    let list = format!(r#"[{{"name":"run","description":"Runs.","inputSchema":{schema}}}]"#);
    tools(&[("fs", &list)]).remove(0)
}
