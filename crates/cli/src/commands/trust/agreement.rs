//! Shows exactly what is agreed to: what would be started or contacted, with what.
//!
//! Values of variables and headers stay hidden. A value in the command line is hidden only if it
//! can be nothing but a secret: what looks like one must not hide what would be run.

use wharf_config::secret::{MASK, mask_args, mask_url};
use wharf_config::text::clean;
use wharf_config::trust::{Difference, Trust};
use wharf_config::{Approval, Definition, Env, Server, Syntax, Written};

use crate::ui::{Lines, phrase, style};

/// Variables that decide what is run, whatever the command says.
const DECIDING: [&str; 14] = [
    "BASH_ENV",
    "DYLD_INSERT_LIBRARIES",
    "ENV",
    "GIT_SSH_COMMAND",
    "JAVA_TOOL_OPTIONS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
];

/// Describes a server that came with a project, for the person who is to agree to it.
pub(super) fn describe(server: &Server, env: &Env) -> String {
    let definition = &server.definition;
    let fields = &definition.fields;
    let name = style::strong(&phrase::quoted(definition.name.as_str()));
    let place = phrase::place(&definition.source, definition.line, env);
    let source = clean(definition.source.provider_name);
    let mut lines = Lines::default();
    lines.add(format!("{name} from {place} ({source})"));
    if let Some(command) = &fields.command {
        lines.labelled("command", &phrase::command_line(&command.text, &arguments(definition)));
    }
    if let Some(cwd) = &fields.cwd {
        lines.labelled("cwd", &clean(&cwd.text));
    }
    if let Some(url) = &fields.url {
        lines.labelled("url", &clean(&mask_url(&url.text)));
    }
    add_pairs(&mut lines, "env", &fields.env, "=");
    if let Some(file) = &fields.env_file {
        lines.labelled("env file", &clean(&file.text));
    }
    add_pairs(&mut lines, "header", &fields.headers, ": ");
    if let Some(helper) = &fields.headers_helper {
        lines.labelled("headers from", &clean(helper));
    }
    policy(definition, &mut lines);
    if let Trust::Changed(differences) = &server.trust {
        lines.add("  changed since you agreed to it:");
        for difference in differences {
            lines.add(format!("    {}", change(difference)));
        }
    }
    lines.into_text()
}

/// Adds what an agreement would allow beyond starting it.
fn policy(definition: &Definition, lines: &mut Lines) {
    let policy = &definition.fields.policy;
    let word = |approval: Approval| match approval {
        Approval::Ask => None,
        Approval::Writes => Some("writes (tools that say they only read run without asking)"),
        Approval::Never => Some("never (its tools run without asking)"),
        Approval::Deny => Some("deny (its tools are hidden)"),
    };
    if let Some(word) = word(policy.approval) {
        lines.labelled("approval", &style::odd(word));
    }
    for (tool, approval) in &policy.tool_approval {
        if let Some(word) = word(*approval) {
            lines.labelled("approval", &format!("{}: {}", clean(tool), style::odd(word)));
        }
    }
    if policy.inherit_env {
        lines.labelled("passes on", &style::odd("your whole environment"));
    } else if !policy.pass_env.is_empty() {
        lines.labelled("passes on", &clean(&policy.pass_env.join(", ")));
    }
}

/// Shows the arguments as written, but for values that can be nothing but a secret.
fn arguments(definition: &Definition) -> Vec<String> {
    let written: Vec<&str> = definition.fields.args.iter().map(|arg| arg.text.as_str()).collect();
    let masked = mask_args(written.iter().copied());
    let pairs = written.into_iter().zip(masked);
    pairs
        .map(|(written, masked)| {
            let address = written.contains("://") && !written.contains(char::is_whitespace);
            let hidden = hidden_part(written, &masked);
            if address || hidden.is_none_or(|part| is_only_a_secret(part, definition)) {
                masked
            } else {
                written.to_owned()
            }
        })
        .collect()
}

/// Returns the part of an argument that its masked form does not show.
fn hidden_part<'a>(written: &'a str, masked: &str) -> Option<&'a str> {
    if written == masked {
        return None;
    }
    let shown = masked.strip_suffix(MASK).unwrap_or_default();
    Some(written.strip_prefix(shown).unwrap_or(written))
}

/// Tells whether a text can only be a secret: one word of the characters that tokens have, and
/// not a file that could be run.
fn is_only_a_secret(text: &str, definition: &Definition) -> bool {
    let text = text.strip_prefix("Bearer ").unwrap_or(text);
    let is_token = |c: char| c.is_ascii_alphanumeric() || "-_.~+=".contains(c);
    let placeholder = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    placeholder.unwrap_or(text).chars().all(is_token) && !definition.folder.join(text).exists()
}

fn change(difference: &Difference) -> String {
    let field = clean(&difference.field);
    match (&difference.before, &difference.after) {
        (Some(before), Some(after)) if before == after => format!("{field}: has another value"),
        (Some(before), Some(after)) => {
            format!("{field}: {} → {}", phrase::word(before), phrase::word(after))
        }
        (None, Some(after)) => format!("{field}: new, {}", phrase::word(after)),
        (Some(before), None) => format!("{field}: gone, was {}", phrase::word(before)),
        (None, None) => field,
    }
}

fn add_pairs(lines: &mut Lines, label: &str, pairs: &[(String, Written)], between: &str) {
    for (name, value) in pairs {
        let runs = value.syntax.contains(Syntax::RESOLVED) && value.text.starts_with('!');
        let shown = if runs { clean(&value.text) } else { MASK.to_owned() };
        let decides = label == "env" && DECIDING.contains(&name.to_ascii_uppercase().as_str());
        let remark = match (runs, decides) {
            (true, _) => style::odd("  (this command would be run)"),
            (false, true) => style::odd("  (can change which program runs)"),
            (false, false) => String::new(),
        };
        lines.labelled(label, &format!("{}{between}{shown}{remark}", clean(name)));
    }
}
