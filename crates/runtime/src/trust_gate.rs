//! The trust gate: decides which servers may be started or contacted, and in which folder they run.
//!
//! Only a winner that is enabled, valid and trusted becomes [`TrustedServer`]; no other code of the
//! runtime creates one. In an untrusted folder, the servers of the user and every `!command` run in
//! the home folder: `npx` and `python -m` prefer files of the folder in which they are started. A
//! server of the embedding program runs in the folder that the program says.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wharf_config::secret::redact_command;
use wharf_config::{
    Catalog, ConfigValue, Definition, DefinitionState, Env, Level, Policy, Problem, Secret, Server,
    ServerName, ServerSpec, Source, Transport, TransportKind,
};

/// A winner of the catalog with the decision of the gate.
#[derive(Debug, Clone)]
pub(crate) struct PlannedServer {
    /// Its name.
    pub(crate) name: ServerName,
    /// The file it comes from.
    pub(crate) source: Arc<Source>,
    /// Its transport, if the entry names one.
    pub(crate) transport: Option<TransportKind>,
    /// Whether it may be connected.
    pub(crate) decision: GateDecision,
    /// The problems of its definition.
    pub(crate) problems: Vec<Problem>,
}

/// Whether a server may be connected, and if not, why.
#[derive(Debug, Clone)]
pub(crate) enum GateDecision {
    /// It may be connected.
    Allowed(Arc<TrustedServer>),
    /// It is disabled.
    Disabled,
    /// It came with a project and is not trusted.
    Untrusted,
    /// Its definition is invalid.
    Invalid {
        /// The first error of its definition.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// A server that may be started or contacted, and the folders in which its programs run.
#[derive(Clone)]
pub(crate) struct TrustedServer {
    /// How to connect it.
    pub(crate) spec: ServerSpec,
    /// The level of its definition.
    pub(crate) level: Level,
    /// The working folder of its process; none for a remote server.
    pub(crate) folder: Option<PathBuf>,
    /// The folder in which its `!command` values run.
    pub(crate) command_folder: PathBuf,
    /// Whether it may get the GitHub token of the user although its entry does not name one.
    pub(crate) may_use_github_token: bool,
    /// Arguments with an expanded placeholder: the value may be secret.
    pub(crate) expanded: Vec<Secret>,
    /// The definition as written, for messages.
    pub(crate) written: WrittenDefinition,
}

/// A definition as written in its file. Messages use it, because expanded values may be secret.
#[derive(Debug, Clone)]
pub(crate) struct WrittenDefinition {
    /// The file.
    pub(crate) path: PathBuf,
    /// The line of its name there.
    pub(crate) line: u32,
    /// The command as written, redacted and cut.
    pub(crate) command: String,
    /// The working folder as written, redacted and cut.
    pub(crate) folder: String,
}

/// Decides for each winner of a catalog whether it may be connected; ordered by name.
///
/// Shadowed, duplicate and natively handled definitions are omitted.
pub(crate) fn plan(catalog: &Catalog, env: &Env) -> Vec<PlannedServer> {
    let folder_rule = FolderRule { env, is_trusted: catalog.is_folder_trusted };
    let winners = catalog.winners().into_iter();
    winners.filter_map(|server| plan_server(server, &folder_rule)).collect()
}

/// The code of the problem that a server duplicates another one.
pub(crate) const DUPLICATE: &str = "duplicate";

/// Returns the problems of a catalog, and one for each server that is not connected because another
/// one is the same.
pub(crate) fn problems(catalog: &Catalog) -> Vec<Problem> {
    let duplicates = catalog.servers.iter().filter_map(|server| {
        let other = server.duplicate_of.as_ref()?;
        let message = format!("it is started or reached like \"{other}\", which is used instead");
        let problem =
            Problem::warning(DUPLICATE, message).of_server(server.definition.name.as_str());
        Some(problem.hint("remove one of them, or set `discovery.duplicates` to `keep`"))
    });
    catalog.problems.iter().cloned().chain(duplicates).collect()
}

fn plan_server(server: &Server, folder_rule: &FolderRule<'_>) -> Option<PlannedServer> {
    let decision = match (server.state, &server.spec) {
        (DefinitionState::Shadowed | DefinitionState::Duplicate | DefinitionState::Native, _) => {
            return None;
        }
        (DefinitionState::Disabled, _) => GateDecision::Disabled,
        (DefinitionState::Untrusted, _) => GateDecision::Untrusted,
        // The catalog has checked this already; a second check is cheap, and a mistake would start
        // an untrusted program.
        (DefinitionState::Enabled, _) if !server.trust.allows_use() => GateDecision::Untrusted,
        (DefinitionState::Enabled, Some(spec)) => {
            GateDecision::Allowed(Arc::new(folder_rule.trusted_server(&server.definition, spec)))
        }
        (DefinitionState::Enabled | DefinitionState::Invalid, _) => first_error(server),
    };
    Some(PlannedServer {
        name: server.definition.name.clone(),
        source: Arc::clone(&server.definition.source),
        transport: server.transport,
        decision,
        problems: server.problems.clone(),
    })
}

fn first_error(server: &Server) -> GateDecision {
    let error = server.problems.iter().find(|problem| problem.is_error());
    GateDecision::Invalid {
        message: error.map_or("the definition cannot be used", |error| &error.message).to_owned(),
        hint: error.and_then(|error| error.hint.clone()),
    }
}

/// The rule for the folder in which a program runs.
struct FolderRule<'a> {
    env: &'a Env,
    /// The user trusts the working folder, or an entry in it.
    is_trusted: bool,
}

impl FolderRule<'_> {
    fn trusted_server(&self, definition: &Definition, spec: &ServerSpec) -> TrustedServer {
        let level = definition.source.level;
        let usual = self.usual_folder(definition);
        let folder = match &spec.transport {
            Transport::Stdio(launch) => {
                let own = launch.cwd.as_ref().filter(|cwd| !cwd.expose().is_empty());
                Some(own.map_or_else(
                    || usual.clone(),
                    |cwd| match level {
                        // A path from code is literal: it may begin with `~`.
                        Level::Program => usual.join(cwd.expose()),
                        _ => self.env.path_from(cwd.expose(), &usual),
                    },
                ))
            }
            Transport::Http(_) | Transport::Sse(_) | Transport::Custom(_) => None,
        };
        let is_own = matches!(level, Level::User | Level::Builtin);
        TrustedServer {
            // The trust prompt does not mention this token, so a server of a project does not get
            // it.
            may_use_github_token: is_own && spec.name.as_str() == "github",
            expanded: expanded_arguments(definition, spec),
            written: self.written_definition(definition, &usual),
            spec: spec.clone(),
            level,
            folder,
            command_folder: usual,
        }
    }

