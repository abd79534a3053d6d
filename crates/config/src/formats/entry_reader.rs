//! Reads one server entry: maps the field names of all programs to our fields.
//!
//! Every spelling is accepted in every file, because people copy entries between programs. The
//! dialect decides only where two programs give one field name different meanings. Fields of a
//! single program are read by its `read_extra_fields`; single values are read in `scalars`.

use crate::document::{Map, Node};
use crate::env::Env;
use crate::problem::{Problem, ProblemText};
use crate::secret::Secret;
use crate::server::{
    Approval, Auth, AuthKind, EntryFields, OAuth, PROTOCOL_VERSIONS, Policy, SwitchedOff,
    TransportKind, WrittenText,
};

use super::file_reader::FileReader;
use super::program::{Dialect, TimeUnit, TimeoutKind};

/// Reads one entry; collects its fields and problems.
pub(crate) struct EntryReader<'a> {
    pub(crate) env: &'a Env,
    pub(crate) dialect: Dialect,
    pub(crate) name: String,
    pub(crate) line: u32,
    pub(crate) fields: EntryFields,
    off: Option<SwitchedOff>,
    hints: Vec<String>,
    problems: Vec<Problem>,
    path: &'a std::path::Path,
    program_name: &'static str,
    read_extra_fields: fn(&Map, &mut EntryReader<'_>),
}

/// What an entry yields: name, fields, disabled state, approval hints and problems.
pub(super) type EntryParts = (String, EntryFields, Option<SwitchedOff>, Vec<String>, Vec<Problem>);

/// The fields of a Wharf entry, for suggesting a correction of a misspelled one.
const KNOWN_FIELDS: [&str; 28] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "enabled",
    "disabled",
    "timeout",
    "connectTimeout",
    "callTimeout",
    "auth",
    "oauth",
    "account",
    "approval",
    "toolApproval",
    "prefix",
    "includeTools",
    "excludeTools",
    "inheritEnv",
    "passEnv",
    "strict",
    "retry",
    "lazy",
    "required",
    "instructions",
    "protocolVersion",
];

impl<'a> EntryReader<'a> {
    pub(super) fn new(reader: &'a FileReader<'_>, name: String, line: u32) -> Self {
        Self {
            env: reader.env,
            dialect: reader.dialect,
            name,
            line,
            fields: EntryFields::default(),
            off: None,
            hints: Vec::new(),
            problems: Vec::new(),
            path: &reader.source.path,
            program_name: reader.program.name,
            read_extra_fields: reader.program.read_extra_fields,
        }
    }

    pub(super) fn into_parts(self) -> EntryParts {
        (self.name, self.fields, self.off, self.hints, self.problems)
    }

    /// Reads all fields.
    pub(super) fn read_fields(&mut self, map: &Map) {
        self.fields.url_kind = Some(self.dialect.url);
        self.fields.syntax = self.dialect.syntax;
        for (key, node) in map.iter() {
            let word = key.text.as_str();
            if node.is_null() {
                self.warn_null(word, node);
            } else {
                let _known = self.read_field(word, node) || self.warn_if_misspelled(word, node);
            }
        }
        (self.read_extra_fields)(map, self);
        self.split_command_line();
        if self.dialect.needs_type && self.fields.kind.is_none() && self.fields.url.is_some() {
            let message =
                format!("{} requires a \"type\" beside \"url\"; read as http", self.program_name);
            self.warn("no-type", self.line, "type", (message, "add \"type\": \"http\""));
        }
    }

    /// Reads a field; returns whether it is a known one.
    fn read_field(&mut self, word: &str, node: &Node) -> bool {
        self.read_launch_field(word, node)
            || self.read_remote_field(word, node)
            || self.read_switch(word, node)
            || self.read_timeouts(word, node)
            || self.read_tool_filter(word, node)
            || (self.dialect.native && self.read_native_field(word, node))
    }

