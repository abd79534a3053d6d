//! Reports tools that differ from their pins (new or changed tools), with the differences.

use wharf::tools::{ChangeKind, ToolChange};
use wharf::{Event, Events};
use wharf_config::Settings;
use wharf_config::text::{clip, escape_invisible};

use crate::ui::{Lines, Ui, phrase, style};

/// The most tools that are reported per server; a server may change all of them.
const MAX_TOOLS: usize = 20;

/// The longest text before or after a change that is printed in full.
const MAX_TEXT: usize = 200;

/// Prints the tool changes among the events received so far.
pub(super) async fn print_tool_changes(events: &mut Events, settings: &Settings, ui: &Ui) {
    let is_withheld = settings.is_set_to("tools.pinning", "enforce");
    loop {
        // Do not wait: later changes are reported by the next run.
        let event = tokio::select! {
            biased;
            event = events.next() => event,
            () = std::future::ready(()) => None,
        };
        match event {
            Some(Event::ToolsDiffer { server, changes }) => {
                let text = describe(server.as_str(), &changes, is_withheld);
                ui.notice(text.trim_end());
            }
            Some(_) => {}
            None => return,
        }
    }
}

/// Describes all changes of a server's tools for the person who accepts them: in full, with
/// invisible characters made visible.
pub(crate) fn describe_all_changes(server: &str, changes: &[ToolChange]) -> String {
    let mut lines = Lines::default();
    for change in changes {
        let what = match change.kind {
            ChangeKind::New => "is new",
            ChangeKind::Changed => "has changed",
        };
        let (server, tool) = (phrase::quoted(server), escape_invisible(&change.tool));
        lines.add(format!("{server}: tool \"{tool}\" {what}"));
        for difference in &change.differences {
            let show = |text: &Option<String>| {
                text.as_deref().map_or("(nothing, or too long to keep)".to_owned(), phrase::word)
            };
            let after = show(&difference.after);
            if change.kind == ChangeKind::New {
                lines.add(format!("  {}: {after}", difference.field));
            } else {
                let before = show(&difference.before);
                lines.add(format!("  {}: {before} → {after}", difference.field));
            }
        }
    }
    lines.into_text()
}

fn describe(server: &str, changes: &[ToolChange], is_withheld: bool) -> String {
    let mut lines = Lines::default();
    for change in changes.iter().take(MAX_TOOLS) {
        let what = match change.kind {
            ChangeKind::New => "is new",
            ChangeKind::Changed => "has changed",
        };
        let (server, tool) = (phrase::quoted(server), phrase::quoted(&change.tool));
        lines.add(format!("{} {server}: tool {tool} {what}", style::warning("warning:")));
        for difference in &change.differences {
            let show = |text: &Option<String>| match text {
                Some(text) => phrase::word(&clip(text, MAX_TEXT)),
                None => "(nothing)".to_owned(),
            };
            let (before, after) = (show(&difference.before), show(&difference.after));
            lines.add(format!("  {}: {before} → {after}", difference.field));
        }
    }
    if changes.len() > MAX_TOOLS {
        let more = phrase::count(changes.len() - MAX_TOOLS, "more tool");
        let label = style::warning("warning:");
        lines.add(format!("{label} {}: {more} new or changed", phrase::quoted(server)));
    }
    if is_withheld {
        let hint = format!(
            "these tools are withheld; to review and accept them: `wharf trust {} --tools`",
            phrase::word(server)
        );
        lines.hint("  ", Some(&hint));
    }
    lines.into_text()
}
