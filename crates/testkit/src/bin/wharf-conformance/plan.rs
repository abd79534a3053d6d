//! What is called in which scenario; everything else is the same for all of them.

use serde::Deserialize;
use wharf_protocol::Json;
use wharf_protocol::view::ToolDefinition;
use wharf_protocol::view::send::Object;

use crate::{Failure, sample};

/// What to do with what the server offers.
#[derive(Debug)]
pub(crate) struct Plan {
    calls: Calls,
    /// Whether skills are loaded, and not only listed.
    pub(crate) loads_skills: bool,
}

#[derive(Debug)]
enum Calls {
    /// Every tool, with arguments that are made up.
    Every,
    /// Exactly these.
    These(Vec<Call>),
    /// None: the list is what counts.
    None,
    /// The tool `json_schema_echo`, with the schema of the other one.
    SchemaEcho,
}

/// One call.
#[derive(Debug, Deserialize)]
pub(crate) struct Call {
    pub(crate) name: String,
    arguments: Json,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    tool_calls: Option<Vec<Call>>,
}

impl Plan {
    /// Reads what the suite says about the scenario.
    #[expect(clippy::disallowed_methods, reason = "the suite speaks through the environment")]
    pub(crate) fn from_environment() -> Result<Self, Failure> {
        let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
        let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        Self::new(&scenario, &context)
    }

    fn new(scenario: &str, context: &str) -> Result<Self, Failure> {
        let context: Context =
            if context.is_empty() { Context::default() } else { serde_json::from_str(context)? };
        let calls = match (context.tool_calls, scenario) {
            (Some(calls), _) => Calls::These(calls),
            (None, "json-schema-ref-no-deref") => Calls::None,
            (None, "json-schema-2020-12-preservation") => Calls::SchemaEcho,
            (None, _) => Calls::Every,
        };
        Ok(Self { calls, loads_skills: scenario.contains("verify") })
    }

    /// Returns the calls to make, given the tools there are.
    pub(crate) fn calls(self, tools: &[ToolDefinition]) -> Result<Vec<Call>, Failure> {
        match self.calls {
            Calls::Every => tools.iter().map(made_up).collect(),
            Calls::These(calls) => Ok(calls),
            Calls::None => Ok(Vec::new()),
            Calls::SchemaEcho => schema_echo(tools).map(|call| vec![call]),
        }
    }
}

impl Call {
    /// Returns the arguments as they are to be sent.
    pub(crate) fn arguments(&self) -> Result<Object, Failure> {
        Ok(Object::try_from(self.arguments.clone())?)
    }
}

fn made_up(tool: &ToolDefinition) -> Result<Call, Failure> {
    let schema = tool.input_schema().unwrap_or_else(Json::object);
    let arguments = sample::required(&schema.decode()?);
    Ok(Call { name: tool.name().to_string(), arguments: Json::encode(&arguments)? })
}

fn schema_echo(tools: &[ToolDefinition]) -> Result<Call, Failure> {
    const ECHO: &str = "json_schema_echo";
    let other = tools.iter().find(|tool| tool.name() != ECHO).ok_or("no tool with a schema")?;
    let schema = other.input_schema().ok_or("the tool has no schema")?;
    // The schema goes back as it came.
    let arguments = Json::parse(format!(r#"{{"schema":{}}}"#, schema.as_str()))?;
    Ok(Call { name: ECHO.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use wharf_protocol::view::ListEntry;

    use super::*;

    fn calls(scenario: &str, context: &str) -> String {
        let tools = [
            r#"{"name":"sum","inputSchema":{"properties":{"a":{"type":"number"}},"required":["a"]}}"#,
            r#"{"name":"json_schema_echo"}"#,
        ];
        let tools: Vec<ToolDefinition> =
            tools.iter().map(|text| ToolDefinition::read(text.parse().unwrap()).unwrap()).collect();
        let calls = Plan::new(scenario, context).unwrap().calls(&tools).unwrap();
        let shown = calls.iter().map(|call| format!("{} {}", call.name, call.arguments.as_str()));
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_tool_is_called_unless_the_scenario_wants_something_else() {
        assert_eq!(calls("tools_call", ""), "sum {\"a\":1}\njson_schema_echo {}");
        assert_eq!(calls("json-schema-ref-no-deref", r#"{"name":"n"}"#), "");
        assert_eq!(
            calls("json-schema-2020-12-preservation", ""),
            r#"json_schema_echo {"schema":{"properties":{"a":{"type":"number"}},"required":["a"]}}"#
        );
    }

    #[test]
    fn arguments_that_are_given_are_sent_as_they_are() {
        let context = r#"{"toolCalls":[{"name":"t","arguments":{"b":1.0, "a":null}}]}"#;
        assert_eq!(calls("any", context), r#"t {"b":1.0, "a":null}"#);
    }

    #[test]
    fn skills_are_loaded_where_loading_is_what_counts() {
        assert!(Plan::new("sep-2640-client-verify-size", "").unwrap().loads_skills);
        assert!(!Plan::new("sep-2640-client-no-prefetch", "").unwrap().loads_skills);
    }
}