    /// Returns the folder for an entry without `cwd`.
    fn usual_folder(&self, definition: &Definition) -> PathBuf {
        // An untrusted definition of a project does not get here. The program decides itself in
        // which folder its servers run.
        if matches!(definition.source.level, Level::Project | Level::Program) || self.is_trusted {
            return definition.folder.to_path_buf();
        }
        // Without a home folder, use one that no repository writes to.
        self.env.home.clone().unwrap_or_else(|| self.env.system_root.clone())
    }

    fn written_definition(&self, definition: &Definition, usual: &Path) -> WrittenDefinition {
        let redact = |text: &str| wharf_config::text::clip(&redact_command(text), 200);
        let fields = &definition.fields;
        let folder = fields.cwd.as_ref().filter(|cwd| !cwd.text.is_empty());
        WrittenDefinition {
            path: definition.source.path.clone(),
            line: definition.line,
            command: fields.command.as_ref().map_or(String::new(), |command| redact(&command.text)),
            folder: folder.map_or_else(|| self.env.display_path(usual), |cwd| redact(&cwd.text)),
        }
    }
}

/// Returns the arguments with an expanded placeholder.
fn expanded_arguments(definition: &Definition, spec: &ServerSpec) -> Vec<Secret> {
    let Transport::Stdio(launch) = &spec.transport else { return Vec::new() };
    let pairs = definition.fields.args.iter().zip(&launch.args);
    let expanded = pairs.filter(|(written, now)| written.text != now.expose());
    expanded.map(|(_, now)| now.clone()).collect()
}

