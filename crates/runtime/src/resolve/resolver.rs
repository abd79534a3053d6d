//! Resolves one server to a process launch, or to a target with headers.
//!
//! The program is looked up before any command of the entry runs: a command may ask the user to
//! unlock a password store, which is pointless if the server cannot be started.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "http")]
use std::sync::Mutex;

use futures_util::future::join_all;
#[cfg(feature = "http")]
use http::header::AUTHORIZATION;
#[cfg(feature = "http")]
use http::{HeaderMap, HeaderName};
#[cfg(feature = "http")]
use wharf_config::Endpoint;
use wharf_config::{ConfigValue, Env, LaunchCommand, Level, Problem, Secret, Transport, command};
#[cfg(feature = "http")]
use wharf_protocol::HttpTransport;
use wharf_protocol::transport::PipeOpener;
use wharf_protocol::transport::process::ProcessLaunch;
#[cfg(feature = "http")]
use wharf_protocol::transport::{Authorizer, HttpTarget};

#[cfg(feature = "http")]
use super::authorizer::{SentHeaders, ServerHeaders};
use super::command_cache::CommandCache;
use super::credentials::{self, CredentialUnavailable};
use super::environment::{self, ChildEnvironment};
use super::error::ResolveError;
#[cfg(feature = "http")]
use super::headers::{self, HeaderError};
use super::omissions::{OmissionCollector, OmittedPart};
use super::secret_texts::{Certainty, SecretTexts};
use super::secrets::Secrets;
#[cfg(feature = "oauth")]
use super::sign_in_states::SignInStates;
#[cfg(feature = "http")]
use super::target::target;
#[cfg(feature = "http")]
use super::token_source::TokenSource;
use super::values::{self, UnresolvedValue};
use crate::credentials::{CredentialStore, StoreAccess, StoredCredential};
use crate::own_transport;
use crate::trust_gate::{GITHUB_VARIABLE, TrustedServer, github_token};

/// The variable in which a program gets the token of its stored credential.
const TOKEN_VARIABLE: &str = "OAUTH_ACCESS_TOKEN";

/// The store of the credentials cannot be read.
struct UnreadableStore;

/// Resolves servers; clones share the cache of command outputs.
#[derive(Clone)]
pub(crate) struct Resolver {
    env: Arc<Env>,
    credentials: StoreAccess,
    commands: CommandCache,
    own_program: Option<PathBuf>,
    #[cfg(feature = "oauth")]
    sign_ins: Option<Arc<SignInStates>>,
}

/// A resolved server, ready to be connected.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedServer {
    /// The process to start, or the address with headers.
    pub(crate) transport: ResolvedTransport,
    /// The omitted values, as warnings.
    pub(crate) omissions: Vec<Problem>,
    /// The secrets to redact in its text.
    pub(crate) secrets: Arc<Secrets>,
}

/// The process to start, or the address with headers.
#[derive(Clone)]
pub(crate) enum ResolvedTransport {
    /// A local process.
    Stdio(ProcessLaunch),
    /// A server behind a pipe of the program.
    Pipe(Arc<dyn PipeOpener>),
    /// A remote server.
    #[cfg(feature = "http")]
    Http {
        /// Its address.
        target: HttpTarget,
        /// Its headers.
        authorizer: Arc<dyn Authorizer>,
        /// Which transport to try first.
        http_transport: HttpTransport,
    },
}

/// Omits program and folder: expanded values may be secret.
impl fmt::Debug for ResolvedTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(_) => f.write_str("Stdio"),
            Self::Pipe(_) => f.write_str("Pipe"),
            #[cfg(feature = "http")]
            Self::Http { target, http_transport, .. } => write!(f, "{target:?} {http_transport:?}"),
        }
    }
}

/// Shows nothing, because outputs of commands are secret.
impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

