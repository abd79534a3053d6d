//! Turns a definition into a [`ServerSpec`]: expands its fields and validates them.
//!
//! Callers must check trust first: an untrusted definition is never expanded.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::env::Env;
use crate::expand::{
    self, ExpandContext, Expanded, MissingReason, PlaceholderUse, Syntax, ValueOrigin,
};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::{
    ConfigValue, Definition, Endpoint, LaunchCommand, OAuth, Policy, ServerSpec, Transport,
    TransportKind, WrittenText,
};
use crate::server_url::ServerUrl;
use crate::validate::{self, InvalidDefinition};

mod env_file;

pub(crate) use env_file::variables as env_file_variables;

/// A definition after expansion.
#[derive(Debug, Default)]
pub(crate) struct SpecResult {
    /// The spec; none if the definition is not valid.
    pub(crate) spec: Option<ServerSpec>,
    /// Every placeholder, with its field.
    pub(crate) uses: Vec<FieldUse>,
    pub(crate) problems: Vec<Problem>,
}

/// A placeholder in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldUse {
    /// The field, such as `env.TOKEN`.
    pub field: String,
    /// The variable and the origin of its value.
    pub used: PlaceholderUse,
}

/// Expands and checks a definition.
pub(crate) fn build_spec(definition: &Definition, env: &Env, files: &NamedFiles) -> SpecResult {
    let mut builder = SpecBuilder { definition, env, files, result: SpecResult::default() };
    let checked =
        check_transport(definition).and_then(|kind| check_address(definition, kind).map(|()| kind));
    let kind = match checked {
        Ok(kind) => kind,
        Err(invalid) => {
            builder.result.problems.push(problem(definition, &invalid));
            return builder.result;
        }
    };
    if definition.problems.iter().any(Problem::is_error) {
        return builder.result;
    }
    let transport = match kind {
        TransportKind::Stdio => Some(Transport::Stdio(builder.launch())),
        TransportKind::Http => builder.endpoint().map(Transport::Http),
        TransportKind::Sse => builder.endpoint().map(Transport::Sse),
        TransportKind::Custom(_) => definition.fields.custom.clone().map(Transport::Custom),
    };
    let fields = &definition.fields;
    let oauth = fields.oauth.as_ref().map(|oauth| builder.oauth(oauth));
    let account = builder.plain("account", fields.account.as_deref());
    let prefix = builder.plain("prefix", fields.policy.prefix.as_deref());
    builder.result.spec = transport.map(|transport| ServerSpec {
        name: definition.name.clone(),
        transport,
        timeouts: fields.timeouts,
        limits: fields.limits,
        auth: fields.auth.clone(),
        oauth,
        account,
        policy: Policy { prefix, ..fields.policy.clone() },
    });
    builder.result
}

/// Determines the transport of a definition without expanding anything.
pub(crate) fn check_transport(definition: &Definition) -> Result<TransportKind, InvalidDefinition> {
    validate::check_transport(&definition.fields)
}

/// Checks the address of a definition without expanding anything.
pub(crate) fn check_address(
    definition: &Definition,
    kind: TransportKind,
) -> Result<(), InvalidDefinition> {
    validate::check_address(&definition.fields, kind)
}

/// Makes the problem for a definition that is not valid.
pub(crate) fn problem(definition: &Definition, invalid: &InvalidDefinition) -> Problem {
    Problem::error("invalid", invalid.to_string())
        .in_file(&definition.source.path)
        .on_line(definition.line)
        .of_server(definition.name.as_str())
        .of_field(invalid.field())
        .hint(invalid.hint())
}

struct SpecBuilder<'a> {
    definition: &'a Definition,
    env: &'a Env,
    files: &'a NamedFiles,
    result: SpecResult,
}

