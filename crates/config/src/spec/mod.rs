//! Turns a definition into a spec: expands what it says and checks that it is enough.
//!
//! Only for definitions that may be looked at so closely: an untrusted one is never expanded.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::env::Env;
use crate::expand::{self, Expanded, Missing, Origin, Scope, Syntax, Use};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::{
    ConfigValue, Definition, Endpoint, Launch, OAuth, Policy, ServerSpec, Transport, TransportKind,
    Written,
};
use crate::server_url::ServerUrl;
use crate::validate::{self, Invalid};

mod env_file;

pub(crate) use env_file::variables as env_file_variables;

/// A definition after expansion.
#[derive(Debug, Default)]
pub(crate) struct Specified {
    /// What to connect; none if the definition is not valid.
    pub(crate) spec: Option<ServerSpec>,
    /// Each placeholder and its field.
    pub(crate) uses: Vec<FieldUse>,
    pub(crate) problems: Vec<Problem>,
}

/// A placeholder in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldUse {
    /// The field, such as `env.TOKEN`.
    pub field: String,
    /// What happened there.
    pub used: Use,
}

/// Expands and checks a definition.
pub(crate) fn specify(definition: &Definition, env: &Env, files: &NamedFiles) -> Specified {
    let mut work = Work { definition, env, files, done: Specified::default() };
    let checked = check(definition).and_then(|kind| check_address(definition, kind).map(|()| kind));
    let kind = match checked {
        Ok(kind) => kind,
        Err(invalid) => {
            work.done.problems.push(problem(definition, &invalid));
            return work.done;
        }
    };
    if definition.problems.iter().any(Problem::is_error) {
        return work.done;
    }
    let transport = match kind {
        TransportKind::Stdio => Some(Transport::Stdio(work.launch())),
        TransportKind::Http => work.endpoint().map(Transport::Http),
        TransportKind::Sse => work.endpoint().map(Transport::Sse),
    };
    let fields = &definition.fields;
    let oauth = fields.oauth.as_ref().map(|oauth| work.oauth(oauth));
    let account = work.plain("account", fields.account.as_deref());
    let prefix = work.plain("prefix", fields.policy.prefix.as_deref());
    work.done.spec = transport.map(|transport| ServerSpec {
        name: definition.name.clone(),
        transport,
        timeouts: fields.timeouts,
        auth: fields.auth.clone(),
        oauth,
        account,
        policy: Policy { prefix, ..fields.policy.clone() },
    });
    work.done
}

/// Checks the structure of a definition without expanding anything.
pub(crate) fn check(definition: &Definition) -> Result<TransportKind, Invalid> {
    validate::transport(&definition.fields)
}

/// Checks the address of a definition without expanding anything.
pub(crate) fn check_address(definition: &Definition, kind: TransportKind) -> Result<(), Invalid> {
    validate::address(&definition.fields, kind)
}

/// Says what is wrong with a definition, and where.
pub(crate) fn problem(definition: &Definition, invalid: &Invalid) -> Problem {
    Problem::error("invalid", invalid.to_string())
        .in_file(&definition.source.path)
        .on_line(definition.line)
        .of_server(definition.name.as_str())
        .of_field(invalid.field())
        .hint(invalid.hint())
}

struct Work<'a> {
    definition: &'a Definition,
    env: &'a Env,
    files: &'a NamedFiles,
    done: Specified,
}

