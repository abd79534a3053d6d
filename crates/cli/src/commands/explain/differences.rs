//! Lists how a definition differs from the winner, without secrets: of variables and headers only
//! the names are shown.

use wharf_config::text::clean;
use wharf_config::view::CatalogServerView;
use wharf_config::{Server, WrittenText};

use crate::ui::phrase;

/// Lists the differences, one line each; empty if the definitions are the same.
pub(super) fn differences(other: &Server, counting: &Server) -> Vec<String> {
    let (theirs, ours) = (&other.definition.fields, &counting.definition.fields);
    let (there, here) = (CatalogServerView::of(other), CatalogServerView::of(counting));
    let mut lines = DifferenceLines(Vec::new());
    lines.text("transport", Some(there.transport), Some(here.transport));
    lines.written(
        "command",
        (&theirs.command, &there.command).into(),
        (&ours.command, &here.command).into(),
    );
    let words = |args: &[WrittenText]| args.iter().map(|arg| arg.text.clone()).collect::<Vec<_>>();
    if words(&theirs.args) != words(&ours.args) {
        let render = |args: &Option<Vec<String>>| {
            let words = args.iter().flatten().map(|word| phrase::word(word));
            words.collect::<Vec<_>>().join(" ")
        };
        lines.differing("args differ", &render(&there.args), &render(&here.args));
    }
    lines.pairs("env", &theirs.env, &ours.env);
    lines.written("cwd", (&theirs.cwd, &there.cwd).into(), (&ours.cwd, &here.cwd).into());
    lines.written("url", (&theirs.url, &there.url).into(), (&ours.url, &here.url).into());
    lines.pairs("headers", &theirs.headers, &ours.headers);
    let limit = |view: &CatalogServerView<'_>| phrase::duration(view.timeout_ms);
    lines.text("timeout", Some(&limit(&there)), Some(&limit(&here)));
    let approval = |view: &CatalogServerView<'_>| view.approval.word();
    lines.text("approval", Some(approval(&there)), Some(approval(&here)));
    lines.text("prefix", there.prefix, here.prefix);
    lines.0
}

struct DifferenceLines(Vec<String>);

/// One field of a definition: as written, and with secrets redacted.
#[derive(Clone, Copy)]
struct WrittenField<'a> {
    written: &'a Option<WrittenText>,
    redacted: &'a Option<String>,
}

impl<'a> From<(&'a Option<WrittenText>, &'a Option<String>)> for WrittenField<'a> {
    fn from((written, redacted): (&'a Option<WrittenText>, &'a Option<String>)) -> Self {
        Self { written, redacted }
    }
}

impl DifferenceLines {
    /// Compares two texts.
    fn text(&mut self, field: &str, there: Option<&str>, here: Option<&str>) {
        if there != here {
            let render = |text: Option<&str>| text.map_or_else(String::new, phrase::word);
            self.differing(&format!("{field} differs"), &render(there), &render(here));
        }
    }

    /// Compares two texts as written, and shows them with secrets redacted.
    fn written(&mut self, field: &str, there: WrittenField<'_>, here: WrittenField<'_>) {
        let text = |field: WrittenField<'_>| field.written.as_ref().map(|text| text.text.clone());
        if text(there) != text(here) {
            let render = |field: WrittenField<'_>| {
                field.redacted.as_deref().map_or_else(String::new, phrase::word)
            };
            self.differing(&format!("{field} differs"), &render(there), &render(here));
        }
    }

    /// Compares names and values, and shows the names.
    fn pairs(
        &mut self,
        field: &str,
        there: &[(String, WrittenText)],
        here: &[(String, WrittenText)],
    ) {
        let value = |pairs: &[(String, WrittenText)], name: &str| {
            pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value.text.clone())
        };
        let mut parts = Vec::new();
        let names = |pairs: &[(String, WrittenText)], fits: &dyn Fn(&str) -> bool| {
            let names = pairs.iter().map(|(name, _)| name.as_str()).filter(|name| fits(name));
            names.map(clean).collect::<Vec<_>>().join(", ")
        };
        let added = names(there, &|name| value(here, name).is_none());
        let missing = names(here, &|name| value(there, name).is_none());
        let is_other =
            |name: &str| value(here, name).is_some_and(|own| Some(own) != value(there, name));
        let changed = names(there, &is_other);
        for (what, names) in
            [("also ", added), ("without ", missing), ("another value of ", changed)]
        {
            if !names.is_empty() {
                parts.push(format!("{what}{names}"));
            }
        }
        if !parts.is_empty() {
            let verb = if field == "headers" { "differ" } else { "differs" };
            self.0.push(format!("{field} {verb}: {}", parts.join("; ")));
        }
    }

    fn differing(&mut self, what: &str, there: &str, here: &str) {
        let render = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        self.0.push(if there == here {
            format!("{what}: in a redacted part")
        } else {
            format!("{what}: {} (the winner: {})", render(there), render(here))
        });
    }
}
