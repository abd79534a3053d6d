//! Finds literal secrets in project files, and in files that other users can read.

use wharf_config::secret::names_a_secret;
use wharf_config::{Env, Level, Server, Syntax, WrittenText, shell};

use super::check::Check;
use super::config_files::is_open_to_others;

/// Reports literal secrets in a project file, or in a file that other users can read.
pub(super) fn check(server: &Server, env: &Env) -> Option<Check> {
    let definition = &server.definition;
    let (why, hint) = match definition.source.level {
        Level::Project => (
            "everybody with access to the project can read it",
            "write ${NAME} there and set the variable".to_owned(),
        ),
        Level::User if is_open_to_others(&definition.source.path) => {
            let path = env.display_path(&definition.source.path);
            (
                "other users of this machine can read it",
                format!("chmod 600 {}", shell::quote_path(&path)),
            )
        }
        Level::User | Level::Env | Level::Builtin | Level::Program => return None,
    };
    let fields = &definition.fields;
    let env_pairs = fields.env.iter().map(|pair| ("env", pair));
    let pairs = env_pairs.chain(fields.headers.iter().map(|pair| ("headers", pair)));
    let literal: Vec<String> = pairs
        .filter(|(_, (name, value))| is_secret_name(name) && is_literal(value))
        .map(|(group, (name, _))| format!("{group}.{name}"))
        .chain(secret_args(&fields.args))
        .filter(|field| !server.uses.iter().any(|one| one.field == *field))
        .collect();
    (!literal.is_empty()).then(|| {
        let message =
            format!("its file contains a literal secret ({}), and {why}", literal.join(", "));
        Check::failed(definition.name.as_str(), message).hint(hint)
    })
}

/// Returns the arguments that contain the value of a flag such as `--token`.
fn secret_args(args: &[WrittenText]) -> impl Iterator<Item = String> {
    let before = std::iter::once("").chain(args.iter().map(|arg| arg.text.as_str()));
    let is_secret = |(before, arg): (&str, &WrittenText)| match arg.text.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') => is_secret_flag(flag) && !value.is_empty(),
        _ => is_secret_flag(before) && !arg.text.is_empty() && !arg.text.starts_with('-'),
    };
    let found = before.zip(args).enumerate().filter(move |(_, pair)| is_secret(*pair));
    found.map(|(index, _)| format!("args[{index}]"))
}

/// Tells whether a flag takes a secret, and not the place or the kind of one.
fn is_secret_flag(word: &str) -> bool {
    let last = word.rsplit(['-', '_']).next().unwrap_or_default();
    word.starts_with('-')
        && !word.contains(['=', ' ', ':'])
        && names_a_secret(word)
        && !["auth", "env", "file", "path", "type", "url"].contains(&last)
}

fn is_secret_name(name: &str) -> bool {
    let header = ["authorization", "proxy-authorization", "cookie"];
    names_a_secret(name) || header.contains(&name.to_ascii_lowercase().as_str())
}

/// Tells whether a value is a literal, not a command or the name of a variable.
fn is_literal(value: &WrittenText) -> bool {
    let text = &value.text;
    let resolved = value.syntax.contains(Syntax::RESOLVED);
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !text.is_empty() && !(resolved && (text.starts_with('!') || text.chars().all(is_name)))
}