impl Work<'_> {
    fn launch(&mut self) -> Launch {
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
        Launch { command: command.unwrap_or_default(), args, env, cwd }
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        let fields = &self.definition.fields;
        let written = fields.url.as_ref()?;
        let expanded = self.expand(&"url", written);
        let url = if expanded.is_incomplete() {
            // Its warning has been given; there is nothing to contact.
            ServerUrl::incomplete(&expanded.text, written)
        } else {
            match expanded.text.parse::<ServerUrl>() {
                Ok(url) => url,
                Err(error) => {
                    self.done.problems.push(problem(self.definition, &Invalid::Url(error)));
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
        let mut expand = |field: &str, written: &Option<Written>| {
            written.as_ref().map(|text| Written {
                text: self.text(&field, text).expose().to_owned(),
                syntax: Syntax::empty(),
            })
        };
        OAuth {
            client_id: expand("oauth.clientId", &oauth.client_id),
            client_secret: expand("oauth.clientSecret", &oauth.client_secret),
            scope: self.plain("oauth.scope", oauth.scope.as_deref()),
            redirect_uri: self.plain("oauth.redirectUri", oauth.redirect_uri.as_deref()),
            ..oauth.clone()
        }
    }

    /// Expands a text that is no secret in itself.
    fn plain(&mut self, field: &str, text: Option<&str>) -> Option<String> {
        let syntax = self.definition.fields.syntax;
        let written = Written { text: text?.to_owned(), syntax };
        Some(self.expand(&field, &written).text)
    }

    /// Expands an environment or header value. What kind it is, is decided on the text as written.
    fn value(&mut self, field: &dyn Display, written: &Written) -> ConfigValue {
        let resolved = written.syntax.contains(Syntax::RESOLVED);
        if resolved && written.text.starts_with('!') {
            return ConfigValue::Command(Secret::new(&written.text[1..]));
        }
        if resolved && !expand::has_placeholder(written, self.scope()) {
            let name = &written.text;
            if self.env.filled_variable(name).is_some() {
                let used = Use { variable: name.clone(), from: Origin::Environment };
                self.done.uses.push(FieldUse { field: field.to_string(), used });
            }
            return ConfigValue::NameOrLiteral(Secret::new(name));
        }
        if written.syntax.contains(Syntax::NAMED)
            && let Some(name) = self.unset_name(written)
        {
            return self.left_out(field, written, name);
        }
        let expanded = self.expand(field, written);
        if expanded.is_incomplete() {
            ConfigValue::Unset(Secret::new(expanded.text))
        } else {
            ConfigValue::Literal(Secret::new(expanded.text))
        }
    }

    /// Returns the variable that a file names and that says nothing.
    fn unset_name(&self, written: &Written) -> Option<String> {
        let uses = expand::expand(written, self.scope()).uses;
        let is_unset = |used: &Use| self.env.filled_variable(&used.variable).is_none();
        uses.into_iter().find(is_unset).map(|used| used.variable)
    }

    /// Leaves a value out: nobody wrote the placeholder that stands for the variable here.
    fn left_out(&mut self, field: &dyn Display, written: &Written, name: String) -> ConfigValue {
        let shown = crate::text::clip(&name, 100);
        let message = format!("\"{field}\" is left out: variable \"{shown}\" is not set");
        let hint = format!("set {shown}");
        self.note(field, Problem::warning("unset-variable", message).hint(hint));
        let used = Use { variable: name, from: Origin::Missing(Missing::Variable) };
        self.done.uses.push(FieldUse { field: field.to_string(), used });
        ConfigValue::LeftOut(Secret::new(&*written.text))
    }

    fn text(&mut self, field: &dyn Display, written: &Written) -> Secret {
        Secret::new(self.expand(field, written).text)
    }

    fn expand(&mut self, field: &dyn Display, written: &Written) -> Expanded {
        let expanded = expand::expand(written, self.scope());
        let mut reported = BTreeSet::new();
        for used in &expanded.uses {
            if let Origin::Missing(why) = used.from
                && reported.insert(&used.variable)
            {
                self.missing(field, &used.variable, why);
            }
            let used = used.clone();
            self.done.uses.push(FieldUse { field: field.to_string(), used });
        }
        expanded
    }

    fn missing(&mut self, field: &dyn Display, name: &str, why: Missing) {
        let shown = crate::text::clip(name, 100);
        let (code, message, hint) = match why {
            Missing::Variable => (
                "unset-variable",
                format!("variable \"{shown}\" is not set; \"{field}\" keeps its placeholder"),
                if self.owner_knows_defaults() {
                    format!("set {shown}, or write a default: ${{{shown}:-…}}")
                } else {
                    format!("set {shown}")
                },
            ),
            Missing::Input => (
                "needs-input",
                format!("\"{field}\" needs the answer to input \"{shown}\", which is not stored"),
                "put a variable in its place, such as ${env:NAME}".to_owned(),
            ),
            Missing::File => (
                "unreadable",
                format!("\"{field}\" takes its value from a file that cannot be read: {shown}"),
                "check the path, or use a variable".to_owned(),
            ),
            Missing::Command => (
                "out-of-reach",
                format!("\"{field}\" takes its value from a command, which is not run here"),
                "put the value into a variable and write ${NAME}".to_owned(),
            ),
            Missing::Foreign => (
                "out-of-reach",
                format!("\"{field}\" uses \"{shown}\", which only its program can replace"),
                "write the value, or put it into a variable".to_owned(),
            ),
        };
        let problem = Problem::warning(code, message).hint(hint);
        self.note(field, problem);
    }

    /// Many programs read `${VAR}` and would choke on a default.
    fn owner_knows_defaults(&self) -> bool {
        let owner = self.definition.source.provider;
        ["wharf", "env", "omp", "pisces", "xcsh", "claude", "claude-plugins", "mcp-json"]
            .contains(&owner)
    }

    fn note(&mut self, field: &dyn Display, problem: Problem) {
        self.done.problems.push(
            problem
                .in_file(&self.definition.source.path)
                .on_line(self.definition.line)
                .of_server(self.definition.name.as_str())
                .of_field(field.to_string()),
        );
    }

    fn scope(&self) -> Scope<'_> {
        Scope::of(self.definition, self.env, self.files)
    }
}
