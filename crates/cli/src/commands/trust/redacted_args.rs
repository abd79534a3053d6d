//! Redacts secrets in arguments for the trust prompt, and shows everything else as written.
//!
//! Redacted are the user and the query of an argument that is only a URL, and the value of a flag
//! such as `--token` after the program that gets it. Before the program, such a flag could conceal
//! what would be run, so in doubt everything is shown.

use wharf_config::secret::{REDACTED, names_a_secret, redact_url};
use wharf_config::{Definition, WrittenText};

/// Programs that start the program in their arguments.
const LAUNCHERS: [&str; 22] = [
    "bash",
    "bun",
    "bunx",
    "cmd",
    "deno",
    "docker",
    "env",
    "fish",
    "node",
    "npm",
    "npx",
    "perl",
    "pipx",
    "pnpm",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "ruby",
    "sh",
    "uv",
    "uvx",
];

/// Subcommands of launchers, which the program follows.
const VERBS: [&str; 5] = ["dlx", "exec", "run", "tool", "x"];

/// Flags of launchers whose value is not the program.
const LAUNCHER_FLAGS: [&str; 9] =
    ["-c", "-e", "-p", "-v", "--call", "--env", "--from", "--package", "--with"];

/// Flags whose value is a secret in every program that has them.
const SECRET_FLAGS: [&str; 10] = [
    "--token",
    "--api-key",
    "--api_key",
    "--apikey",
    "--api-token",
    "--password",
    "--access-token",
    "--auth-token",
    "--client-secret",
    "--secret",
];

/// Flags whose value is a header.
const HEADER_FLAGS: [&str; 2] = ["--header", "-H"];

/// Returns the arguments of a definition with secrets redacted.
pub(super) fn arguments(definition: &Definition) -> Vec<String> {
    let command = definition.fields.command.as_ref().map_or("", |command| command.text.as_str());
    let mut program_is_known = !is_launcher(command);
    let mut before = "";
    let mut redacted = Vec::new();
    for WrittenText { text, .. } in &definition.fields.args {
        let hidden = program_is_known.then(|| redact(text, before, definition)).flatten();
        program_is_known |= names_a_program(text, before);
        // A redacted value is not a flag for the next argument.
        before = if hidden.is_some() { "" } else { text };
        let plain = || if is_plain_address(text) { redact_url(text) } else { text.clone() };
        redacted.push(hidden.unwrap_or_else(plain));
    }
    redacted
}

/// Redacts the value of a flag that takes a secret.
fn redact(text: &str, before: &str, definition: &Definition) -> Option<String> {
    let joined = text.split_once('=').filter(|(flag, _)| flag.starts_with('-'));
    let (flag, value) = joined.unwrap_or((before, text));
    let flag_part = &text[..text.len() - value.len()];
    if SECRET_FLAGS.contains(&flag) && is_token(value) && !definition.folder.join(value).exists() {
        return Some(format!("{flag_part}{REDACTED}"));
    }
    let (name, secret) = value.split_once(':').filter(|_| HEADER_FLAGS.contains(&flag))?;
    let is_base64 = |word: &str| word.split('/').all(is_token);
    let hides = is_token(name) && names_a_secret(name) && secret.split(' ').all(is_base64);
    hides.then(|| format!("{flag_part}{name}: {REDACTED}"))
}

/// Tells whether an argument of a launcher is the program to start.
fn names_a_program(text: &str, before: &str) -> bool {
    let is_switch = text.starts_with('-') || (text.starts_with('/') && text.len() == 2);
    !is_switch
        && !text.contains('=')
        && !VERBS.contains(&text)
        && !LAUNCHER_FLAGS.contains(&before)
        && !is_launcher(text)
}

/// Tells whether a command is a launcher.
fn is_launcher(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    LAUNCHERS.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Tells whether a text has no characters with a meaning for a shell.
fn is_plain_address(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || ";|&$`(){}<>'\"\\".contains(c))
}

/// Tells whether a text has only characters that occur in tokens.
fn is_token(text: &str) -> bool {
    text.chars().all(|c: char| c.is_ascii_alphanumeric() || "-_.~+=".contains(c))
}