/// Omits expanded values, which may be secret.
impl fmt::Debug for TrustedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustedServer")
            .field("spec", &self.spec)
            .field("level", &self.level)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl TrustedServer {
    /// Tells whether a connection to this server can be kept for the other: they differ at most in
    /// policy.
    pub(crate) fn has_same_connection_as(&self, other: &Self) -> bool {
        let needs = |policy: &Policy| {
            let version = policy.protocol_version.clone();
            (policy.inherit_env, policy.pass_env.clone(), policy.strict, version)
        };
        let (own, theirs) = (&self.spec, &other.spec);
        own.name == theirs.name
            && own.transport == theirs.transport
            && own.timeouts == theirs.timeouts
            && own.limits == theirs.limits
            && own.auth == theirs.auth
            && own.oauth == theirs.oauth
            && own.account == theirs.account
            && needs(&own.policy) == needs(&theirs.policy)
            && self.level == other.level
            && self.folder == other.folder
            && self.used_command_folder() == other.used_command_folder()
            && self.may_use_github_token == other.may_use_github_token
    }

    /// Returns the folder for its `!command` values, if it has any.
    pub(crate) fn used_command_folder(&self) -> Option<&Path> {
        let values = match &self.spec.transport {
            Transport::Stdio(launch) => &launch.env,
            Transport::Http(endpoint) | Transport::Sse(endpoint) => &endpoint.headers,
            Transport::Custom(_) => return None,
        };
        let is_command =
            |(_, value): &(String, ConfigValue)| matches!(value, ConfigValue::Command(_));
        values.iter().any(is_command).then_some(&*self.command_folder)
    }
}

/// Returns the GitHub token of the user, from the first variable that has one.
pub(crate) fn github_token(env: &Env) -> Option<&str> {
    [GITHUB_VARIABLE, "GITHUB_TOKEN_BINLECODE", "GITHUB_TOKEN", "GH_TOKEN"]
        .into_iter()
        .find_map(|name| env.nonempty_variable(name))
}

