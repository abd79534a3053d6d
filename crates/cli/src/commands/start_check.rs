//! Checks whether a server could start, without starting it: whether its program and its folder
//! exist, seen from the folder in which it would run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use wharf_config::{
    Catalog, ConfigValue, Env, LaunchCommand as EntryLaunch, Level, Platform, Server, ServerName,
    Transport, command,
};

/// Checks programs and folders of servers.
#[derive(Debug)]
pub(crate) struct StartChecker<'a> {
    folders: BTreeMap<ServerName, PathBuf>,
    env: &'a Env,
}

/// Whether a server could start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartCheck {
    /// Its program exists.
    Ready,
    /// Its program does not exist; the value is the command as written in the entry.
    ProgramNotFound(String),
    /// Its working folder does not exist; the value is the folder as written in the entry.
    FolderNotFound(String),
    /// It is a remote server; whether it answers is unknown.
    UrlConfigured,
}

impl StartCheck {
    /// Tells whether nothing is missing.
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
    /// Determines the folders in which the servers of a catalog would run.
    pub(crate) fn of(catalog: &Catalog, env: &'a Env) -> Self {
        Self { folders: wharf::start_folders(catalog, env), env }
    }

    /// Checks whether an enabled server could start.
    pub(crate) fn check(&self, server: &Server) -> StartCheck {
        let definition = &server.definition;
        let Some(spec) = &server.spec else { return StartCheck::UrlConfigured };
        let Transport::Stdio(launch) = &spec.transport else { return StartCheck::UrlConfigured };
        // As written, because an expanded value may be secret.
        let command = definition.fields.command.as_ref();
        let command = command.map_or(String::new(), |command| command.text.clone());
        // The built-in server is this program itself.
        if definition.source.level == Level::Builtin && command == "wharf" {
            return StartCheck::Ready;
        }
        if !self.has_program(server, launch, self.folder(server)) {
            return StartCheck::ProgramNotFound(command);
        }
        self.missing_folder(server).map_or(StartCheck::Ready, StartCheck::FolderNotFound)
    }

    /// Returns the working folder as written in the entry, if it does not exist.
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
        // An entry of the user's own may set another PATH.
        let is_path = |name: &str| match self.env.platform {
            Platform::Windows => name.eq_ignore_ascii_case("PATH"),
            Platform::Linux | Platform::MacOs => name == "PATH",
        };
        let path = launch.env.iter().find(|(variable, _)| is_path(variable));
        match path.filter(|_| server.definition.source.level != Level::Project) {
            None => false,
            // The output of the command is unknown until it runs.
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
