//! Resolves one environment or header value to its text.
//!
//! A placeholder whose variable is not set stays in the text, because the server may expand it
//! itself; the catalog has a warning. In a strict entry the value is missing instead. A value that
//! names an unset variable without a placeholder is missing in every entry.

use wharf_config::{ConfigValue, Env, Secret};

use super::command_cache::{CommandCache, CommandKey};
use super::shell::CommandFailure;
use crate::trust_gate::TrustedServer;

/// Why a value could not be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnresolvedValue {
    #[error(transparent)]
    Command(#[from] CommandFailure),
    #[error("a placeholder in it has no value")]
    Placeholder,
    #[error("the variable that it comes from is not set")]
    Variable,
}

impl UnresolvedValue {
    /// Says what to do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Command(CommandFailure::TimedOut) => {
                "a command has 10 s and no input; run it by hand to see what it waits for"
            }
            Self::Command(_) => "run the command by hand to see its output",
            Self::Placeholder | Self::Variable => "set the variable that it names",
        }
    }
}

/// Returns the text of a value. Dropping the future kills a command that it started.
pub(super) async fn resolve(
    value: &ConfigValue,
    server: &TrustedServer,
    env: &Env,
    commands: &CommandCache,
) -> Result<Secret, UnresolvedValue> {
    match value {
        ConfigValue::NameOrLiteral(text) => {
            let variable = env.nonempty_variable(text.expose());
            Ok(variable.map_or_else(|| text.clone(), Secret::new))
        }
        ConfigValue::Unset(_) if server.spec.policy.strict => Err(UnresolvedValue::Placeholder),
        ConfigValue::Omitted(_) => Err(UnresolvedValue::Variable),
        ConfigValue::Literal(text) | ConfigValue::Unset(text) => Ok(text.clone()),
        ConfigValue::Command(command) => Ok(commands.value(&key(command, server)).await?),
    }
}

/// Returns the cache key of a command of a server.
pub(super) fn key(command: &Secret, server: &TrustedServer) -> CommandKey {
    CommandKey { folder: server.command_folder.clone(), command: command.clone() }
}
