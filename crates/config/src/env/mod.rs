//! The environment as plain data: variables, home folder, working folder, platform.
//!
//! No code of this crate reads these from the process by itself; a program may do so with
//! [`Env::of_process`] (`process`). So every test has its own environment, and the paths of all three
//! platforms can be tested on any of them.

mod process;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The message of every error that is due to a missing home folder and no `WHARF_HOME`.
pub const NO_HOME: &str = "there is no home folder for Wharf's files";

/// The operating system whose conventions decide where files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and the other Unixes.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform this was compiled for.
    pub const HOST: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// Variables, folders and platform; passed to everything that would otherwise read the process's.
#[derive(Clone)]
pub struct Env {
    /// The platform whose conventions decide where files are.
    pub platform: Platform,
    /// The home folder, if there is one.
    pub home: Option<PathBuf>,
    /// The working folder, absolute.
    pub cwd: PathBuf,
    /// The root of system-wide files such as `/etc`: `/`, except in tests and images.
    pub system_root: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Env {
    /// Makes an environment with a working folder and no variables or home.
    pub fn new(platform: Platform, cwd: impl Into<PathBuf>) -> Self {
        Self {
            platform,
            home: None,
            cwd: cwd.into(),
            system_root: PathBuf::from("/"),
            variables: BTreeMap::new(),
        }
    }

    /// Sets the home folder, in which config files are looked for.
    ///
    /// Does not set the variable `HOME` of servers: they get variables only from this environment,
    /// so add `HOME`, and `PATH` for servers that are started by name, with
    /// [`Self::with_variable`].
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets the root of system-wide files.
    #[must_use]
    pub fn with_system_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.system_root = root.into();
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        if self.platform == Platform::Windows {
            self.variables.retain(|own, _| !own.eq_ignore_ascii_case(&name));
        }
        self.variables.insert(name, value.into());
        self
    }

    /// Sets many variables.
    #[must_use]
    pub fn with_variables(self, all: impl IntoIterator<Item = (String, String)>) -> Self {
        all.into_iter().fold(self, |env, (name, value)| env.with_variable(name, value))
    }

    /// Returns a variable, even if it is empty. On Windows the case of names is ignored.
    pub fn variable(&self, name: &str) -> Option<&str> {
        match self.platform {
            Platform::Windows => self
                .variables
                .iter()
                .find(|(own, _)| own.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str()),
            Platform::Linux | Platform::MacOs => self.variables.get(name).map(String::as_str),
        }
    }

    /// Iterates over all variables, sorted by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns a variable that is set and not empty.
    pub fn nonempty_variable(&self, name: &str) -> Option<&str> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    /// Returns the folder for Wharf's own files: `WHARF_HOME`, else `~/.wharf`. [`NO_HOME`] is the
    /// message if there is none.
    pub fn wharf_home(&self) -> Option<PathBuf> {
        self.folder_variable("WHARF_HOME")
            .or_else(|| self.home.as_ref().map(|home| home.join(".wharf")))
    }

    /// Returns the folder or file that a variable names. A relative path is ignored: it would start
    /// at the working folder, which may be an untrusted project.
    pub fn folder_variable(&self, name: &str) -> Option<PathBuf> {
        let path = self.path_from(self.nonempty_variable(name)?, Path::new(""));
        self.is_absolute(&path).then_some(path)
    }

    /// Tells whether a path is absolute on this environment's platform.
    pub(crate) fn is_absolute(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let mut letters = text.chars();
        let is_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
            && letters.next() == Some(':')
            && letters.next().is_some_and(|c| matches!(c, '/' | '\\'));
        let is_share = text.starts_with("\\\\");
        path.is_absolute() || (self.platform == Platform::Windows && (is_drive || is_share))
    }

    /// Replaces a leading `~` by the home folder; resolves other relative paths from `base`.
    pub fn path_from(&self, text: &str, base: &Path) -> PathBuf {
        // After `\\?\`, Windows takes a slash for a part of a name.
        let text: Cow<'_, str> =
            if cfg!(windows) { text.replace('/', "\\").into() } else { text.into() };
        match (text.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
            _ => base.join(&*text),
        }
    }

    /// Renders a path, with `~` for the home folder.
    pub fn display_path(&self, path: &Path) -> String {
        let Some(home) = self.home.as_deref() else { return path.display().to_string() };
        // Most paths of a listing are in the home folder, and comparing texts is much cheaper than
        // comparing paths. Equal paths in different spellings are found by the comparison below.
        if let (Some(text), Some(home)) = (path.to_str(), home.to_str())
            && let Some(rest) = text.strip_prefix(home)
            && rest.starts_with(std::path::MAIN_SEPARATOR)
        {
            return format!("~{rest}");
        }
        match path.strip_prefix(home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Ok(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Omits the variables: they may hold secrets.
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env")
            .field("platform", &self.platform)
            .field("home", &self.home)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
