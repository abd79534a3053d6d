//! Tells that tools are not what they were when they were first seen, and how they differ.

use wharf::tools::{ChangeKind, ToolChange};
use wharf::{Event, Events};
use wharf_config::Settings;
use wharf_config::text::{clip, escape_invisible};

use crate::ui::{Lines, Ui, phrase, style};

/// How many tools are told of by server; a server may change them all.
const MAX_TOOLS: usize = 20;

/// How much of a text before and after is shown.
const MAX_TEXT: usize = 200;

/// Says what has changed since somebody began to listen.
pub(super) async fn print_tool_changes(events: &mut Events, settings: &Settings, ui: &Ui) {
    let is_withheld = settings.is_set_to("tools.pinning", "enforce");
    loop {
        // Only what has happened already; what comes now is for the next run.
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

/// Describes all changes of a server's tools, for whoever is to accept them: nothing is cut or
/// stays unseen.
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
        lines.add(format!("{label} {}: {more} new or not what they were", phrase::quoted(server)));
    }
    if is_withheld {
        let hint = format!(
            "such tools are withheld; to see the change and decide: wharf trust {} --tools",
            phrase::word(server)
        );
        lines.hint("  ", Some(&hint));
    }
    lines.into_text()
}