    /// Reports a known field that is null. The field is read and undone to find out whether it is
    /// known.
    fn warn_null(&mut self, word: &str, node: &Node) {
        let before = (self.fields.clone(), self.off.clone());
        let (hints, problems) = (self.hints.len(), self.problems.len());
        let is_ours = self.read_field(word, node);
        (self.fields, self.off) = before;
        self.hints.truncate(hints);
        self.problems.truncate(problems);
        if is_ours {
            let message = format!("\"{word}\" is null; ignored");
            self.warn("wrong-type", node.line, word, (message, "give it a value, or remove it"));
        }
    }

    fn read_launch_field(&mut self, word: &str, node: &Node) -> bool {
        match word {
            "type" | "transport" | "transportType" => self.fields.kind = self.trimmed(word, node),
            "command" | "cmd" => self.read_command(word, node),
            "args" | "arguments" => {
                let args = self.arguments(word, node);
                self.fields.args.extend(args);
            }
            "env" | "environment" | "envs" => {
                let pairs = self.pairs(word, "env", node);
                self.fields.env.extend(pairs);
            }
            "envFile" | "env_file" => self.fields.env_file = self.written(word, node),
            "cwd" | "workingDirectory" | "working_directory" | "workdir" => {
                self.fields.cwd = self.written(word, node);
            }
            _ => return false,
        }
        true
    }

    fn read_remote_field(&mut self, word: &str, node: &Node) -> bool {
        match word {
            "url" | "serverUrl" | "server_url" | "baseUrl" | "uri" | "endpoint" => {
                if self.fields.url.is_none() {
                    self.fields.url = self.written(word, node);
                }
            }
            // Gemini and its forks: `httpUrl` takes precedence over `url` and is never SSE.
            "httpUrl" => {
                self.fields.url = self.written(word, node);
                self.fields.url_kind = Some(TransportKind::Http);
            }
            "headers" | "http_headers" | "httpHeaders" => {
                let pairs = self.pairs(word, "headers", node);
                self.fields.headers.extend(pairs);
            }
            "requestInit" | "requestOptions" => {
                if let Some(headers) = node.get("headers") {
                    let pairs = self.pairs("headers", "headers", headers);
                    self.fields.headers.extend(pairs);
                }
            }
            "headersHelper" | "http_headers_helper" | "headers_helper" => {
                // It is a command of a shell, and may contain a password.
                self.fields.headers_helper = Some(Secret::new(node.as_str().unwrap_or(word)));
                let message = "its headers come from a program, which is not run here".to_owned();
                self.warn(
                    "unsupported",
                    node.line,
                    word,
                    (message, "write the headers into the entry itself"),
                );
            }
            "oauth" => self.read_oauth(node),
            "auth" => self.read_auth(node),
            _ => return false,
        }
        true
    }

    fn read_switch(&mut self, word: &str, node: &Node) -> bool {
        let off_when = match word {
            "enabled" => false,
            "disabled" => true,
            _ => return false,
        };
        if self.flag(word, node) == Some(off_when) {
            let reason = format!("switched off by \"{word}\"");
            self.off = Some(SwitchedOff {
                reason,
                by_other_program: self.program_name != super::wharf::NAME,
            });
        }
        true
    }

    fn read_timeouts(&mut self, word: &str, node: &Node) -> bool {
        let (kind, unit) = match word {
            "timeout" if node.as_map().is_some() => {
                // opencode version 2 has both timeouts in one object.
                for (key, limit) in node.as_map().into_iter().flat_map(Map::iter) {
                    match key.text.as_str() {
                        "startup" => {
                            self.read_timeout(
                                "timeout.startup",
                                limit,
                                TimeoutKind::Connect,
                                self.dialect.unit,
                            );
                        }
                        "request" => {
                            self.read_timeout(
                                "timeout.request",
                                limit,
                                TimeoutKind::Call,
                                self.dialect.unit,
                            );
                        }
                        _ => {}
                    }
                }
                return true;
            }
            "timeout" => (self.dialect.timeout_kind, self.dialect.unit),
            "connectTimeout" | "startup_timeout_ms" => {
                (TimeoutKind::Connect, TimeUnit::Milliseconds)
            }
            "connect_timeout" => (TimeoutKind::Connect, self.dialect.unit),
            "startup_timeout_sec" | "connect_timeout_seconds" => {
                (TimeoutKind::Connect, TimeUnit::Seconds)
            }
            "callTimeout" | "requestTimeoutMs" | "request_timeout_ms" | "tool_timeout_ms" => {
                (TimeoutKind::Call, TimeUnit::Milliseconds)
            }
            "tool_timeout_sec" | "call_timeout_seconds" => (TimeoutKind::Call, TimeUnit::Seconds),
            _ => return false,
        };
        self.read_timeout(word, node, kind, unit);
        true
    }

