//! Shows exactly what is agreed to: what would be started or contacted, with what.
//!
//! Values of variables and headers stay hidden. In the command line `hidden` decides: what looks
//! like a secret must not hide what would be run.

use wharf_config::command;
use wharf_config::secret::MASK;
use wharf_config::text::clean;
use wharf_config::trust::{Difference, Trust};
use wharf_config::{Approval, Definition, Env, Server, Syntax, Written};

use super::hidden::arguments;
use crate::ui::{Lines, phrase, style};

/// Variables that decide what is run or fetched, whatever the command says.
const DECIDING: [&str; 16] = [
    "BASH_ENV",
    "CLASSPATH",
    "ENV",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "_JAVA_OPTIONS",
];

/// Beginnings of such variables.
const DECIDING_PREFIXES: [&str; 8] =
    ["BUN_", "DYLD_", "GIT_", "LD_", "NPM_CONFIG_", "PIP_", "UV_", "YARN_"];

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
        // What it is agreed to start is this file, wherever the name leads later.
        let program = command::of_definition(definition, env);
        if let Some(program) = program.filter(|path| path.as_os_str() != command.text.as_str()) {
            lines.labelled("program", &phrase::path(&program, env));
        }
    }
    if let Some(cwd) = &fields.cwd {
        lines.labelled("cwd", &clean(&cwd.text));
    }
    if let Some(url) = fields.shown_url() {
        lines.labelled("url", &clean(&url));
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
        let decides = label == "env" && decides_what_runs(&name.to_ascii_uppercase());
        let remark = match (runs, decides) {
            (true, _) => style::odd("  (this command would be run)"),
            (false, true) => style::odd("  (can change which program runs)"),
            (false, false) => String::new(),
        };
        lines.labelled(label, &format!("{}{between}{shown}{remark}", clean(name)));
    }
}

fn decides_what_runs(name: &str) -> bool {
    DECIDING.contains(&name)
        || DECIDING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("_PROXY")
}