impl Resolver {
    /// Creates a resolver for this environment and this store.
    pub(crate) fn new(env: Arc<Env>, credentials: Arc<dyn CredentialStore>) -> Self {
        let commands = CommandCache::new(Arc::clone(&env));
        Self {
            env,
            credentials: StoreAccess::new(credentials),
            commands,
            own_program: None,
            #[cfg(feature = "oauth")]
            sign_ins: None,
        }
    }

    /// Renews tokens with OAuth.
    #[cfg(feature = "oauth")]
    #[must_use]
    pub(crate) fn with_sign_ins(mut self, sign_ins: Arc<SignInStates>) -> Self {
        self.sign_ins = Some(sign_ins);
        self
    }

    /// Sets the path of Wharf for the built-in servers; without it, `wharf` is looked up in the
    /// PATH.
    #[must_use]
    pub(crate) fn with_own_program(mut self, program: Option<PathBuf>) -> Self {
        self.own_program = program;
        self
    }

    /// Resolves everything that a server needs.
    ///
    /// Dropping the future kills the commands that it started, unless other callers wait for them.
    pub(crate) async fn resolve(
        &self,
        server: &Arc<TrustedServer>,
    ) -> Result<ResolvedServer, ResolveError> {
        let mut omissions = OmissionCollector::new(server);
        let (transport, secrets) = match &server.spec.transport {
            Transport::Stdio(launch) => {
                let (launch, secrets) = self.launch(server, launch, &mut omissions).await?;
                (ResolvedTransport::Stdio(launch), secrets)
            }
            Transport::Custom(transport) => {
                let unknown = || ResolveError::UnknownTransport { word: transport.word() };
                let opener = own_transport::opener(transport).ok_or_else(unknown)?;
                (ResolvedTransport::Pipe(opener), Secrets::default())
            }
            #[cfg(not(feature = "http"))]
            Transport::Http(_) | Transport::Sse(_) => return Err(ResolveError::NoHttp),
            #[cfg(feature = "http")]
            Transport::Http(endpoint) | Transport::Sse(endpoint) => {
                let target = target(&endpoint.url)?;
                let headers = Arc::new(self.headers(server, endpoint, &mut omissions).await?);
                let secrets = Secrets::of_address(&endpoint.url.expose(), &headers);
                let is_sse = matches!(server.spec.transport, Transport::Sse(_));
                let http_transport =
                    if is_sse { HttpTransport::PreferSse } else { HttpTransport::Auto };
                (ResolvedTransport::Http { target, authorizer: headers, http_transport }, secrets)
            }
        };
        let secrets = Arc::new(secrets);
        Ok(ResolvedServer { transport, omissions: omissions.into_problems(), secrets })
    }

    async fn launch(
        &self,
        server: &TrustedServer,
        launch: &LaunchCommand,
        omissions: &mut OmissionCollector<'_>,
    ) -> Result<(ProcessLaunch, Secrets), ResolveError> {
        let platform = self.env.platform;
        let names = |name: &str| {
            launch.env.iter().any(|(own, _)| environment::is_same(own, name, platform))
        };
        // Trust in an entry of a project covers the program in the user's PATH, so a PATH of the
        // entry is not searched.
        let has_own_path = server.level != Level::Project && names("PATH");
        let mut program = self.find_program(server, launch, &self.env);
        if program.is_none() && !has_own_path {
            return Err(self.not_found(server, launch));
        }
        if server.folder.as_ref().is_some_and(|folder| !folder.is_dir()) {
            return Err(ResolveError::NoFolder { folder: server.written.folder.clone() });
        }
        let mut child = ChildEnvironment::new(&self.env, &server.spec.policy);
        if server.may_use_github_token
            && !names(GITHUB_VARIABLE)
            && let Some(token) = github_token(&self.env)
        {
            child.set(GITHUB_VARIABLE, token);
        }
        let own_token = names(TOKEN_VARIABLE).then_some(OmittedPart::Variable(TOKEN_VARIABLE));
        let found = self.credential(server, own_token, omissions).await.unwrap_or_default();
        #[cfg(feature = "oauth")]
        let found = match (&self.sign_ins, found) {
            (Some(states), Some(found)) => Some(states.renewed(&server.spec.name, found).await),
            (_, found) => found,
        };
        if let Some(found) = found {
            child.set(TOKEN_VARIABLE, found.credential.token.expose());
        }
        self.add_variables(server, &launch.env, &mut child, omissions).await?;
        if let (None, Some(path)) = (&program, child.get("PATH")) {
            let env = (*self.env).clone().with_variable("PATH", path);
            program = self.find_program(server, launch, &env);
        }
        let program = program.ok_or_else(|| self.not_found(server, launch))?;
        let secrets = self.secrets_of_program(server, launch, &child);
        let launch = ProcessLaunch {
            program: program.into(),
            arguments: launch.args.iter().map(|arg| arg.expose().into()).collect(),
            raw_arguments: None,
            environment: child.into_variables(),
            folder: server.folder.clone(),
            redactor: secrets.redactor(),
        };
        Ok((launch, secrets))
    }

