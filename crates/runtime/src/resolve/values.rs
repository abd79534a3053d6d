//! Turns one environment or header value into its text.
//!
//! A placeholder whose variable is not set stays in the text, as the catalog has warned already
//! (a server may know what to do with it); only for a strict entry is it a value that is missing. A
//! variable that the file names without a placeholder is missing for every entry.

use wharf_config::{ConfigValue, Env, Secret};

use super::command_cache::{CommandCache, CommandKey};
use super::shell::CommandFailure;
use crate::trust_gate::TrustedServer;

/// Why there is no text.
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
                "a command has 10 s and nobody to ask; run it by hand to see what it waits for"
            }
            Self::Command(_) => "run the command by hand to see what it says",
            Self::Placeholder | Self::Variable => "set the variable that it names",
        }
    }
}

/// Returns the text of a value. Dropping the future ends a command that it started.
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
        ConfigValue::LeftOut(_) => Err(UnresolvedValue::Variable),
        ConfigValue::Literal(text) | ConfigValue::Unset(text) => Ok(text.clone()),
        ConfigValue::Command(command) => Ok(commands.value(&key(command, server)).await?),
    }
}

/// Returns under which key the output of a server's command is remembered.
pub(super) fn key(command: &Secret, server: &TrustedServer) -> CommandKey {
    CommandKey { folder: server.command_folder.clone(), command: command.clone() }
}
