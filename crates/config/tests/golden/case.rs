//! Parses a sample case and creates its files in a temporary folder.
//!
//! ```text
//! # what this case tests
//! cwd: sub/dir                     (the working folder; the project's root by default)
//! env: NAME=value                  (may be repeated)
//! === ~/.cursor/mcp.json
//! …content, up to the next path…
//! === linux: ~/.config/a.json | macos: ~/Library/Application Support/a.json | windows: %APPDATA%/a.json
//! === project: .cursor/mcp.json
//! === linux, macos: /etc/a.json | windows: %ProgramFiles%/A/a.json
//! ```
//!
//! A path begins with `~`, with `/` (the system root), with `%APPDATA%`, `%LOCALAPPDATA%`,
//! `%ProgramData%` or `%ProgramFiles%`, or with `project:`. A file without a path for a system does
//! not exist there. `[home]`, `[project]` and `[system]` in contents and variables become paths.

use std::path::{Path, PathBuf};

use wharf_config::{Env, Platform};

/// The files and variables of one machine, as written in a case.
#[derive(Default)]
pub(crate) struct Case {
    /// What the case tests.
    pub(crate) about: String,
    cwd: String,
    variables: Vec<(String, String)>,
    files: Vec<File>,
}

#[derive(Default)]
struct File {
    linux: Option<String>,
    macos: Option<String>,
    windows: Option<String>,
    content: String,
}

/// The files and environment of a case, in a temporary folder.
pub(crate) struct SampleMachine {
    pub(crate) env: Env,
    /// Paths and the names that replace them in the output, longest first.
    pub(crate) names: Vec<(String, String)>,
    /// Removes the machine when dropped.
    _folder: tempfile::TempDir,
}

impl Case {
    /// Parses a case; panics if it is malformed.
    pub(crate) fn parse(text: &str) -> Self {
        let mut case = Self::default();
        for line in text.lines() {
            if let Some(places) = line.strip_prefix("=== ") {
                case.files.push(File::parse(places));
            } else if let Some(file) = case.files.last_mut() {
                file.content.push_str(line);
                file.content.push('\n');
            } else if let Some(about) = line.strip_prefix("# ") {
                case.about.push_str(if case.about.is_empty() { "" } else { " " });
                case.about.push_str(about);
            } else if let Some(folder) = line.strip_prefix("cwd: ") {
                folder.clone_into(&mut case.cwd);
            } else if let Some((name, value)) =
                line.strip_prefix("env: ").and_then(|pair| pair.split_once('='))
            {
                case.variables.push((name.to_owned(), value.to_owned()));
            } else {
                assert!(line.is_empty(), "unknown line: {line}");
            }
        }
        case
    }

    /// Writes the files to their paths on a platform.
    pub(crate) fn create_on(&self, platform: Platform) -> SampleMachine {
        let folder = tempfile::tempdir().expect("a folder");
        let root = wharf_config::real_path(folder.path()).expect("its real path");
        let [home, project, system] = ["home", "project", "system"].map(|name| root.join(name));
        let cwd = project.join(&self.cwd);
        for folder in [&home, &project.join(".git"), &system, &cwd] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        // Paths in contents have forward slashes on all hosts, so that they need no escaping.
        let plain = |path: &Path| path.to_string_lossy().replace('\\', "/");
        let fill = |text: &str| {
            text.replace("[home]", &plain(&home))
                .replace("[project]", &plain(&project))
                .replace("[system]", &plain(&system))
        };
        let cwd = if self.cwd.is_empty() { project.clone() } else { cwd };
        let mut env = Env::new(platform, cwd).with_home(&home).with_system_root(&system);
        let folders = windows_folders(&home, &system);
        if platform == Platform::Windows {
            for (name, path) in &folders {
                env = env.with_variable(*name, path.to_string_lossy());
            }
        }
        for (name, value) in &self.variables {
            env = env.with_variable(name, fill(value));
        }
        let mut names = Vec::new();
        for file in &self.files {
            let Some(place) = file.place(platform) else { continue };
            let path = path_of(place, [&home, &project, &system], &folders);
            write(&path, &fill(&file.content));
            // A file has the same name on all systems, so that the outputs can be compared.
            let name = file.name().replacen("project: ", "[project]/", 1);
            names.push((path, name));
        }
        let roots = [(home, "~"), (project, "[project]"), (system, "[system]")];
        names.extend(roots.map(|(path, name)| (path, name.to_owned())));
        let mut names: Vec<_> = names
            .into_iter()
            .map(|(path, name)| (path.to_string_lossy().into_owned(), name))
            .collect();
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        SampleMachine { env, names, _folder: folder }
    }
}

impl File {
    fn parse(places: &str) -> Self {
        let mut file = Self::default();
        for part in places.split('|').map(str::trim) {
            let named = part.split_once(':').filter(|(systems, _)| *systems != "project");
            let Some((systems, place)) = named else {
                let everywhere = || Some(part.to_owned());
                return Self {
                    linux: everywhere(),
                    macos: everywhere(),
                    windows: everywhere(),
                    ..Self::default()
                };
            };
            for system in systems.split(',').map(str::trim) {
                let slot = match system {
                    "linux" => &mut file.linux,
                    "macos" => &mut file.macos,
                    "windows" => &mut file.windows,
                    other => panic!("no such system: {other}"),
                };
                *slot = Some(place.trim().to_owned());
            }
        }
        file
    }

    fn place(&self, platform: Platform) -> Option<&str> {
        match platform {
            Platform::Linux => self.linux.as_deref(),
            Platform::MacOs => self.macos.as_deref(),
            Platform::Windows => self.windows.as_deref(),
        }
    }

    fn name(&self) -> &str {
        [&self.linux, &self.macos, &self.windows].into_iter().flatten().next().expect("a place")
    }
}

fn windows_folders(home: &Path, system: &Path) -> [(&'static str, PathBuf); 4] {
    [
        ("APPDATA", home.join("AppData").join("Roaming")),
        ("LOCALAPPDATA", home.join("AppData").join("Local")),
        ("ProgramData", system.join("ProgramData")),
        ("ProgramFiles", system.join("Program Files")),
    ]
}

fn path_of(
    place: &str,
    [home, project, system]: [&PathBuf; 3],
    folders: &[(&str, PathBuf)],
) -> PathBuf {
    let below = |folder: &Path, rest: &str| {
        rest.split('/').filter(|part| !part.is_empty()).fold(folder.to_owned(), |path, part| {
            assert!(part != "..", "the path leaves its root: {place}");
            path.join(part)
        })
    };
    if let Some(rest) = place.strip_prefix("project:") {
        return below(project, rest.trim());
    }
    if let Some(rest) = place.strip_prefix('~') {
        return below(home, rest);
    }
    if let Some((variable, rest)) = place.strip_prefix('%').and_then(|rest| rest.split_once('%')) {
        let known = folders.iter().find(|(name, _)| *name == variable);
        return below(&known.expect("a folder of Windows").1, rest);
    }
    assert!(place.starts_with('/'), "unknown start of a path: {place}");
    below(system, place)
}

#[expect(clippy::disallowed_methods, reason = "a sample file of a test")]
fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder above")).expect("a folder");
    std::fs::write(path, content).expect("a file");
}
