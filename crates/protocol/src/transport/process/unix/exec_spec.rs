//! The arguments of `execve` for a launch, prepared before the child exists.
//!
//! The child cannot allocate, so all candidate paths of the program are listed here, as `execvp`
//! would try them: a name with a slash is a path; any other name is searched in the `PATH` of the
//! child's environment.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::super::launch::ProcessLaunch;
use super::super::marker::{Marker, VARIABLE};

/// The search path if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The interpreter of a script without `#!`.
const SHELL: &CStr = c"/bin/sh";

/// A program to start.
pub(super) struct ExecSpec {
    /// The paths to try in turn.
    pub(super) candidates: Vec<CString>,
    /// The arguments; the first is the program as configured.
    pub(super) arguments: Vec<CString>,
    /// The environment, one `name=value` each.
    pub(super) environment: Vec<CString>,
    pub(super) folder: Option<CString>,
}

impl ExecSpec {
    /// Prepares a launch. Fails if any string contains a NUL byte.
    pub(super) fn new(launch: &ProcessLaunch, marker: Marker) -> io::Result<Self> {
        let path = launch.variable("PATH").unwrap_or(OsStr::new(DEFAULT_PATH));
        let folder = launch.folder.as_ref().map(|folder| text(&[folder.as_os_str()]));
        let arguments = std::iter::once(&launch.program).chain(&launch.arguments);
        Ok(Self {
            candidates: candidates(&launch.program, path)?,
            arguments: arguments.map(|argument| text(&[argument])).collect::<io::Result<_>>()?,
            environment: environment(launch, marker)?,
            folder: folder.transpose()?,
        })
    }

    /// Returns the arguments for running a candidate with the shell.
    pub(super) fn with_shell(self, candidate: usize) -> Option<Self> {
        let script = self.candidates.into_iter().nth(candidate)?;
        let rest = self.arguments.into_iter().skip(1);
        let arguments = [SHELL.to_owned(), script].into_iter().chain(rest).collect();
        Some(Self { candidates: vec![SHELL.to_owned()], arguments, ..self })
    }
}

fn candidates(program: &OsStr, path: &OsStr) -> io::Result<Vec<CString>> {
    if program.is_empty() || program.as_bytes().contains(&b'/') {
        return Ok(vec![text(&[program])?]);
    }
    let place = |place: &[u8]| match place {
        // An empty entry means the working directory of the program.
        [] => text(&[program]),
        place => text(&[OsStr::from_bytes(place), OsStr::new("/"), program]),
    };
    path.as_bytes().split(|&byte| byte == b':').map(place).collect()
}

fn environment(launch: &ProcessLaunch, marker: Marker) -> io::Result<Vec<CString>> {
    let marker = marker.to_string();
    let mut variables: BTreeMap<&OsStr, &OsStr> =
        launch.environment.iter().map(|(name, value)| (&**name, &**value)).collect();
    variables.insert(OsStr::new(VARIABLE), OsStr::new(&marker));
    variables.iter().map(|(name, value)| text(&[name, OsStr::new("="), value])).collect()
}

/// Joins pieces to a string that ends with a NUL byte.
fn text(pieces: &[&OsStr]) -> io::Result<CString> {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut joined = Vec::with_capacity(length + 1);
    for piece in pieces {
        joined.extend_from_slice(piece.as_bytes());
    }
    Ok(CString::new(joined)?)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::super::super::launch::ProcessLaunch;
    use super::super::super::marker::Marker;
    use super::ExecSpec;

    fn spec(launch: &ProcessLaunch) -> ExecSpec {
        ExecSpec::new(launch, Marker::next()).unwrap()
    }

    fn check(program: &str, path: Option<&str>, expected: &[&str]) {
        let mut launch = ProcessLaunch::new(program);
        launch.environment = path.map(|path| ("PATH".into(), path.into())).into_iter().collect();
        let candidates = spec(&launch).candidates;
        let candidates: Vec<_> = candidates.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(candidates, expected);
    }

    #[test]
    fn a_bare_name_is_searched_in_the_path_of_the_program() {
        check("tool", Some("/a:b:/c/"), &["/a/tool", "b/tool", "/c//tool"]);
        check("tool", Some("/a::"), &["/a/tool", "tool", "tool"]);
        check("tool", Some(""), &["tool"]);
        check("tool", None, &["/bin/tool", "/usr/bin/tool"]);
    }

    #[test]
    fn a_name_with_a_slash_is_not_searched() {
        check("./tool", Some("/a"), &["./tool"]);
        check("/b/tool", Some("/a"), &["/b/tool"]);
        check("", Some("/a"), &[""]);
    }

    #[test]
    fn only_the_last_value_of_a_variable_is_kept() {
        let mut launch = ProcessLaunch::new("tool");
        launch.environment = vec![("B".into(), "1".into()), ("B".into(), "2".into())];
        launch.environment.push(("WHARF_SESSION".into(), "mine".into()));
        let environment = spec(&launch).environment;
        assert_eq!(environment[0].as_c_str(), c"B=2");
        assert_eq!(environment.len(), 2, "{environment:?}");
        assert_ne!(environment[1].as_c_str(), c"WHARF_SESSION=mine");
    }

    #[test]
    fn a_nul_byte_is_rejected_everywhere() {
        let launch = ProcessLaunch::new("tool");
        let launches = [
            ProcessLaunch::new("to\0ol"),
            ProcessLaunch { arguments: vec!["\0".into()], ..launch.clone() },
            ProcessLaunch { environment: vec![("A".into(), "\0".into())], ..launch.clone() },
            ProcessLaunch { folder: Some("/a\0".into()), ..launch },
        ];
        for launch in launches {
            let error = ExecSpec::new(&launch, Marker::next()).err().unwrap();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
