//! Notices that only Wharf's default servers exist, which of them download a package when they
//! start, and how to turn them off.

use wharf_config::{Catalog, DefinitionState, Env, Level, Server};

use super::invocation::{DefaultsReason, defaults_reason};
use crate::ui::{Ui, phrase};

/// Prints that only the defaults exist, for a verb that does not connect.
pub(super) fn print_notice(catalog: &Catalog, env: &Env, ui: &Ui) {
    match defaults_reason(catalog, env) {
        Some(DefaultsReason::NothingConfigured) => ui.notice(
            "Nothing is configured yet, so these are Wharf's defaults. \
             Add a server: wharf add NAME -- COMMAND…",
        ),
        Some(DefaultsReason::Unreadable) => ui.notice(
            "Some files could not be read (see above) and no other has servers, \
             so these are Wharf's defaults.",
        ),
        None => {}
    }
}

/// Prints the same for a verb that starts them, with the packages that this downloads.
pub(super) fn print_download_notice(catalog: &Catalog, env: &Env, ui: &Ui) {
    if defaults_reason(catalog, env).is_none() {
        return;
    }
    print_notice(catalog, env, ui);
    let downloads = catalog.winners().into_iter().filter(|server| downloads(server));
    let names: Vec<&str> = downloads.map(|server| server.definition.name.as_str()).collect();
    let Some(first) = names.first() else { return };
    let verb = if names.len() == 1 { "downloads" } else { "download" };
    let mut disabled_programs = catalog.settings.list("discovery.disabled").to_vec();
    disabled_programs.push("defaults".to_owned());
    ui.notice(&format!(
        "{} {verb} a package from the npm registry when started (npx).",
        phrase::quoted_list(names.iter().copied())
    ));
    ui.hint(&format!(
        "to turn one off: `wharf disable {}`; all of them: `wharf config set discovery.disabled {}`",
        phrase::word(first),
        phrase::word(&disabled_programs.join(","))
    ));
}

fn downloads(server: &Server) -> bool {
    let command = server.definition.fields.command.as_ref();
    server.state == DefinitionState::Enabled
        && server.definition.source.level == Level::Builtin
        && command.is_some_and(|command| command.text == "npx")
}