    /// Collects the secrets in the variables and arguments of a program.
    fn secrets_of_program(
        &self,
        server: &TrustedServer,
        launch: &LaunchCommand,
        child: &ChildEnvironment,
    ) -> Secrets {
        let own = |name: &str| {
            let is_same = |own: &&(String, ConfigValue)| {
                environment::is_same(&own.0, name, self.env.platform)
            };
            match launch.env.iter().find(is_same) {
                Some((_, ConfigValue::Command(_))) => Some(Certainty::Certain),
                Some(_) => Some(Certainty::by_name(name)),
                None if [TOKEN_VARIABLE, GITHUB_VARIABLE].contains(&name) => {
                    Some(Certainty::Certain)
                }
                None => None,
            }
        };
        let mut texts = SecretTexts::default();
        texts.variables(child.iter(), own);
        texts.arguments(&launch.args, &server.expanded);
        Secrets::of_program(texts)
    }

    /// Adds the variables of the entry.
    async fn add_variables(
        &self,
        server: &TrustedServer,
        variables: &[(String, ConfigValue)],
        child: &mut ChildEnvironment,
        omissions: &mut OmissionCollector<'_>,
    ) -> Result<(), ResolveError> {
        let all = variables.iter().map(|(_, value)| self.value(value, server));
        let all = join_all(all).await;
        for ((name, _), value) in variables.iter().zip(all) {
            let part = OmittedPart::Variable(name);
            match value {
                Err(why) => omissions.add_unresolved(part, &why, why.hint())?,
                Ok(text) => match environment::invalid_variable(name, text.expose()) {
                    Some(flaw) => omissions.add_unresolved(part, &flaw, "correct the entry")?,
                    None => child.set(name, text.expose()),
                },
            }
        }
        Ok(())
    }