    fn read_tool_filter(&mut self, word: &str, node: &Node) -> bool {
        match word {
            "includeTools" | "enabledTools" | "enabled_tools" | "allowedTools"
            | "allowed_tools" | "available_tools" => {
                let tools = self.texts(word, node);
                // In the programs with these fields, an empty list means no filter.
                let unlimited =
                    matches!(word, "available_tools" | "allowedTools" | "allowed_tools");
                if !tools.is_empty() || !unlimited {
                    self.fields.policy.include_tools.get_or_insert_default().extend(tools);
                }
            }
            "tools" if node.as_list().is_some() => {
                let tools = self.texts(word, node);
                self.fields.policy.include_tools.get_or_insert_default().extend(tools);
            }
            "excludeTools" | "excludedTools" | "disabledTools" | "disabled_tools"
            | "blockedTools" | "blocked_tools" => {
                let tools = self.texts(word, node);
                self.fields.policy.exclude_tools.extend(tools);
            }
            "autoApprove"
            | "alwaysAllow"
            | "trust"
            | "default_tools_approval_mode"
            | "approval"
            | "toolApproval"
                if !(self.dialect.native && word.ends_with("pproval")) =>
            {
                self.add_approval_hint(word, node);
            }
            _ => return false,
        }
        true
    }

    fn read_native_field(&mut self, word: &str, node: &Node) -> bool {
        match word {
            "approval" => {
                if let Some(approval) = self.read_approval(word, node) {
                    self.fields.policy.approval = approval;
                }
            }
            "toolApproval" if node.as_map().is_none() => {
                let message = format!("\"{word}\" must be an object, not {}; ignored", node.kind());
                let hint = "write \"toolApproval\": { \"tool\": \"ask\" }";
                self.warn("wrong-type", node.line, word, (message, hint));
            }
            "toolApproval" => {
                for (key, value) in node.as_map().into_iter().flat_map(Map::iter) {
                    if let Some(approval) = self.read_approval(word, value) {
                        self.fields.policy.tool_approval.push((key.text.clone(), approval));
                    }
                }
            }
            "prefix" => self.fields.policy.prefix = self.text(word, node),
            "account" => self.fields.account = self.text(word, node),
            "inheritEnv" => self.fields.policy.inherit_env = self.flag(word, node) == Some(true),
            "passEnv" => self.fields.policy.pass_env = self.texts(word, node),
            "strict" => self.fields.policy.strict = self.flag(word, node) == Some(true),
            "lazy" => self.fields.policy.lazy = self.flag(word, node) == Some(true),
            "required" => self.fields.policy.required = self.flag(word, node) == Some(true),
            "instructions" => {
                self.fields.policy.without_instructions = self.flag(word, node) == Some(false);
            }
            "retry" if node.as_str() != Some("hints") => {
                let message = "\"retry\" must be \"hints\"; ignored".to_owned();
                self.warn(
                    "wrong-type",
                    node.line,
                    word,
                    (message, "remove it, or write \"hints\""),
                );
            }
            "retry" => self.fields.policy.retry_on_hints = true,
            "protocolVersion" => {
                let known = node.as_str().filter(|text| PROTOCOL_VERSIONS.contains(text));
                if known.is_none() {
                    let message = format!("\"{word}\" is not a known protocol revision; ignored");
                    let hint = format!("use one of {}", PROTOCOL_VERSIONS.join(", "));
                    self.warn("wrong-type", node.line, word, (message, hint));
                }
                self.fields.policy.protocol_version = known.map(str::to_owned);
            }
            _ => return false,
        }
        true
    }

