//! Rates environment variables by their names for the trust prompt.
//!
//! Many variables make a program load or fetch code. A list of them can never be complete, so every
//! other variable gets a remark as well, unless it is known to be harmless.

/// The rating of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableRisk {
    /// Known to be harmless.
    None,
    /// Nothing is known about it.
    Unknown,
    /// Known to load, fetch or choose code.
    LoadsCode,
}

/// Variables that change the output of a program, not the code that it runs.
const HARMLESS: [&str; 16] = [
    "CI",
    "COLORTERM",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOG_FORMAT",
    "LOG_LEVEL",
    "NO_COLOR",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Variables that decide which code is loaded, run or fetched, or which certificates are accepted.
const LOADING: [&str; 60] = [
    "APPDATA",
    "AWKPATH",
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CC",
    "CLASSPATH",
    "COMSPEC",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "CXX",
    "EDITOR",
    "ENV",
    "FPATH",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "GNUPGHOME",
    "GOENV",
    "GOFLAGS",
    "GOINSECURE",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GTK_MODULES",
    "GTK_PATH",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "LD_PRELOAD",
    "LOCALAPPDATA",
    "LOCPATH",
    "MAKEFLAGS",
    "NETRC",
    "NLSPATH",
    "PAGER",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROMPT_COMMAND",
    "PS4",
    "PSMODULEPATH",
    "REQUESTS_CA_BUNDLE",
    "RES_OPTIONS",
    "SHELL",
    "SHELLOPTS",
    "SUDO_ASKPASS",
    "SYSTEMROOT",
    "TCLLIBPATH",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USERPROFILE",
    "VISUAL",
    "WGETRC",
    "WINDIR",
    "WHARF_HOME",
    "ZDOTDIR",
    "ZSH",
];

/// Prefixes of such variables.
const LOADING_PREFIXES: [&str; 53] = [
    "BASH_FUNC_",
    "BUNDLE_",
    "BUN_",
    "CARGO_",
    "COMPLUS_",
    "CONDA_",
    "CONTAINERS_",
    "CORECLR_",
    "COREPACK_",
    "COR_",
    "DENO_",
    "DOCKER_",
    "DOTNET_",
    "DYLD_",
    "ELECTRON_",
    "ELIXIR_",
    "ERL_",
    "GEM_",
    "GIO_",
    "GIT_",
    "GRADLE_",
    "GUILE_",
    "JAVA_",
    "JDK_",
    "KUBE",
    "LD_",
    "LUA_",
    "MAVEN_",
    "NODE_",
    "NPM_",
    "OPENSSL_",
    "PERL5",
    "PERL_",
    "PHP",
    "PIPX_",
    "PIP_",
    "PNPM_",
    "PODMAN_",
    "POETRY_",
    "PYTHON",
    "QT_",
    "RUBY",
    "RUSTC",
    "RUSTUP_",
    "R_",
    "SSH_",
    "SSL_",
    "UV_",
    "VIRTUAL_ENV",
    "VSCODE_",
    "XDG_",
    "YARN_",
    "_JAVA_",
];

impl VariableRisk {
    /// Rates a variable by its name, ignoring case as npm and Windows do.
    pub(super) fn on(name: &str) -> Self {
        let name = name.to_ascii_uppercase();
        let name = name.as_str();
        if HARMLESS.contains(&name) || name.starts_with("LC_") {
            return Self::None;
        }
        let loads = LOADING.contains(&name)
            || LOADING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || name.ends_with("_PROXY");
        if loads { Self::LoadsCode } else { Self::Unknown }
    }

    /// Returns the remark for the prompt, if there is one.
    pub(super) fn words(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Unknown => Some("may change what it does"),
            Self::LoadsCode => Some("warning: can make it load or run other code"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_load_code_are_known() {
        let loading = [
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "_JAVA_OPTIONS",
            "DOTNET_STARTUP_HOOKS",
            "LUA_INIT",
            "BASH_ENV",
            "ENV",
            "PS4",
            "SHELLOPTS",
            "GCONV_PATH",
            "GIT_SSH_COMMAND",
            "SSL_CERT_FILE",
            "XDG_CONFIG_HOME",
            "DOCKER_HOST",
            "npm_config_registry",
            "UV_INDEX_URL",
            "https_proxy",
            "PATH",
            "HOME",
        ];
        for name in loading {
            assert_eq!(VariableRisk::on(name), VariableRisk::LoadsCode, "{name}");
        }
        for name in ["LOG_LEVEL", "LC_ALL", "NODE_ENV", "PYTHONUNBUFFERED"] {
            assert_eq!(VariableRisk::on(name), VariableRisk::None, "{name}");
        }
        for name in ["API_KEY", "BASE_URL", "", "日本", "LOG"] {
            assert_eq!(VariableRisk::on(name), VariableRisk::Unknown, "{name}");
        }
    }
}
