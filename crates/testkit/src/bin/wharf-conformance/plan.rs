//! The calls of each scenario; everything else is the same for all scenarios.

use serde::Deserialize;
use wharf::Secret;
use wharf::auth::{IdentityProvider, OAuthSettings, SigningKey};
use wharf::config::GrantKind;
use wharf_protocol::Json;
use wharf_protocol::view::ToolDefinition;
use wharf_protocol::view::send::Object;

use crate::{AnyError, schema_values};

/// What a scenario calls and loads.
#[derive(Debug)]
pub(crate) struct ScenarioPlan {
    calls: PlannedCalls,
    /// Whether skills are loaded after they are listed.
    pub(crate) loads_skills: bool,
    /// What the client knows before it signs in.
    pub(crate) oauth: Option<OAuthSettings>,
}

#[derive(Debug)]
enum PlannedCalls {
    /// Every tool, with generated arguments.
    Every,
    /// Exactly these calls.
    These(Vec<PlannedCall>),
    /// No call; the scenario checks only the list.
    None,
    /// The tool `json_schema_echo`, with the schema of the other tool.
    SchemaEcho,
}

/// One call.
#[derive(Debug, Deserialize)]
pub(crate) struct PlannedCall {
    pub(crate) name: String,
    arguments: Json,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScenarioContext {
    tool_calls: Option<Vec<PlannedCall>>,
    #[serde(flatten)]
    oauth: OAuthContext,
}

/// What a scenario says about the OAuth client.
#[derive(Debug, Default, Deserialize)]
struct OAuthContext {
    client_id: Option<String>,
    client_secret: Option<String>,
    private_key_pem: Option<String>,
    valid_jwt: Option<String>,
    idp_client_id: Option<String>,
    idp_id_token: Option<String>,
    idp_token_endpoint: Option<String>,
}

/// The address of the client ID metadata document that the suite expects.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

impl OAuthContext {
    fn into_settings(self) -> Result<OAuthSettings, AnyError> {
        let key = self.private_key_pem.map(|pem| SigningKey::from_pem(&Secret::new(pem)));
        let provider = match (self.idp_token_endpoint, self.idp_client_id, self.idp_id_token) {
            (Some(token_endpoint), Some(client_id), Some(id_token)) => Some(IdentityProvider {
                token_endpoint,
                client_id,
                client_secret: None,
                id_token: Secret::new(id_token),
            }),
            _ => None,
        };
        let mut settings = OAuthSettings::default();
        settings.client_id = self.client_id;
        settings.client_secret = self.client_secret.map(Secret::new);
        settings.client_key = key.transpose()?;
        settings.client_metadata_url = Some(CLIENT_METADATA.to_owned());
        // The contexts name no issuer, and the server of the suite may know the secrets.
        settings.accepts_named_issuer = true;
        settings.assertion = self.valid_jwt.map(Secret::new);
        settings.identity_provider = provider;
        Ok(settings)
    }
}

impl ScenarioPlan {
    /// Reads the scenario from the environment variables that the suite sets.
    #[expect(clippy::disallowed_methods, reason = "the suite sets environment variables")]
    pub(crate) fn from_environment() -> Result<Self, AnyError> {
        let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
        let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        Self::new(&scenario, &context)
    }

    fn new(scenario: &str, context: &str) -> Result<Self, AnyError> {
        let context: ScenarioContext = if context.is_empty() {
            ScenarioContext::default()
        } else {
            serde_json::from_str(context)?
        };
        let calls = match (context.tool_calls, scenario) {
            (Some(calls), _) => PlannedCalls::These(calls),
            (None, "json-schema-ref-no-deref") => PlannedCalls::None,
            (None, "json-schema-2020-12-preservation") => PlannedCalls::SchemaEcho,
            (None, _) => PlannedCalls::Every,
        };
        let mut oauth = context.oauth.into_settings()?;
        // As an entry has it: the contexts name no grant.
        let is_machine = scenario.contains("client-credentials");
        oauth.grant = is_machine.then_some(GrantKind::ClientCredentials);
        let oauth = Some(oauth);
        Ok(Self { calls, loads_skills: scenario.contains("verify"), oauth })
    }

    /// Returns the calls to make; `tools` are the tools of the server.
    pub(crate) fn calls(self, tools: &[ToolDefinition]) -> Result<Vec<PlannedCall>, AnyError> {
        match self.calls {
            PlannedCalls::Every => tools.iter().map(call_with_generated_arguments).collect(),
            PlannedCalls::These(calls) => Ok(calls),
            PlannedCalls::None => Ok(Vec::new()),
            PlannedCalls::SchemaEcho => schema_echo(tools).map(|call| vec![call]),
        }
    }
}

impl PlannedCall {
    /// Returns the arguments, unchanged.
    pub(crate) fn arguments(&self) -> Result<Object, AnyError> {
        Ok(Object::try_from(self.arguments.clone())?)
    }
}

fn call_with_generated_arguments(tool: &ToolDefinition) -> Result<PlannedCall, AnyError> {
    let schema = tool.input_schema().unwrap_or_else(Json::object);
    let arguments = schema_values::required(&schema.decode()?);
    Ok(PlannedCall { name: tool.name().to_string(), arguments: Json::encode(&arguments)? })
}

fn schema_echo(tools: &[ToolDefinition]) -> Result<PlannedCall, AnyError> {
    const ECHO: &str = "json_schema_echo";
    let other = tools.iter().find(|tool| tool.name() != ECHO).ok_or("no tool with a schema")?;
    let schema = other.input_schema().ok_or("the tool has no schema")?;
    // The text of the schema is sent back unchanged.
    let arguments = Json::parse(format!(r#"{{"schema":{}}}"#, schema.as_str()))?;
    Ok(PlannedCall { name: ECHO.to_owned(), arguments })
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
        let calls = ScenarioPlan::new(scenario, context).unwrap().calls(&tools).unwrap();
        let lines = calls.iter().map(|call| format!("{} {}", call.name, call.arguments.as_str()));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_tool_is_called_unless_the_scenario_selects_other_calls() {
        assert_eq!(calls("tools_call", ""), "sum {\"a\":1}\njson_schema_echo {}");
        assert_eq!(calls("json-schema-ref-no-deref", r#"{"name":"n"}"#), "");
        assert_eq!(
            calls("json-schema-2020-12-preservation", ""),
            r#"json_schema_echo {"schema":{"properties":{"a":{"type":"number"}},"required":["a"]}}"#
        );
    }

    #[test]
    fn arguments_of_the_scenario_are_sent_unchanged() {
        let context = r#"{"toolCalls":[{"name":"t","arguments":{"b":1.0, "a":null}}]}"#;
        assert_eq!(calls("any", context), r#"t {"b":1.0, "a":null}"#);
    }

    #[test]
    fn skills_are_loaded_only_in_scenarios_that_verify_loading() {
        assert!(ScenarioPlan::new("sep-2640-client-verify-size", "").unwrap().loads_skills);
        assert!(!ScenarioPlan::new("sep-2640-client-no-prefetch", "").unwrap().loads_skills);
    }
}