    fn warn_if_misspelled(&mut self, word: &str, node: &Node) -> bool {
        if self.dialect.native
            && let Some(meant) = crate::text::nearest(word, KNOWN_FIELDS)
        {
            let message = format!("unknown field \"{word}\"");
            self.warn(
                "unknown-field",
                node.line,
                word,
                (message, format!("did you mean \"{meant}\"?")),
            );
        }
        false
    }

    fn read_command(&mut self, word: &str, node: &Node) {
        match (node.as_list(), node.as_map()) {
            // opencode, mcporter: the command and its arguments are one list.
            (Some(_), _) => {
                let mut words = self.arguments(word, node).into_iter();
                self.fields.command = words.next();
                self.fields.args.splice(0..0, words);
            }
            // Zed's older format has all launch fields under `command`.
            (_, Some(map)) => {
                for (key, value) in map.iter() {
                    match key.text.as_str() {
                        "path" => self.fields.command = self.written(word, value),
                        other => {
                            self.read_launch_field(other, value);
                        }
                    }
                }
            }
            _ => self.fields.command = self.written(word, node),
        }
    }

    /// Splits `"command": "npx -y package"`: a shell would accept it, but no such program exists.
    fn split_command_line(&mut self) {
        let Some(command) = &self.fields.command else { return };
        let text = &command.text;
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_quoted = first.starts_with(['"', '\'']);
        // An unquoted path may contain spaces, so it is not split.
        let is_path = first.contains(['/', '\\']) || first.starts_with('~');
        if first.len() == text.len() || !self.fields.args.is_empty() || (is_path && !is_quoted) {
            return;
        }
        let words = self.split_words(text).filter(|words| words.len() > 1 || is_quoted);
        let Some(words) = words else { return };
        let syntax = command.syntax;
        let mut words = words.into_iter().map(|text| WrittenText { text, syntax });
        self.fields.command = words.next();
        self.fields.args = words.collect();
        let message =
            "\"command\" holds a whole command line; read as program and arguments".to_owned();
        self.warn(
            "command-line",
            self.line,
            "command",
            (message, "put the arguments into \"args\""),
        );
    }

    fn read_auth(&mut self, node: &Node) {
        if !self.dialect.native {
            if node.get("CLIENT_ID").is_some() || node.get("redirectPort").is_some() {
                // Cursor and Copilot: a pre-registered OAuth client.
                self.read_oauth(node);
            }
            return;
        }
        let kind = match node.get("type").and_then(Node::as_str) {
            Some("oauth") => AuthKind::Oauth,
            Some("bearer") => AuthKind::Bearer,
            _ => {
                let at = node.get("type").unwrap_or(node);
                let message = "\"auth.type\" must be \"oauth\" or \"bearer\"; ignored".to_owned();
                let hint = "write \"auth\": { \"type\": \"bearer\", \"credentialId\": \"…\" }";
                self.warn("wrong-type", at.line, "auth.type", (message, hint));
                return;
            }
        };
        let credential_id =
            node.get("credentialId").and_then(|id| self.optional_text("auth.credentialId", id));
        self.fields.auth = Some(Auth { kind, credential_id });
    }