/// The variable in which a GitHub server expects its token.
pub(crate) const GITHUB_VARIABLE: &str = "GITHUB_PERSONAL_ACCESS_TOKEN";

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tempfile::TempDir;
    use wharf_config::trust::{TrustStore, TrustSubject};
    use wharf_config::{LoadOptions, Platform, load};

    use super::*;

    /// A home folder and a repository.
    struct World {
        root: TempDir,
        env: Env,
        options: LoadOptions,
    }

    impl World {
        fn new(own: &str, of_project: &str) -> Self {
            let root = tempfile::tempdir().unwrap();
            let real = wharf_config::real_path(root.path()).unwrap();
            for folder in ["home/.wharf", "project/.git", "project/.wharf"] {
                std::fs::create_dir_all(real.join(folder)).unwrap();
            }
            let env = Env::new(Platform::HOST, real.join("project")).with_home(real.join("home"));
            let world = Self { root, env, options: LoadOptions::default() };
            world.write("home", own);
            world.write("project", of_project);
            world
        }

        #[expect(clippy::disallowed_methods, reason = "the atomic writer is for people's files")]
        fn write(&self, folder: &str, servers: &str) {
            let path = self.root.path().join(folder).join(".wharf/mcp.json");
            std::fs::write(path, format!("{{ \"mcpServers\": {{ {servers} }} }}")).unwrap();
        }

        fn agree(&self, change: impl Fn(&mut TrustStore)) {
            let (mut store, _) = TrustStore::load(&self.env);
            change(&mut store);
            store.save().unwrap();
        }

        fn agree_to(&self, name: &str) {
            let catalog = load(&self.env, self.options).unwrap();
            let definition = &catalog.winner(name).unwrap().definition;
            self.agree(|store| store.accept(&TrustSubject::of(definition, &self.env)));
        }

        fn plan(&self) -> Vec<PlannedServer> {
            plan(&load(&self.env, self.options).unwrap(), &self.env)
        }

        fn trusted(&self, name: &str) -> Arc<TrustedServer> {
            let planned = self.plan().into_iter().find(|own| own.name.as_str() == name).unwrap();
            let GateDecision::Allowed(trusted) = planned.decision else {
                panic!("not ready: {planned:?}")
            };
            trusted
        }

        fn show(&self) -> String {
            let root = wharf_config::real_path(self.root.path()).unwrap();
            let short = |path: &Path| {
                let path = path.strip_prefix(&root).unwrap_or(path).to_string_lossy();
                path.replace('\\', "/")
            };
            let show = |planned: &PlannedServer| match &planned.decision {
                GateDecision::Allowed(trusted) => format!(
                    "runs in {}, commands in {}",
                    trusted.folder.as_deref().map_or("-".to_owned(), short),
                    short(&trusted.command_folder)
                ),
                other => format!("{other:?}"),
            };
            let lines = self.plan();
            let lines = lines.iter().map(|own| format!("{}: {}", own.name, show(own)));
            lines.collect::<Vec<_>>().join("\n")
        }
    }

    const OWN: &str = r#"
        "mine": { "command": "npx" },
        "placed": { "command": "npx", "cwd": "~/x" },
        "here": { "command": "npx", "cwd": "sub" },
        "far": { "url": "https://a.example/mcp" }"#;
    const THEIRS: &str = r#"
        "theirs": { "command": "./run" },
        "below": { "command": "./run", "cwd": "tools" }"#;

    #[test]
    fn in_an_untrusted_folder_everything_runs_in_the_home_folder() {
        assert_snapshot!(World::new(OWN, THEIRS).show(), @r"
        below: Untrusted
        far: runs in -, commands in home
        here: runs in home/sub, commands in home
        mine: runs in home, commands in home
        placed: runs in home/x, commands in home
        theirs: Untrusted
        ");
    }

    #[test]
    fn trusting_one_entry_or_the_folder_trusts_the_working_folder() {
        let world = World::new(OWN, THEIRS);
        world.agree_to("theirs");
        let expected = "mine: runs in project, commands in project";
        assert!(world.show().contains(expected));
        assert!(world.show().contains("theirs: runs in project, commands in project"));
        assert!(world.show().contains("below: Untrusted"));

        let world = World::new(OWN, THEIRS);
        world.agree(|store| store.accept_folder(&world.env.cwd));
        assert!(world.show().contains(expected));
        assert!(world.show().contains("theirs: Untrusted"));

        let mut world = World::new(OWN, THEIRS);
        world.options.trust_project = true;
        assert!(world.show().contains(expected));
        assert!(world.show().contains("below: runs in project/tools, commands in project"));
        // A catalog with one server only keeps its folder.
        let mut catalog = load(&world.env, world.options).unwrap();
        catalog.servers.retain(|server| server.definition.name.as_str() == "mine");
        let [PlannedServer { decision: GateDecision::Allowed(mine), .. }] =
            &*plan(&catalog, &world.env)
        else {
            panic!("expected one server");
        };
        assert_eq!(mine.folder.as_deref(), Some(&*world.env.cwd));
    }

    #[test]
    fn a_server_that_may_not_start_has_a_reason() {
        let world = World::new(
            r#""off": { "command": "x", "enabled": false }, "bad": { "type": "http" }"#,
            r#""evil": { "command": "${SECRET}" }"#,
        );
        assert_snapshot!(world.show(), @r#"
        bad: Invalid { message: "http server requires \"url\"", hint: Some("add \"url\" with the server's address") }
        evil: Untrusted
        off: Disabled
        "#);
    }

    #[test]
    fn a_definition_that_changed_after_trust_is_untrusted_again() {
        let world = World::new(OWN, THEIRS);
        world.agree_to("theirs");
        world.write("project", r#""theirs": { "command": "./run", "args": ["more"] }"#);
        assert!(world.show().contains("theirs: Untrusted"));
    }

    #[test]
    fn only_a_server_of_the_user_named_github_may_use_the_token() {
        let entry = r#""github": { "command": "x" }, "other": { "command": "y" }"#;
        let world = World::new(entry, "");
        assert!(world.trusted("github").may_use_github_token);
        assert!(!world.trusted("other").may_use_github_token);
        let mut world = World::new("", entry);
        world.options.trust_project = true;
        assert!(!world.trusted("github").may_use_github_token);
    }

    #[test]
    fn a_policy_change_keeps_the_connection_and_other_changes_do_not() {
        let entry = |more: &str| format!(r#""a": {{ "command": "x", "args": ["1"] {more} }}"#);
        let before = World::new(&entry(""), "");
        let first = before.trusted("a");
        let check = |more: &str, expected: bool| {
            before.write("home", &entry(more));
            let second = before.trusted("a");
            assert_eq!(first.has_same_connection_as(&second), expected, "{more}");
        };
        check(r#", "approval": "never", "prefix": "b", "lazy": true"#, true);
        for more in [
            r#", "env": { "A": "1" }"#,
            r#", "cwd": "/""#,
            r#", "passEnv": ["A"]"#,
            r#", "inheritEnv": true"#,
            r#", "timeout": 5"#,
            r#", "account": "me""#,
            r#", "auth": { "type": "bearer", "credentialId": "c" }"#,
        ] {
            check(more, false);
        }
    }

    #[test]
    fn trusting_a_folder_keeps_remote_servers_connected() {
        let world = World::new(
            r#""far": { "url": "https://a.example" }, "near": { "command": "x" },
               "printed": { "url": "https://b.example", "headers": { "A": "!x" } }"#,
            "",
        );
        let names = ["far", "near", "printed"];
        let before = names.map(|name| world.trusted(name));
        world.agree(|store| store.accept_folder(&world.env.cwd));
        let after = names.map(|name| world.trusted(name));
        let same = |at: usize| before[at].has_same_connection_as(&after[at]);
        assert_eq!([0, 1, 2].map(same), [true, false, false]);
    }
}
