//! The program, arguments and environment of a process to start, completely resolved.
//!
//! Arguments and environment may contain secrets, so `Debug` never shows their values.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use crate::redact::Redactor;

/// A program to start, with its arguments, environment and folder.
#[derive(Clone)]
pub struct ProcessLaunch {
    /// The program: a path, or a name that is looked up in the `PATH` of `environment`.
    pub program: OsString,
    /// Its arguments, without the program itself.
    pub arguments: Vec<OsString>,
    /// What follows the arguments on the command line of Windows, without quotes of our own: some
    /// programs, such as `cmd.exe`, do not parse it as others do. Has no effect on other systems.
    pub raw_arguments: Option<OsString>,
    /// Its complete environment. Nothing is inherited; a later entry replaces an earlier one.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory; `None` for that of this process.
    pub folder: Option<PathBuf>,
    /// Redacts secrets, such as tokens in the above, in its stderr.
    pub redactor: Redactor,
}

impl ProcessLaunch {
    /// Creates a launch without arguments and with an empty environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            raw_arguments: None,
            environment: Vec::new(),
            folder: None,
            redactor: Redactor::default(),
        }
    }

    /// Returns the value that a variable will have in the program.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .iter()
            .rev()
            .find(
                |(key, _)| if cfg!(windows) { key.eq_ignore_ascii_case(name) } else { key == name },
            )
            .map(|(_, value)| value.as_os_str())
    }
}

impl fmt::Debug for ProcessLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("environment", &names)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::ProcessLaunch;

    #[test]
    fn debug_output_omits_arguments_and_environment_values() {
        let launch = ProcessLaunch {
            arguments: vec!["--token=hunter2".into()],
            environment: vec![("API_KEY".into(), "hunter3".into())],
            ..ProcessLaunch::new("server")
        };
        insta::assert_snapshot!(
            format!("{launch:?}"),
            @r#"Launch { program: "server", arguments: 1, environment: ["API_KEY"], folder: None, .. }"#
        );
    }

    #[test]
    fn the_last_value_of_a_variable_counts() {
        let mut launch = ProcessLaunch::new("server");
        launch.environment = vec![("A".into(), "1".into()), ("A".into(), "2".into())];
        assert_eq!(launch.variable("A"), Some("2".as_ref()));
        assert_eq!(launch.variable("B"), None);
    }
}
