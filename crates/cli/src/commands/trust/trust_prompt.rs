//! The trust prompt: shows exactly what would be started or contacted, before the person agrees.
//!
//! Every text is shown as written, with invisible characters made visible. Literal
//! values of variables and headers are redacted, placeholders are not. `redacted_args` redacts
//! the command line, so that nothing that looks like a secret can conceal what would be
//! run.

use wharf_config::secret::REDACTED;
use wharf_config::text::escape_invisible;
use wharf_config::trust::{
    EnvFile, FingerprintDifference, Trust, TrustSubject, UsedFile, value_as_written,
};
use wharf_config::{Approval, Definition, Env, Server, Syntax, WrittenText};

use super::redacted_args::arguments;
use super::variables::VariableRisk;
use crate::ui::{Lines, phrase, style};

/// The length in characters after which the beginning of the text may have scrolled off the screen.
const LONG: usize = 3_000;

/// The warning about a file that is not part of the project.
const NOT_OF_PROJECT: &str = "  (warning: this file is not part of the project)";

/// The most variables of an environment file that are named, besides those with a warning.
const MOST_VARIABLES: usize = 20;

/// Describes a server of a project, for the person who is asked to trust it.
pub(super) fn describe(server: &Server, subject: &TrustSubject, env: &Env) -> String {
    let definition = &server.definition;
    let name = style::strong(&phrase::quoted(definition.name.as_str()));
    let place = phrase::place(&definition.source, definition.line, env);
    let source = escape_invisible(definition.source.provider_name);
    let mut lines = Lines::default();
    lines.add(format!("{name} from {place} ({source})"));
    launch(definition, subject, env, &mut lines);
    if let Some(url) = definition.fields.render_url() {
        lines.labelled("url", &escape_invisible(&url));
    }
    let pairs = PairWriter { definition, env };
    pairs.add("env", "=", &definition.fields.env, &mut lines);
    if let (Some(file), Some(seen)) = (&definition.fields.env_file, &subject.env_file) {
        env_file(&file.text, seen, env, &mut lines);
    }
    pairs.add("header", ": ", &definition.fields.headers, &mut lines);
    if let Some(helper) = &definition.fields.headers_helper {
        lines.labelled("headers from", &escape_invisible(helper.expose()));
    }
    for file in &subject.files {
        used_file(file, env, &mut lines);
    }
    sign_in(definition, env, &mut lines);
    policy(definition, &mut lines);
    if let Trust::Changed(differences) = &server.trust {
        lines.add("  changed since you trusted it:");
        add_changes(differences, "    ", &mut lines);
    }
    let text = lines.into_text();
    let length = text.chars().count();
    if length <= LONG {
        return text;
    }
    let warning = style::bad("warning:");
    format!("{text}  {warning} this is {length} characters long; read all of it, from the top\n")
}

/// Adds what would be started.
fn launch(definition: &Definition, subject: &TrustSubject, env: &Env, lines: &mut Lines) {
    let fields = &definition.fields;
    if let Some(command) = &fields.command {
        lines.labelled("command", &phrase::command_line(&command.text, &arguments(definition)));
        // Trust covers this resolved path, even if PATH changes later.
        let program = subject.program.as_ref();
        if let Some(program) = program.filter(|path| path.as_os_str() != command.text.as_str()) {
            lines.labelled("program", &phrase::path(program, env));
        }
        if let Some(target) = &subject.program_real_path {
            lines.labelled("", &format!("is a link to {}", phrase::path(target, env)));
        }
        if !subject.repository_files.is_empty() {
            let names: Vec<String> =
                subject.repository_files.iter().map(|name| phrase::word(name)).collect();
            let remark = "  (part of this project; you are not asked again when it changes)";
            lines.labelled("runs", &format!("{}{}", names.join(", "), style::warning(remark)));
        }
    }
    if let Some(cwd) = &fields.cwd {
        lines.labelled("cwd", &escape_invisible(&cwd.text));
    }
    for (field, target) in &subject.links {
        let remark = format!("{field} follows a link in this project to");
        lines.labelled("link", &format!("{remark} {}", phrase::path(target, env)));
    }
}

/// Adds an environment file and the names of its variables.
fn env_file(written: &str, file: &EnvFile, env: &Env, lines: &mut Lines) {
    let target = file.real_path.as_ref();
    let target = target.map(|path| format!(" (is {})", phrase::path(path, env)));
    let own = if file.is_in_repository { String::new() } else { style::bad(NOT_OF_PROJECT) };
    let rendered = format!("{}{}{own}", escape_invisible(written), target.unwrap_or_default());
    let Some(variables) = &file.variables else {
        lines.labelled("env file", &format!("{rendered}{}", style::warning("  (cannot be read)")));
        return;
    };
    lines.labelled("env file", &rendered);
    let (warned, others): (Vec<&String>, Vec<&String>) =
        variables.iter().partition(|name| VariableRisk::on(name) == VariableRisk::LoadsCode);
    let more = others.len().saturating_sub(MOST_VARIABLES);
    for name in warned.into_iter().chain(others.into_iter().take(MOST_VARIABLES)) {
        lines.labelled(
            "",
            &format!(
                "sets {}={REDACTED}{}",
                escape_invisible(name),
                remark(VariableRisk::on(name))
            ),
        );
    }
    if more > 0 {
        lines.labelled("", &format!("sets {}", phrase::count(more, "more variable")));
    }
}

/// Adds a file whose contents are used.
fn used_file(file: &UsedFile, env: &Env, lines: &mut Lines) {
    let target = file.real_path.as_ref().map(|path| format!(" (is {})", phrase::path(path, env)));
    let remark = if file.is_in_repository { String::new() } else { style::bad(NOT_OF_PROJECT) };
    let rendered =
        format!("{}{}{remark}", escape_invisible(&file.named), target.unwrap_or_default());
    lines.labelled("reads", &rendered);
}