impl SpecBuilder<'_> {
    fn launch(&mut self) -> LaunchCommand {
        let fields = &self.definition.fields;
        let command = fields.command.as_ref().map(|text| self.text(&"command", text));
        let args = fields.args.iter().enumerate();
        let args = args.map(|(at, arg)| self.text(&format_args!("args[{at}]"), arg)).collect();
        let mut env = self.env_file();
        for (name, value) in &fields.env {
            let value = self.value(&format_args!("env.{name}"), value);
            env.retain(|(other, _)| other != name);
            env.push((name.clone(), value));
        }
        let cwd = fields.cwd.as_ref().map(|text| self.text(&"cwd", text));
        LaunchCommand { command: command.unwrap_or_default(), args, env, cwd }
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        let fields = &self.definition.fields;
        let written = fields.url.as_ref()?;
        let expanded = self.expand(&"url", written);
        let url = if expanded.is_incomplete() {
            // The missing variable is reported already; the server cannot be contacted.
            ServerUrl::incomplete(&expanded.text, written)
        } else {
            match expanded.text.parse::<ServerUrl>() {
                Ok(url) => url,
                Err(error) => {
                    self.result
                        .problems
                        .push(problem(self.definition, &InvalidDefinition::Url(error)));
                    return None;
                }
            }
        };
        let headers = fields.headers.iter();
        let headers = headers
            .map(|(name, value)| (name.clone(), self.value(&format_args!("headers.{name}"), value)))
            .collect();
        Some(Endpoint { url, headers })
    }

    fn oauth(&mut self, oauth: &OAuth) -> OAuth {
        let mut expand = |field: &str, written: &Option<WrittenText>| {
            written.as_ref().map(|text| WrittenText {
                text: self.text(&field, text).expose().to_owned(),
                syntax: Syntax::empty(),
            })
        };
        OAuth {
            client_id: expand("oauth.clientId", &oauth.client_id),
            client_secret: expand("oauth.clientSecret", &oauth.client_secret),
            issuer: self.plain("oauth.issuer", oauth.issuer.as_deref()),
            scope: self.plain("oauth.scope", oauth.scope.as_deref()),
            client_metadata_url: self
                .plain("oauth.clientIdMetadataUrl", oauth.client_metadata_url.as_deref()),
            redirect_uri: self.plain("oauth.redirectUri", oauth.redirect_uri.as_deref()),
            ..oauth.clone()
        }
    }

    /// Expands a plain string, which is not a secret.
    fn plain(&mut self, field: &str, text: Option<&str>) -> Option<String> {
        let syntax = self.definition.fields.syntax;
        let written = WrittenText { text: text?.to_owned(), syntax };
        Some(self.expand(&field, &written).text)
    }

    /// Expands an environment or header value. Its kind depends on the text before expansion.
    fn value(&mut self, field: &dyn Display, written: &WrittenText) -> ConfigValue {
        let resolved = written.syntax.contains(Syntax::RESOLVED);
        if resolved && written.text.starts_with('!') {
            return ConfigValue::Command(Secret::new(&written.text[1..]));
        }
        if resolved && !expand::has_placeholder(written, self.context()) {
            let name = &written.text;
            if self.env.nonempty_variable(name).is_some() {
                let used =
                    PlaceholderUse { variable: name.clone(), from: ValueOrigin::Environment };
                self.result.uses.push(FieldUse { field: field.to_string(), used });
            }
            return ConfigValue::NameOrLiteral(Secret::new(name));
        }
        if written.syntax.contains(Syntax::NAMED)
            && let Some(name) = self.unset_name(written)
        {
            return self.omit(field, written, name);
        }
        let expanded = self.expand(field, written);
        if expanded.is_incomplete() {
            ConfigValue::Unset(Secret::new(expanded.text))
        } else {
            ConfigValue::Literal(Secret::new(expanded.text))
        }
    }

    /// Returns a variable that the file names and that is not set or empty.
    fn unset_name(&self, written: &WrittenText) -> Option<String> {
        let uses = expand::expand(written, self.context()).uses;
        let is_unset = |used: &PlaceholderUse| self.env.nonempty_variable(&used.variable).is_none();
        uses.into_iter().find(is_unset).map(|used| used.variable)
    }

    /// Omits a value. The file names only the variable, so there is no placeholder text to keep.
    fn omit(&mut self, field: &dyn Display, written: &WrittenText, name: String) -> ConfigValue {
        let clipped = crate::text::clip(&name, 100);
        let message = format!("\"{field}\" is left out: variable \"{clipped}\" is not set");
        let hint = format!("set {clipped}");
        self.add_problem(field, Problem::warning("unset-variable", message).hint(hint));
        let used =
            PlaceholderUse { variable: name, from: ValueOrigin::Missing(MissingReason::Variable) };
        self.result.uses.push(FieldUse { field: field.to_string(), used });
        ConfigValue::Omitted(Secret::new(&*written.text))
    }

    fn text(&mut self, field: &dyn Display, written: &WrittenText) -> Secret {
        Secret::new(self.expand(field, written).text)
    }

    fn expand(&mut self, field: &dyn Display, written: &WrittenText) -> Expanded {
        let expanded = expand::expand(written, self.context());
        let mut reported = BTreeSet::new();
        for used in &expanded.uses {
            if let ValueOrigin::Missing(why) = used.from
                && reported.insert(&used.variable)
            {
                self.report_missing(field, &used.variable, why);
            }
            let used = used.clone();
            self.result.uses.push(FieldUse { field: field.to_string(), used });
        }
        expanded
    }

    fn report_missing(&mut self, field: &dyn Display, name: &str, why: MissingReason) {
        let clipped = crate::text::clip(name, 100);
        let (code, message, hint) = match why {
            MissingReason::Variable => (
                "unset-variable",
                format!("variable \"{clipped}\" is not set; \"{field}\" keeps its placeholder"),
                if self.program_supports_defaults() {
                    format!("set {clipped}, or write a default: ${{{clipped}:-…}}")
                } else {
                    format!("set {clipped}")
                },
            ),
            MissingReason::Input => (
                "needs-input",
                format!("\"{field}\" needs the answer to input \"{clipped}\", which is not stored"),
                "put a variable in its place, such as ${env:NAME}".to_owned(),
            ),
            MissingReason::File => (
                "unreadable",
                format!("\"{field}\" takes its value from a file that cannot be read: {clipped}"),
                "check the path, or use a variable".to_owned(),
            ),
            MissingReason::Command => (
                "unsupported",
                format!("\"{field}\" takes its value from a command, which is not run here"),
                "put the value into a variable and write ${NAME}".to_owned(),
            ),
            MissingReason::ProgramOnly => (
                "unsupported",
                format!("\"{field}\" uses \"{clipped}\", which only its program can replace"),
                "write the value, or put it into a variable".to_owned(),
            ),
        };
        let problem = Problem::warning(code, message).hint(hint);
        self.add_problem(field, problem);
    }

    /// Tells whether the program of the file supports `${VAR:-default}`; many only read `${VAR}`.
    fn program_supports_defaults(&self) -> bool {
        let owner = self.definition.source.provider;
        ["wharf", "env", "omp", "pisces", "xcsh", "claude", "claude-plugins", "mcp-json"]
            .contains(&owner)
    }

    fn add_problem(&mut self, field: &dyn Display, problem: Problem) {
        self.result.problems.push(
            problem
                .in_file(&self.definition.source.path)
                .on_line(self.definition.line)
                .of_server(self.definition.name.as_str())
                .of_field(field.to_string()),
        );
    }

    fn context(&self) -> ExpandContext<'_> {
        ExpandContext::of(self.definition, self.env, self.files)
    }
}