    fn read_oauth(&mut self, node: &Node) {
        if let Some(on) = node.as_bool() {
            self.fields.oauth = Some(OAuth { off: !on, ..OAuth::default() });
            return;
        }
        if node.as_map().is_none() {
            let message = format!("\"oauth\" must be an object, not {}; ignored", node.kind());
            self.warn("wrong-type", node.line, "oauth", (message, "write \"oauth\": { … }"));
            return;
        }
        let get = |keys: &[&'static str]| {
            keys.iter().find_map(|key| Some((*key, node.get(key).filter(|node| !node.is_null())?)))
        };
        let mut text = |keys: &[&'static str]| {
            get(keys).and_then(|(key, node)| self.optional_text(&format!("oauth.{key}"), node))
        };
        let scopes = get(&["scopes"]).and_then(|(_, node)| node.as_list());
        let scope = match scopes {
            Some(list) => Some(list.iter().filter_map(Node::as_str).collect::<Vec<_>>().join(" ")),
            None => text(&["scope", "scopes"]),
        };
        let client_id = text(&["clientId", "client_id", "CLIENT_ID"]);
        let client_secret = text(&["clientSecret", "client_secret", "CLIENT_SECRET"]);
        let redirect_uri = text(&["redirectUri", "redirect_uri"]);
        let issuer = text(&["issuer"]);
        let client_metadata_url = text(&["clientIdMetadataUrl", "clientMetadataUrl"]);
        let port = get(&["callbackPort", "callback_port", "redirectPort"]);
        let callback_port = port.and_then(|(key, node)| self.port(&format!("oauth.{key}"), node));
        let grant = get(&["grant"]).and_then(|(_, node)| self.read_grant_type(node));
        let enabled = get(&["enabled"]).and_then(|(_, node)| self.flag("oauth.enabled", node));
        let syntax = self.dialect.syntax;
        let written = |text: Option<String>| text.map(|text| WrittenText { text, syntax });
        self.fields.oauth = Some(OAuth {
            client_id: written(client_id),
            client_secret: written(client_secret),
            scope,
            callback_port,
            redirect_uri,
            issuer,
            client_metadata_url,
            grant,
            off: enabled == Some(false),
        });
    }

    fn read_grant_type(&mut self, node: &Node) -> Option<String> {
        let known = ["authorization_code", "client_credentials", "device_code"];
        let grant = node.as_str().filter(|word| known.contains(word)).map(str::to_owned);
        if grant.is_none() {
            let message = format!("\"oauth.grant\" must be one of {}; ignored", known.join(", "));
            let hint = "correct it, or remove it";
            self.warn("wrong-type", node.line, "oauth.grant", (message, hint));
        }
        grant
    }

    fn read_approval(&mut self, word: &str, node: &Node) -> Option<Approval> {
        let approval = node.as_str().and_then(Approval::from_word);
        if approval.is_none() {
            let message = format!("\"{word}\" must be auto, ask, writes, never or deny; ignored");
            self.warn(
                "wrong-type",
                node.line,
                word,
                (message, "use \"ask\" to be asked for each call"),
            );
        }
        approval
    }

    /// Records what another program approves, for display only. Wharf never honours it.
    pub(crate) fn add_approval_hint(&mut self, word: &str, node: &Node) {
        let what = match node.as_list() {
            Some([]) => return,
            Some(list) => list.iter().filter_map(Node::as_str).collect::<Vec<_>>().join(", "),
            None => match (node.as_bool(), node.as_str()) {
                (Some(false), _) => return,
                (_, Some(text)) => text.to_owned(),
                _ => "true".to_owned(),
            },
        };
        self.hints.push(format!("{word}: {what}"));
    }

    /// Warns about something that only the owning program does for this server.
    pub(crate) fn unsupported(&mut self, field: &str, node: &Node, what: &str) {
        let message = format!("{what}; Wharf does not do this");
        let hint = "check that the server works, and is safe, without it";
        self.warn("unsupported", node.line, field, (message, hint));
    }

    /// Adds a problem of this entry.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem.of_server(self.name.clone()).in_file(self.path));
    }

    /// Adds an error: the entry cannot be used.
    pub(crate) fn error(
        &mut self,
        code: &'static str,
        line: u32,
        field: &str,
        text: impl Into<ProblemText>,
    ) {
        let ProblemText { message, hint } = text.into();
        let mut problem = Problem::error(code, message).on_line(line).hint(hint);
        if !field.is_empty() {
            problem = problem.of_field(field);
        }
        self.problem(problem);
    }

    /// Adds a warning.
    pub(crate) fn warn(
        &mut self,
        code: &'static str,
        line: u32,
        field: &str,
        text: impl Into<ProblemText>,
    ) {
        let ProblemText { message, hint } = text.into();
        self.problem(Problem::warning(code, message).on_line(line).of_field(field).hint(hint));
    }

    /// Returns the policy, for `read_extra_fields`.
    pub(crate) fn policy(&mut self) -> &mut Policy {
        &mut self.fields.policy
    }
}
