//! What is known of a server's start without starting it: whether its program and folder are there,
//! seen from the folder in which it would run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use wharf_config::{
    Catalog, ConfigValue, Env, LaunchCommand as EntryLaunch, Level, Server, ServerName, Transport,
    command,
};

/// Looks for what servers need to start.
#[derive(Debug)]
pub(crate) struct StartChecker<'a> {
    folders: BTreeMap<ServerName, PathBuf>,
    env: &'a Env,
}

/// What is known of a server's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartCheck {
    /// Its program is there.
    Ready,
    /// Its program is not there; this is how the entry names it.
    ProgramNotFound(String),
    /// The folder to run in is not there; this is how the entry names it.
    FolderNotFound(String),
    /// There is an address; whether it answers is not known.
    UrlConfigured,
}

impl StartCheck {
    /// Tells whether nothing is known to be missing.
    pub(crate) fn is_usable(&self) -> bool {
        matches!(self, Self::Ready | Self::UrlConfigured)
    }
}

impl fmt::Display for StartCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::ProgramNotFound(command) => write!(f, "{command} not found"),
            Self::FolderNotFound(folder) => write!(f, "no such folder: {folder}"),
            Self::UrlConfigured => f.write_str("url configured"),
        }
    }
}

impl<'a> StartChecker<'a> {
    /// Finds out in which folders the servers of a catalog would run.
    pub(crate) fn of(catalog: &Catalog, env: &'a Env) -> Self {
        Self { folders: wharf::start_folders(catalog, env), env }
    }

    /// Looks for what an enabled server needs to start.
    pub(crate) fn check(&self, server: &Server) -> StartCheck {
        let definition = &server.definition;
        let Some(spec) = &server.spec else { return StartCheck::UrlConfigured };
        let Transport::Stdio(launch) = &spec.transport else { return StartCheck::UrlConfigured };
        // As written: what was expanded may be secret.
        let command = definition.fields.command.as_ref();
        let command = command.map_or(String::new(), |command| command.text.clone());
        // The built-in server is this very program, wherever it lies.
        if definition.source.level == Level::Builtin && command == "wharf" {
            return StartCheck::Ready;
        }
        if !self.has_program(server, launch, self.folder(server)) {
            return StartCheck::ProgramNotFound(command);
        }
        self.missing_folder(server).map_or(StartCheck::Ready, StartCheck::FolderNotFound)
    }

    /// Returns how the entry names the folder to run in, if that is not there.
    pub(crate) fn missing_folder(&self, server: &Server) -> Option<String> {
        let cwd = server.definition.fields.cwd.as_ref().filter(|cwd| !cwd.text.is_empty())?;
        let is_local = matches!(server.spec.as_ref()?.transport, Transport::Stdio(_));
        (is_local && !self.folder(server).is_dir()).then(|| cwd.text.clone())
    }

    fn folder<'s>(&'s self, server: &'s Server) -> &'s Path {
        let known = self.folders.get(&server.definition.name);
        known.map_or(&*server.definition.folder, |folder| folder)
    }

    fn has_program(&self, server: &Server, launch: &EntryLaunch, folder: &Path) -> bool {
        let name = launch.command.expose();
        if command::find(name, self.env, folder).is_some() {
            return true;
        }
        // The entry of one's own server may bring another PATH along.
        let path = launch.env.iter().find(|(variable, _)| variable == "PATH");
        match path.filter(|_| server.definition.source.level != Level::Project) {
            None => false,
            // What it prints is not known before it runs.
            Some((_, ConfigValue::Command(_))) => true,
            Some((_, value)) => {
                let text = value.text().expose();
                let path = match value {
                    ConfigValue::NameOrLiteral(_) => {
                        self.env.nonempty_variable(text).unwrap_or(text)
                    }
                    _ => text,
                };
                let env = self.env.clone().with_variable("PATH", path);
                command::find(name, &env, folder).is_some()
            }
        }
    }
}
