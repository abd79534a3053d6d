//! The child environment: a server gets a short list of variables of the user, and those of its
//! entry.
//!
//! A server is a third-party program, and the environment of a user contains tokens. Exported shell
//! functions are never passed on, because some shells would run them.

use std::ffi::OsString;

use wharf_config::{Env, LaunchCommand, Platform, Policy};

/// Variables that every program needs.
const BASE: [&str; 11] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR", "TMP", "TEMP"];

/// Prefixes of more such variables.
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Proxies and certificates; upper and lower case are both in use.
const NETWORK: [&str; 8] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// Variables that most programs need on Windows.
const WINDOWS: [&str; 25] = [
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "COMPUTERNAME",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Builds the environment of a child. A later value replaces an earlier one.
pub(super) struct ChildEnvironment {
    platform: Platform,
    variables: Vec<(String, String)>,
}

impl ChildEnvironment {
    /// Starts with the variables of the user that a server may see.
    pub(super) fn new(env: &Env, policy: &Policy) -> Self {
        let platform = env.platform;
        let passed = passable_variables(env).filter(|(name, _)| is_passed(name, policy, platform));
        let variables = passed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { platform, variables }
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let platform = self.platform;
        self.variables.retain(|(own, _)| !is_same(own, name, platform));
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Returns a variable.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut variables = self.variables.iter();
        let found = variables.find(|(own, _)| is_same(own, name, self.platform));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns every variable and its value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns all variables, for starting the process.
    pub(super) fn into_variables(self) -> Vec<(OsString, OsString)> {
        self.variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
}

/// Tells whether the process of a server would have a variable: one that is passed on, or one that
/// its entry sets.
pub fn has_variable(
    launch: &LaunchCommand,
    policy: &Policy,
    name: &str,
    platform: Platform,
) -> bool {
    is_passed(name, policy, platform)
        || launch.env.iter().any(|(own, _)| is_same(own, name, platform))
}

fn is_passed(name: &str, policy: &Policy, platform: Platform) -> bool {
    policy.inherit_env
        || is_default_variable(name, platform)
        || policy.pass_env.iter().any(|own| is_same(own, name, platform))
}

/// Returns the full environment, for `!command` values.
pub(super) fn full_environment(env: &Env) -> Vec<(OsString, OsString)> {
    passable_variables(env).map(|(name, value)| (name.into(), value.into())).collect()
}

/// Returns why a pair is not valid in an environment, if it is not.
pub(super) fn invalid_variable(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) {
        Some("not a valid variable name")
    } else if value.contains('\0') {
        Some("its value has a zero byte")
    } else {
        None
    }
}

/// Tells whether two names are the same variable.
pub(super) fn is_same(one: &str, other: &str, platform: Platform) -> bool {
    match platform {
        Platform::Windows => one.eq_ignore_ascii_case(other),
        Platform::Linux | Platform::MacOs => one == other,
    }
}

/// Returns all valid variables except shell functions.
fn passable_variables(env: &Env) -> impl Iterator<Item = (&str, &str)> {
    env.variables().filter(|(name, value)| {
        let is_function = value.starts_with("()") || name.starts_with("BASH_FUNC_");
        !is_function && invalid_variable(name, value).is_none()
    })
}

fn is_default_variable(name: &str, platform: Platform) -> bool {
    let starts_with = |prefix: &&str| match platform {
        Platform::Windows => {
            name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        }
        Platform::Linux | Platform::MacOs => name.starts_with(*prefix),
    };
    BASE.iter().any(|known| is_same(known, name, platform))
        || PREFIXES.iter().any(starts_with)
        || NETWORK.iter().any(|known| *known == name || known.to_ascii_lowercase() == name)
        || platform == Platform::Windows
            && WINDOWS.iter().chain(&NETWORK).any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(env: &Env, policy: &Policy, expected: &str) {
        let child = ChildEnvironment::new(env, policy);
        let names: Vec<&str> = child.variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }

    fn env(platform: Platform, names: &[&str]) -> Env {
        let variables = names.iter().map(|name| ((*name).to_owned(), "x".to_owned()));
        Env::new(platform, "/").with_variables(variables)
    }

    #[test]
    fn a_child_gets_the_default_variables_and_no_token() {
        let env = env(
            Platform::Linux,
            &[
                "PATH",
                "HOME",
                "LC_ALL",
                "XDG_RUNTIME_DIR",
                "https_proxy",
                "HTTPS_PROXY",
                "ssl_cert_file",
                "Https_Proxy",
                "GITHUB_TOKEN",
                "AWS_SECRET_ACCESS_KEY",
                "path",
                "SYSTEMROOT",
                "LCX",
                "NODE_OPTIONS",
                "LD_PRELOAD",
                "PYTHONPATH",
                "BASH_ENV",
            ],
        );
        let short = "HOME HTTPS_PROXY LC_ALL PATH XDG_RUNTIME_DIR https_proxy ssl_cert_file";
        check(&env, &Policy::default(), short);
    }

    #[test]
    fn a_child_gets_the_variables_that_its_entry_passes() {
        let env = env(Platform::Linux, &["PATH", "DOCKER_HOST", "TOKEN"]);
        let pass_env = vec!["DOCKER_HOST".to_owned(), "UNSET".to_owned()];
        check(&env, &Policy { pass_env, ..Policy::default() }, "DOCKER_HOST PATH");
        check(&env, &Policy { inherit_env: true, ..Policy::default() }, "DOCKER_HOST PATH TOKEN");
    }

    #[test]
    fn an_exported_function_is_never_passed_on() {
        let env = env(Platform::Linux, &["PATH"])
            .with_variable("BASH_FUNC_ls%%", "() { evil; }")
            .with_variable("LC_OLD", "() { :; }; evil")
            .with_variable("BASH_FUNC_x()", "anything");
        let pass_env = vec!["BASH_FUNC_ls%%".to_owned(), "LC_OLD".to_owned()];
        check(&env, &Policy { pass_env, ..Policy::default() }, "PATH");
        check(&env, &Policy { inherit_env: true, ..Policy::default() }, "PATH");
        assert_eq!(full_environment(&env), [("PATH".into(), "x".into())]);
    }

    #[test]
    fn on_windows_variable_names_ignore_case() {
        let names = ["Path", "SystemRoot", "ProgramFiles(x86)", "Http_Proxy", "lc_all", "Token"];
        let env = env(Platform::Windows, &names);
        let policy = Policy { pass_env: vec!["TOKEN".to_owned()], ..Policy::default() };
        check(&env, &policy, "Http_Proxy Path ProgramFiles(x86) SystemRoot Token lc_all");
        let mut child = ChildEnvironment::new(&env, &policy);
        child.set("PATH", "new");
        assert_eq!(child.get("path"), Some("new"));
        assert_eq!(child.variables.len(), names.len());
    }
}
