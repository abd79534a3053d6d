//! Recognizes Exa servers. A session with native web search uses their API keys and does not
//! connect them.

use crate::env::Env;
use crate::secret::Secret;
use crate::server::{ConfigValue, ServerSpec, Transport};

/// Tells whether a server is an Exa server.
pub(crate) fn is_exa(spec: &ServerSpec) -> bool {
    match &spec.transport {
        Transport::Stdio(launch) => launch
            .args
            .iter()
            .chain([&launch.command])
            .any(|part| part.expose().contains("exa-mcp-server")),
        Transport::Custom(_) => false,
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            let host = endpoint.url.host();
            host.is_some_and(|host| host == "exa.ai" || host.ends_with(".exa.ai"))
        }
    }
}

/// Returns the API key of an Exa server, if it is known without running a command.
pub(crate) fn find_key(spec: &ServerSpec, env: &Env) -> Option<Secret> {
    let named = |pairs: &[(String, ConfigValue)], name: &str| {
        let (_, value) = pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        match value {
            ConfigValue::Literal(key) => Some(key.clone()),
            ConfigValue::NameOrLiteral(text) => {
                let variable = env.nonempty_variable(text.expose());
                Some(variable.map_or_else(|| text.clone(), Secret::new))
            }
            ConfigValue::Command(_) | ConfigValue::Unset(_) | ConfigValue::Omitted(_) => None,
        }
    };
    match &spec.transport {
        Transport::Stdio(launch) => named(&launch.env, "EXA_API_KEY"),
        Transport::Custom(_) => None,
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            named(&endpoint.headers, "x-api-key")
                .or_else(|| endpoint.url.query_value("exaApiKey").map(Secret::new))
        }
    }
}
