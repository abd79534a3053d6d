//! Runs cargo from the workspace root; its output goes directly to the terminal.
//!
//! This is the only file that reads the environment. Other programs are started by `program.rs`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The cargo that started xtask, and the settings from the environment.
pub(crate) struct Cargo {
    program: OsString,
    root: PathBuf,
    /// What to do about a tool that is not installed.
    pub(crate) missing_tools: MissingTools,
}

/// Whether a check whose tool is not installed may be skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingTools {
    /// On a developer's machine: continue, and name the skipped check.
    Skip,
    /// On CI: a check that did not run is a check that failed.
    Fail,
}

impl Cargo {
    /// Reads `CARGO` and `CI`.
    #[expect(clippy::disallowed_methods, reason = "a developer's tool; `Env` belongs to Wharf")]
    pub(crate) fn from_environment() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let ci = env::var_os("CI").is_some_and(|value| value == "true" || value == "1");
        Self {
            program: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            root: manifest.parent().unwrap_or(manifest).to_owned(),
            missing_tools: if ci { MissingTools::Fail } else { MissingTools::Skip },
        }
    }

    /// Returns the workspace root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether `cargo <subcommand>` works on this machine.
    pub(crate) fn has(&self, subcommand: &str) -> bool {
        self.command(&[subcommand, "--version"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Runs cargo and waits for its end; the error is the reason in words.
    pub(crate) fn run(&self, arguments: &[&str], set: &[(&str, &str)]) -> Result<(), String> {
        let status = self
            .command(arguments)
            .envs(set.iter().copied())
            .status()
            .map_err(|error| format!("could not start cargo: {error}"))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    }

    /// Runs cargo and returns what it prints.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self
            .command(arguments)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("could not start cargo: {error}"))?;
        if !output.status.success() {
            return Err(output.status.to_string());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Builds a binary and returns its path, which depends on the target directory of cargo.
    pub(crate) fn build(&self, package: &str, binary: &str) -> Result<PathBuf, String> {
        let output = self
            .command(&["build", "--locked", "--package", package, "--bin", binary])
            .arg("--message-format=json-render-diagnostics")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("could not start cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("could not build `{binary}` ({})", output.status));
        }
        executable(&String::from_utf8_lossy(&output.stdout), binary)
            .ok_or_else(|| format!("cargo did not print the path of `{binary}`"))
    }

    #[expect(clippy::disallowed_methods, reason = "no process tree to guard: Ctrl-C reaches cargo")]
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.root);
        command
    }
}

/// Finds the path of a binary in cargo's messages, which are one JSON object per line.
fn executable(messages: &str, binary: &str) -> Option<PathBuf> {
    messages.lines().rev().find_map(|line| {
        let (_, rest) = line.split_once(r#""executable":""#)?;
        // The only escaped character in a path that cargo prints is the backslash of Windows.
        let path = PathBuf::from(rest.split('"').next()?.replace(r"\\", r"\"));
        path.file_stem().is_some_and(|stem| stem == binary).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_found_in_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","executable":null,"fresh":true}
{"reason":"compiler-artifact","executable":"/target/debug/wharf-bench","fresh":true}
{"reason":"compiler-artifact","executable":"/target/debug/wharf-conformance","fresh":true}
{"reason":"build-finished","success":true}"#;
        let found = executable(messages, "wharf-conformance");
        assert_eq!(found, Some(PathBuf::from("/target/debug/wharf-conformance")));
        assert_eq!(executable(messages, "wharf"), None);
    }
}
