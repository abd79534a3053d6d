//! Servers from code: the embedding program adds them to a catalog, and changes a catalog.
//!
//! A server of the program needs no trust and wins its name. Its definition is checked like one of a
//! file, and the same rule for duplicates applies.

use std::path::PathBuf;
use std::sync::Arc;

use crate::duplicates;
use crate::env::{Env, Platform};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::server::{Definition, ServerName};
use crate::server_entry::ServerEntry;
use crate::settings::Settings;
use crate::source::{Level, Rank, Source};
use crate::spec;
use crate::trust::Trust;

use super::{Catalog, DefinitionState, HIDES, Server};

/// The provider of servers of the embedding program, in [`Source::provider`].
pub const PROGRAM: &str = "program";

impl Catalog {
    /// Makes a catalog without servers and with the default settings. Nothing is read.
    ///
    /// Servers without a working folder of their own run in the working folder of `env`.
    pub fn new(env: &Env) -> Self {
        Self {
            servers: Vec::new(),
            excluded: Vec::new(),
            problems: Vec::new(),
            files: Vec::new(),
            settings: Settings::default(),
            project_folders: Vec::new(),
            is_folder_trusted: false,
            exa_keys: Vec::new(),
            native_web_search: false,
            working_folder: Arc::new(env.cwd.clone()),
        }
    }

    /// Adds a server of the program and returns it with its state and its problems.
    ///
    /// It wins over every definition of its name in a file, whatever the state of that definition;
    /// those become shadowed. It replaces an earlier server of the program with the same name. An
    /// entry that cannot be used is kept as [`DefinitionState::Invalid`].
    pub fn insert(
        &mut self,
        name: impl Into<ServerName>,
        entry: impl Into<ServerEntry>,
    ) -> &Server {
        let name = name.into();
        let is_replaced = |server: &Server| {
            let definition = &server.definition;
            definition.name == name && definition.source.level == Level::Program
        };
        self.servers.retain(|server| !is_replaced(server));
        let server = make_server(name, entry.into(), &self.working_folder);
        let (name, source) = (&server.definition.name, &server.definition.source);
        for other in self.servers.iter_mut().filter(|other| other.definition.name == *name) {
            other.shadow(source);
        }
        let position = self.servers.partition_point(|other| {
            other.definition.source.level == Level::Program && other.definition.name < *name
        });
        self.servers.insert(position, server);
        self.mark_duplicates();
        &self.servers[position]
    }

    /// Removes all definitions of a name; returns whether there were any.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.servers.len() + self.excluded.len();
        self.servers.retain(|server| server.definition.name != *name);
        self.excluded.retain(|server| server.definition.name != *name);
        self.mark_duplicates();
        self.servers.len() + self.excluded.len() < before
    }

    /// Marks duplicates again, as `discovery.duplicates` says.
    pub(super) fn mark_duplicates(&mut self) {
        for server in &mut self.servers {
            if server.state == DefinitionState::Duplicate {
                server.state = DefinitionState::Enabled;
                server.duplicate_of = None;
            }
        }
        if !self.settings.is_set_to("discovery.duplicates", "keep") {
            duplicates::mark(&mut self.servers);
        }
    }
}

impl Server {
    /// Turns a definition of a file into one that another definition wins over.
    pub(super) fn shadow(&mut self, by: &Arc<Source>) {
        self.state = DefinitionState::Shadowed;
        self.shadowed_by = Some(Arc::clone(by));
        self.spec = None;
        self.reason = None;
        self.duplicate_of = None;
        self.uses.clear();
        // It hides nothing any more.
        self.problems.retain(|problem| problem.code != HIDES);
    }
}

/// Makes the server of an entry; an entry that cannot be used has a problem and no spec.
fn make_server(name: ServerName, entry: ServerEntry, folder: &Arc<PathBuf>) -> Server {
    let (fields, problems) = entry.into_parts();
    let of_server = |problem: Problem| problem.of_server(name.as_str());
    let problems = problems.into_iter().map(of_server).collect();
    let definition = Definition {
        name,
        source: source(),
        line: 0,
        rank: Rank::of_program(),
        folder: Arc::clone(folder),
        plugin: None,
        fields,
        off: None,
        replaced_by: None,
        hints: Vec::new(),
        raw: None,
        problems,
    };
    let mut server = Server::new(definition, Trust::NotNeeded);
    server.transport = spec::check_transport(&server.definition).ok();
    if !server.has_errors() {
        // All values are literal, so nothing of this environment is used.
        let env = Env::new(Platform::HOST, folder.as_path());
        let specified = spec::build_spec(&server.definition, &env, &NamedFiles::default());
        server.problems.extend(specified.problems);
        server.spec = specified.spec.map(Box::new);
    }
    if server.spec.is_none() {
        server.state = DefinitionState::Invalid;
    }
    server
}

/// Returns the source of all servers of the program. It has no path.
fn source() -> Arc<Source> {
    Arc::new(Source {
        provider: PROGRAM,
        provider_name: "this program",
        level: Level::Program,
        path: PathBuf::new(),
        also_read_by: &[],
    })
}
