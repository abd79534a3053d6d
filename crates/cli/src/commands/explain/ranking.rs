//! Explains why a definition wins its name or is shadowed, from the ranks that decide it.

use wharf_config::text::clean;
use wharf_config::{Definition, Env, FilePrecedence, Level, Server, Source};

use crate::ui::phrase;

/// Returns in a few words why a candidate wins or loses.
pub(super) fn rank_reason(server: &Server, winner: Option<&Server>, env: &Env) -> String {
    let definition = &server.definition;
    if let Some(by) = &definition.replaced_by {
        return replaced(definition, by, env);
    }
    match winner {
        Some(winner) if std::ptr::eq(winner, server) => "wins: it comes first".to_owned(),
        Some(winner) => format!("shadowed: {}", order(&winner.definition, definition, env)),
        None => "shadowed".to_owned(),
    }
}

fn replaced(definition: &Definition, by: &Source, env: &Env) -> String {
    let path = phrase::path(&by.path, env);
    match by.level {
        Level::Project => format!(
            "replaced as a whole by {path}: in {} a project's servers replace your own",
            clean(definition.source.provider_name)
        ),
        Level::Env => format!("replaced as a whole by the variable {path}"),
        Level::User | Level::Builtin | Level::Program => {
            format!("hidden by the administrator's file {path}")
        }
    }
}

/// Returns why one definition comes before another: the first difference in rank.
fn order(first: &Definition, other: &Definition, env: &Env) -> String {
    let (higher, lower) = (&first.rank, &other.rank);
    let program = |definition: &Definition| clean(definition.source.provider_name);
    if (higher.priority, higher.program) != (lower.priority, lower.program) {
        return format!("{} comes before {}", program(first), program(other));
    }
    if higher.precedence != lower.precedence {
        return match (higher.precedence, lower.precedence) {
            (FilePrecedence::Project, _) => "project comes before user".to_owned(),
            _ => format!(
                "in {} this folder's own part of {} comes before its other files",
                program(first),
                phrase::path(&first.source.path, env)
            ),
        };
    }
    if higher.distance != lower.distance {
        return format!("same level, and {} is nearer", file_name(first, env));
    }
    if first.source.path == other.source.path {
        return "it is earlier in the same file".to_owned();
    }
    format!(
        "in {} {} comes before {}",
        program(first),
        file_name(first, env),
        file_name(other, env)
    )
}

fn file_name(definition: &Definition, env: &Env) -> String {
    phrase::path(&definition.source.path, env)
}
