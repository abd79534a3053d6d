//! Recognizes Exa's servers, which a session with its own web search handles itself.

use crate::env::Env;
use crate::secret::Secret;
use crate::server::{ConfigValue, ServerSpec, Transport};

/// Tells whether a server is one of Exa's.
pub(crate) fn is_exa(spec: &ServerSpec) -> bool {
    match &spec.transport {
        Transport::Stdio(launch) => launch
            .args
            .iter()
            .chain([&launch.command])
            .any(|part| part.expose().contains("exa-mcp-server")),
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            let host = endpoint.url.host();
            host.is_some_and(|host| host == "exa.ai" || host.ends_with(".exa.ai"))
        }
    }
}

/// Returns the key such a server would have used, if that is known without running anything.
pub(crate) fn find_key(spec: &ServerSpec, env: &Env) -> Option<Secret> {
    let named = |pairs: &[(String, ConfigValue)], name: &str| {
        let (_, value) = pairs.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        match value {
            ConfigValue::Literal(key) => Some(key.clone()),
            ConfigValue::NameOrLiteral(text) => {
                let variable = env.nonempty_variable(text.expose());
                Some(variable.map_or_else(|| text.clone(), Secret::new))
            }
            ConfigValue::Command(_) | ConfigValue::Unset(_) | ConfigValue::LeftOut(_) => None,
        }
    };
    match &spec.transport {
        Transport::Stdio(launch) => named(&launch.env, "EXA_API_KEY"),
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            named(&endpoint.headers, "x-api-key")
                .or_else(|| endpoint.url.query_value("exaApiKey").map(Secret::new))
        }
    }
}