/// Adds the credential and the OAuth settings.
fn sign_in(definition: &Definition, env: &Env, lines: &mut Lines) {
    let fields = &definition.fields;
    if let Some(auth) = &fields.auth {
        let which =
            auth.credential_id.as_deref().map_or("for its address".to_owned(), escape_invisible);
        lines.labelled("credential", &format!("stored, {which}"));
    }
    if let Some(account) = &fields.account {
        lines.labelled("account", &escape_invisible(account));
    }
    let Some(oauth) = &fields.oauth else { return };
    let texts = [("client id", &oauth.client_id), ("client secret", &oauth.client_secret)];
    for (label, text) in texts {
        if let Some(text) = text {
            lines.labelled(label, &escape_invisible(&value_as_written(text, definition, env)));
        }
    }
    if let Some(redirect) = &oauth.redirect_uri {
        lines.labelled("redirects to", &escape_invisible(redirect));
    }
    if let Some(document) = &oauth.client_metadata_url {
        lines.labelled("client document", &escape_invisible(document));
    }
    if let Some(issuer) = &oauth.issuer {
        lines.labelled("issuer", &escape_invisible(issuer));
    }
    if let Some(grant) = &oauth.grant {
        lines.labelled("grant", &escape_invisible(grant));
    }
    if let Some(port) = oauth.callback_port {
        lines.labelled("callback port", &port.to_string());
    }
    if let Some(scope) = &oauth.scope {
        lines.labelled("scope", &escape_invisible(scope));
    }
}

/// Adds what trusting the server would allow besides starting it.
fn policy(definition: &Definition, lines: &mut Lines) {
    let policy = &definition.fields.policy;
    let word = |approval: Approval| match approval {
        Approval::Ask | Approval::Deny => phrase::approval(approval).to_owned(),
        Approval::Writes | Approval::Never => style::warning(phrase::approval(approval)),
    };
    lines.labelled("approval", &word(policy.approval));
    for (tool, approval) in &policy.tool_approval {
        lines.labelled("", &format!("{}: {}", escape_invisible(tool), word(*approval)));
    }
    if let Some(prefix) = policy.prefix.as_ref().filter(|prefix| !prefix.is_empty()) {
        let remark = style::warning("  (replaces the server's name in tool names)");
        lines.labelled("prefix", &format!("{}{remark}", phrase::word(prefix)));
    }
    if policy.inherit_env {
        lines.labelled("passes on", &style::warning("your whole environment"));
    } else if !policy.pass_env.is_empty() {
        lines.labelled("passes on", &escape_invisible(&policy.pass_env.join(", ")));
    }
    if policy.retry_on_hints {
        lines.labelled("retry", "hints (repeats calls of tools that claim this is safe)");
    }
    if let Some(version) = &policy.protocol_version {
        lines.labelled("protocol", &escape_invisible(version));
    }
}

/// Adds the changes since the server was trusted.
pub(crate) fn add_changes(differences: &[FingerprintDifference], indent: &str, lines: &mut Lines) {
    for difference in differences {
        lines.add(format!("{indent}{}", change(difference)));
    }
}

fn change(difference: &FingerprintDifference) -> String {
    let field = escape_invisible(&difference.field);
    match (&difference.before, &difference.after) {
        (Some(before), Some(after)) if before == after => format!("{field}: has a different value"),
        (Some(before), Some(after)) => {
            format!("{field}: {} → {}", phrase::word(before), phrase::word(after))
        }
        (None, Some(after)) => format!("{field}: new, {}", phrase::word(after)),
        (Some(before), None) => format!("{field}: removed, was {}", phrase::word(before)),
        (None, None) => field,
    }
}

fn remark(remark: VariableRisk) -> String {
    match remark.words() {
        None => String::new(),
        Some(words) if remark == VariableRisk::LoadsCode => style::bad(&format!("  ({words})")),
        Some(words) => style::warning(&format!("  ({words})")),
    }
}

/// Shows variables and headers of a definition.
struct PairWriter<'a> {
    definition: &'a Definition,
    env: &'a Env,
}

impl PairWriter<'_> {
    fn add(&self, label: &str, between: &str, pairs: &[(String, WrittenText)], lines: &mut Lines) {
        for (name, value) in pairs {
            let own = if label == "env" { VariableRisk::on(name) } else { VariableRisk::None };
            let (rendered, about) = self.value(value);
            let about =
                about.map(|about| style::warning(&format!("  ({about})"))).unwrap_or_default();
            let line =
                format!("{}{between}{rendered}{about}{}", escape_invisible(name), remark(own));
            lines.labelled(label, &line);
        }
    }

    /// Returns a value as written, with a remark if it would be executed or replaced by a variable.
    fn value(&self, value: &WrittenText) -> (String, Option<&'static str>) {
        if value.syntax.contains(Syntax::RESOLVED) {
            if value.text.starts_with('!') {
                return (escape_invisible(&value.text), Some("this command would be run"));
            }
            if names_a_variable(&value.text, self.env) {
                return (
                    escape_invisible(&value.text),
                    Some("your variable of this name, if it is set"),
                );
            }
        }
        (escape_invisible(&value_as_written(value, self.definition, self.env)), None)
    }
}

/// Tells whether a whole value is the name of a variable: one that is set, or one that has the
/// shape of a variable name. Anything else may be a secret.
fn names_a_variable(text: &str, env: &Env) -> bool {
    let is_shaped = text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.contains('_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_shaped || env.nonempty_variable(text).is_some()
}
