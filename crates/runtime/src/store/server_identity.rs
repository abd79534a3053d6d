//! The identity of a server in stored records: name, configuration and credential.
//!
//! With another configuration or credential, cached tools, last attempt and pins are not found.
//! What is behind a transport of the program is only known if the program says so; otherwise its
//! records are not stored.
//! The identity contains secrets; records are stored under a keyed hash of it (`record_keys`).

use std::fmt::Write as _;
use std::path::Path;

use wharf_config::{ConfigValue, Env, Secret, Transport};

use crate::own_transport;
use crate::trust_gate::{TrustedServer, github_token};

/// The identity of a server.
#[derive(Debug)]
pub(crate) struct ServerIdentity<'a> {
    /// The name of the server.
    pub(crate) name: &'a str,
    /// How it is started or reached, with secrets.
    pub(crate) configuration: Secret,
    /// The reference to its stored credential.
    pub(crate) credential: String,
    /// Whether it identifies the server in later runs, too. If not, nothing is stored.
    pub(crate) is_lasting: bool,
}

impl<'a> ServerIdentity<'a> {
    /// Returns the identity of a server in an environment.
    pub(crate) fn new(server: &'a TrustedServer, env: &Env) -> Self {
        let name = server.spec.name.as_str();
        Self {
            name,
            configuration: configuration(server, env),
            credential: credential(server),
            is_lasting: has_lasting_identity(server),
        }
    }
}

/// Tells whether records of a server can be stored: not if what is behind its transport is unknown.
pub(crate) fn has_lasting_identity(server: &TrustedServer) -> bool {
    match &server.spec.transport {
        Transport::Custom(transport) => transport.identity().is_some(),
        Transport::Stdio(_) | Transport::Http(_) | Transport::Sse(_) => true,
    }
}

/// Returns a text that is equal for two servers exactly if they are started or reached in the same
/// way. It contains secrets: it must be hashed with a key, never shown and never stored.
///
/// Variables are included with their values, because another token may be another account.
/// Commands are included as written.
fn configuration(server: &TrustedServer, env: &Env) -> Secret {
    let mut text = IdentityText::default();
    match &server.spec.transport {
        Transport::Stdio(launch) => {
            text.part("stdio").part(launch.command.expose()).count(launch.args.len());
            for arg in &launch.args {
                text.part(arg.expose());
            }
            text.values(&launch.env, env);
        }
        Transport::Custom(transport) => {
            text.part("custom").part(transport.word());
            match transport.identity() {
                Some(identity) => text.part("identity").part(identity.expose()),
                // Counts as long as this opener exists.
                None => {
                    text.part("opener").part(&format!("{:?}", own_transport::number(transport)))
                }
            };
        }
        Transport::Http(endpoint) | Transport::Sse(endpoint) => {
            text.part(server.spec.transport.kind().word()).part(&endpoint.url.expose());
            text.values(&endpoint.headers, env);
        }
    }
    let folder = server.folder.as_deref().unwrap_or(Path::new(""));
    let command_folder = server.used_command_folder().unwrap_or(Path::new(""));
    text.part(&folder.to_string_lossy()).part(&command_folder.to_string_lossy());
    let policy = &server.spec.policy;
    text.part(if policy.inherit_env { "whole" } else { "short" }).count(policy.pass_env.len());
    for name in &policy.pass_env {
        text.part(name).part(env.variable(name).unwrap_or_default());
    }
    if let Some(version) = &policy.protocol_version {
        text.part("protocol").part(version);
    }
    let github = server.may_use_github_token.then(|| github_token(env)).flatten();
    text.part(github.unwrap_or_default());
    Secret::new(text.0)
}

/// Returns the reference and the account of a server's stored credential, never the token.
fn credential(server: &TrustedServer) -> String {
    let id = server.spec.auth.as_ref().and_then(|auth| auth.credential_id.as_deref());
    format!("{id:?} {:?}", server.spec.account)
}

/// A text of length-prefixed parts, so that different lists of parts have different texts.
#[derive(Default)]
struct IdentityText(String);

impl IdentityText {
    fn part(&mut self, part: &str) -> &mut Self {
        let _infallible = write!(self.0, "{}:{part}", part.len());
        self
    }

    fn count(&mut self, count: usize) -> &mut Self {
        let _infallible = write!(self.0, "#{count}");
        self
    }

    fn values(&mut self, values: &[(String, ConfigValue)], env: &Env) {
        self.count(values.len());
        for (name, value) in values {
            let text = value.text().expose();
            self.part(name);
            match value {
                ConfigValue::Command(_) => self.part("!").part(text),
                ConfigValue::NameOrLiteral(_) => {
                    self.part("=").part(env.nonempty_variable(text).unwrap_or(text))
                }
                ConfigValue::Literal(_) | ConfigValue::Unset(_) => self.part("=").part(text),
                ConfigValue::Omitted(_) => self.part("-").part(""),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wharf_config::trust::TrustStore;
    use wharf_config::{LoadOptions, Platform, load};

    use super::*;
    use crate::trust_gate::{GateDecision, plan};

    fn env(home: &Path, servers: &str) -> Env {
        std::fs::create_dir_all(home.join("project/.git")).unwrap();
        let env = Env::new(Platform::HOST, home.join("project")).with_home(home);
        env.with_variable("WHARF_MCP_SERVERS", format!("{{ {servers} }}"))
    }

    fn server(env: &Env, name: &str) -> Arc<TrustedServer> {
        let catalog = load(env, LoadOptions::default()).unwrap();
        let planned = plan(&catalog, env).into_iter().find(|own| own.name.as_str() == name);
        let Some(GateDecision::Allowed(server)) = planned.map(|planned| planned.decision) else {
            panic!("\"{name}\" may not be connected");
        };
        server
    }

    #[test]
    fn an_identity_depends_on_what_is_sent_and_shows_no_secret() {
        let home = tempfile::tempdir().unwrap();
        let entry = r#""a": { "url": "https://a.example?key=hunter1", "headers":
            { "A": "TOKEN", "B": "!print hunter2" } }"#;
        let env = env(home.path(), entry);
        let server = server(&env, "a");
        let first = configuration(&server, &env);
        assert_eq!(configuration(&server, &env), first);
        let other = env.with_variable("TOKEN", "hunter3");
        assert_ne!(configuration(&server, &other), first);
        let rendered = format!("{server:?} {first:?} {}", credential(&server));
        assert!(!rendered.contains("hunter"), "{rendered}");
    }

    #[test]
    fn trusting_a_folder_changes_the_identity_of_servers_that_run_in_it() {
        let home = tempfile::tempdir().unwrap();
        let home = wharf_config::real_path(home.path()).unwrap();
        let env = env(
            &home,
            r#""far": { "url": "https://a.example" }, "near": { "command": "x" },
               "printed": { "url": "https://b.example", "headers": { "A": "!x" } }"#,
        );
        let names = ["far", "near", "printed"];
        let identities = || names.map(|name| configuration(&server(&env, name), &env));
        let before = identities();
        let (mut store, _) = TrustStore::load(&env);
        store.accept_folder(&env.cwd);
        store.save().unwrap();
        let after = identities();
        assert_eq!([0, 1, 2].map(|at| before[at] == after[at]), [true, false, false]);
    }
}
