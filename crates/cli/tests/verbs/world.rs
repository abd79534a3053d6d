//! The `World` of a test: a temporary folder with a home, a project and programs. The binary runs
//! in it with its own environment.

#![expect(clippy::disallowed_methods, reason = "a test prepares files and starts the binary")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A simulated machine with one user. The project is a repository beside the home folder.
pub(crate) struct World {
    /// Removes the folder at the end of the test.
    _folder: TempDir,
    root: PathBuf,
    variables: Vec<(String, String)>,
    /// Whether `add` connects to the server that it adds.
    probes: bool,
}

impl World {
    /// Creates a world in which nothing is configured.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = wharf_config::real_path(folder.path()).unwrap();
        for below in ["home", "project/.git", "bin", "system"] {
            fs::create_dir_all(root.join(below)).unwrap();
        }
        Self { _folder: folder, root, variables: Vec::new(), probes: false }
    }

    /// Lets `add` connect to the server that it adds. By default it does not, because most servers
    /// in tests do not exist.
    pub(crate) fn with_probe(mut self) -> Self {
        self.probes = true;
        self
    }

    /// Writes a file in the home folder, which only the user can read.
    pub(crate) fn home(self, path: &str, text: &str) -> Self {
        write(&self.root.join("home").join(path), text, 0o600);
        if let Some(own) = path.strip_prefix(".wharf/") {
            let file = self.root.join("home/.wharf").join(own);
            set_mode(file.parent().unwrap(), 0o700);
        }
        self
    }

    /// Writes a file of the project.
    pub(crate) fn project(self, path: &str, text: &str) -> Self {
        write(&self.root.join("project").join(path), text, 0o644);
        self
    }

    /// Writes a system-wide file.
    pub(crate) fn system(self, path: &str, text: &str) -> Self {
        write(&self.root.join("system").join(path), text, 0o644);
        self
    }

    /// Installs programs that record that they were started.
    pub(crate) fn programs(self, names: &[&str]) -> Self {
        for name in names {
            let mark = self.root.join("started").display().to_string();
            let (file, script) = if cfg!(windows) {
                (format!("{name}.cmd"), format!("@echo {name}>> \"{mark}\"\r\n"))
            } else {
                ((*name).to_owned(), format!("#!/bin/sh\necho {name} >> '{mark}'\n"))
            };
            write(&self.root.join("bin").join(file), &script, 0o755);
        }
        self
    }

    /// Installs a program that is a shell script.
    #[cfg(unix)]
    pub(crate) fn script(self, name: &str, lines: &str) -> Self {
        write(&self.root.join("bin").join(name), &format!("#!/bin/sh\n{lines}"), 0o755);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns a path in this world: `home/…`, `project/…`, `bin/…`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the names of the programs that were started, one per line.
    pub(crate) fn started_programs(&self) -> String {
        fs::read_to_string(self.root.join("started")).unwrap_or_default()
    }

    /// Returns a command for the binary in this world, in the project's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wharf"));
        let mut arguments = arguments.to_vec();
        let adds = matches!(arguments.first(), Some(&("add" | "add-json")));
        if adds && !self.probes && !arguments.contains(&"--no-probe") {
            arguments.insert(1, "--no-probe");
        }
        command
            .args(arguments)
            .current_dir(self.root.join("project"))
            .env_clear()
            .env(if cfg!(windows) { "USERPROFILE" } else { "HOME" }, self.root.join("home"))
            .envs(system_variables())
            .env("PATH", self.root.join("bin"))
            .env("WHARF_SYSTEM_ROOT", self.root.join("system"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line of words without spaces.
    pub(crate) fn output(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.command(&words).output().unwrap()
    }

    /// Runs a command line; returns the exit code, stdout and stderr as one text.
    pub(crate) fn run(&self, line: &str) -> String {
        self.render(&self.output(line))
    }

    /// Runs a command line in another folder of this world.
    #[cfg(unix)]
    pub(crate) fn run_in(&self, folder: &str, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        fs::create_dir_all(self.path(folder)).unwrap();
        self.render(&self.command(&words).current_dir(self.path(folder)).output().unwrap())
    }

    /// Runs a command line whose words may contain spaces.
    pub(crate) fn run_words(&self, words: &[&str]) -> String {
        self.render(&self.command(words).output().unwrap())
    }

    /// Runs a command line with a text on stdin.
    pub(crate) fn run_with_input(&self, words: &[&str], input: &str) -> String {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that fails before it reads closes the pipe; its output is the result.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        self.render(&child.wait_with_output().unwrap())
    }

    /// Returns the text of a file with credential ids replaced.
    pub(crate) fn read(&self, path: &str) -> String {
        let text = fs::read_to_string(self.path(path)).unwrap();
        let is_id = |word: &&str| word.len() == 32 && word.chars().all(|c| c.is_ascii_hexdigit());
        let ids: Vec<String> = text.split('"').filter(is_id).map(str::to_owned).collect();
        ids.iter().fold(text, |text, id| text.replace(id, "[id]"))
    }

    /// Returns the permission bits of a file.
    #[cfg(unix)]
    pub(crate) fn mode(&self, path: &str) -> u32 {
        use std::os::unix::fs::PermissionsExt;

        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o777
    }

    /// Renders the exit code, stdout and stderr of a command, with paths replaced.
    pub(crate) fn render(&self, output: &Output) -> String {
        let text = |bytes: &[u8]| self.filter(&String::from_utf8_lossy(bytes));
        let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
        let stream = |name: &str, bytes: &[u8]| match bytes {
            [] => String::new(),
            _ => format!("--- {name}\n{}", text(bytes)),
        };
        let (mut stdout, stderr) =
            (stream("stdout", &output.stdout), stream("stderr", &output.stderr));
        if !stdout.is_empty() && !stdout.ends_with('\n') && !stderr.is_empty() {
            stdout.push_str("[no line end]\n");
        }
        format!("exit {code}\n{stdout}{stderr}")
    }

    /// Replaces the paths of the folders of this world by names.
    pub(crate) fn filter(&self, text: &str) -> String {
        let root = self.root.display().to_string();
        let (text, root) = if cfg!(windows) {
            // As JSON has them, and then as texts have them.
            let text = text.replace(&root.replace('\\', r"\\"), "/root").replace(&root, "/root");
            (with_slashes(&text), "/root".to_owned())
        } else {
            (text.to_owned(), root)
        };
        text.replace(&format!("{root}/home"), "~")
            .replace(&format!("{root}/project"), "[project]")
            .replace(&root, "[world]")
    }
}

/// Writes paths of Windows as those of Unix: a separator is a backslash, or two in JSON, between
/// parts of a path.
fn with_slashes(text: &str) -> String {
    let mut rendered = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        rendered.push_str(before);
        let length = if from.starts_with(r"\\") { 2 } else { 1 };
        let is_part =
            |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "._-~".contains(c));
        let is_path = is_part(before.chars().next_back().or(rendered.chars().next_back()))
            && is_part(from[length..].chars().next());
        rendered.push_str(if is_path { "/" } else { &from[..length] });
        rest = &from[length..];
    }
    rendered + rest
}

/// Returns the variables without which no program starts.
fn system_variables() -> Vec<(&'static str, std::ffi::OsString)> {
    let names: &[&'static str] = if cfg!(windows) { &["SystemRoot", "ComSpec"] } else { &[] };
    names.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))).collect()
}

/// Replaces durations.
#[cfg(unix)]
pub(crate) fn without_durations(text: &str) -> String {
    let mut rendered = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..].find(|c: char| !c.is_ascii_digit());
        let end = length.map_or(rest.len(), |length| start + length);
        let is_time = rest[end..].starts_with(" ms") || rest[..start].ends_with("Ms\": ");
        rendered.push_str(&rest[..start]);
        rendered.push_str(if is_time { "[time]" } else { &rest[start..end] });
        rest = &rest[end..];
    }
    rendered + rest
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    set_mode(path, mode);
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Does nothing: Windows has access lists, which files inherit from the folder of the test.
#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) {}