    #[cfg(feature = "http")]
    async fn headers(
        &self,
        server: &Arc<TrustedServer>,
        endpoint: &Endpoint,
        omissions: &mut OmissionCollector<'_>,
    ) -> Result<ServerHeaders, ResolveError> {
        let mut wanted: Vec<(&str, HeaderName, &ConfigValue)> = Vec::new();
        for (written, value) in &endpoint.headers {
            let part = OmittedPart::Header(written);
            match headers::name(written) {
                Ok(name) => wanted.push((written, name, value)),
                Err(why @ HeaderError::Reserved) => omissions.add(part, &why, "remove it"),
                Err(why) => omissions.add_unresolved(part, &why, "correct the name")?,
            }
        }
        let own = wanted.iter().find(|(_, name, _)| *name == AUTHORIZATION);
        let own = own.map(|(written, _, _)| OmittedPart::Header(written));
        let mut current = HeaderMap::new();
        let found = self.credential(server, own, omissions).await;
        #[cfg(feature = "oauth")]
        let session = self.sign_ins.as_ref().and_then(|states| states.session(server));
        #[cfg(feature = "oauth")]
        if let (Some(session), None, Ok(found)) = (&session, &own, &found) {
            session.adopt(found.clone());
        }
        if let Ok(Some(found)) = found {
            let kind = found.credential.oauth.as_ref().map(|it| it.token_type).unwrap_or_default();
            match headers::authorization(kind, &found.credential.token) {
                Ok(value) => drop(current.insert(AUTHORIZATION, value)),
                Err(why) => omissions.add(OmittedPart::Credential, &why, "store it again"),
            }
        }
        let all = join_all(wanted.iter().map(|(_, _, value)| self.value(value, server))).await;
        let mut from_commands = Vec::new();
        for ((written, name, value), text) in wanted.into_iter().zip(all) {
            let part = OmittedPart::Header(written);
            if let ConfigValue::Command(command) = value {
                from_commands.push((name.clone(), values::key(command, server)));
            }
            match text.map(|text| headers::value(&text)) {
                Ok(Ok(value)) => drop(current.insert(name, value)),
                Ok(Err(why)) => {
                    omissions.add_unresolved(part, &why, "check that it is one line of text")?;
                }
                Err(why) => omissions.add_unresolved(part, &why, why.hint())?,
            }
        }
        let token_source = own.is_none().then(|| TokenSource {
            server: Arc::clone(server),
            store: self.credentials.clone(),
            #[cfg(feature = "oauth")]
            session,
            #[cfg(feature = "oauth")]
            generation: std::sync::atomic::AtomicU64::default(),
        });
        let (current, commands) = (Mutex::new(SentHeaders::new(current)), self.commands.clone());
        Ok(ServerHeaders { current, from_commands, commands, token_source })
    }

    async fn value(
        &self,
        value: &ConfigValue,
        server: &TrustedServer,
    ) -> Result<Secret, UnresolvedValue> {
        values::resolve(value, server, &self.env, &self.commands).await
    }

    /// Returns the stored credential, unless the entry sets the value itself. The error is that the
    /// store cannot be read, so nothing is known about it.
    async fn credential(
        &self,
        server: &TrustedServer,
        own: Option<OmittedPart<'_>>,
        omissions: &mut OmissionCollector<'_>,
    ) -> Result<Option<StoredCredential>, UnreadableStore> {
        if let Some(own) = own {
            if server.spec.auth.is_some() {
                let why = format!("the entry has its own {own}");
                omissions.add(
                    OmittedPart::Credential,
                    &why,
                    "keep that, or \"auth\", but not both",
                );
            }
            return Ok(None);
        }
        let found = credentials::find(server, &self.credentials).await;
        found.or_else(|why| {
            omissions.add(OmittedPart::Credential, &why, why.hint());
            let is_unknown = matches!(why, CredentialUnavailable::Store(_));
            if is_unknown { Err(UnreadableStore) } else { Ok(None) }
        })
    }

    /// Finds the program in the PATH, or by its path relative to its working folder.
    fn find_program(
        &self,
        server: &TrustedServer,
        launch: &LaunchCommand,
        env: &Env,
    ) -> Option<PathBuf> {
        let name = launch.command.expose();
        if server.level == Level::Builtin && name == "wharf" && self.own_program.is_some() {
            return self.own_program.clone();
        }
        let folder = server.folder.as_deref()?;
        match server.level {
            Level::Program => command::find_literal(name, env, folder),
            _ => command::find(name, env, folder),
        }
    }

    fn not_found(&self, server: &TrustedServer, launch: &LaunchCommand) -> ResolveError {
        let name = launch.command.expose();
        let command = server.written.command.clone();
        let is_path = name.contains(std::path::is_separator);
        let folder = server.folder.as_deref().unwrap_or(&server.command_folder);
        let path = match server.level {
            Level::Program => folder.join(name),
            _ => self.env.path_from(name, folder),
        };
        if is_path && path.is_file() {
            ResolveError::NotExecutable { command }
        } else {
            ResolveError::NotFound { command }
        }
    }
}
