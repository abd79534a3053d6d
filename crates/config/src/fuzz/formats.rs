//! Any text as each file of each program, from its reader to the listing.

use crate::catalog::{Server, State};
use crate::discover::Found;
use crate::document::{Node, Notation};
use crate::formats::Shape;
use crate::merge::{self, Rules};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::switches::Switches;
use crate::text::is_unsafe;
use crate::trust::Trust;
use crate::view::ServerView;

use super::canary;
use super::documents::Lines;
use super::readers::{MACHINE, READERS, Reader, planted};

/// No message of a problem, and no hint, is longer.
const LONGEST_MESSAGE: usize = 500;

/// Reads a text as every file that could hold it.
pub(super) fn formats(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for notation in [Notation::Json, Notation::Toml, Notation::Yaml] {
        let Some(parsed) = planted(&text, notation) else { continue };
        for reader in READERS.iter().filter(|reader| reader.notation() == notation) {
            let found = reader.read(&parsed);
            check_names(reader, &parsed.root, &found);
            check_found(found, &Lines::of(&text));
        }
    }
}

/// Checks that each entry of a plain map is there, under the name that it has in the file.
fn check_names(reader: &Reader, root: &Node, found: &Found) {
    let servers = match &reader.file.shape {
        Shape::Servers(keys) => root.pointer(keys),
        Shape::Loose => {
            ["mcpServers", "servers", "mcp_servers"].iter().find_map(|key| root.get(key))
        }
        Shape::Custom(_) | Shape::Notice(_) => None,
    };
    if let Some(map) = servers.and_then(Node::as_map) {
        let written = map.iter().map(|(key, _)| (key.text.as_str(), key.line));
        let read = found.definitions.iter().map(|own| (own.name.as_str(), own.line));
        assert!(written.eq(read), "{} loses or renames an entry", reader.program.id);
    }
}

fn check_found(found: Found, lines: &Lines) {
    found.problems.iter().for_each(|problem| check_problem(problem, lines));
    canary::check_hidden(&format!("{:?}", found.definitions), "a definition");
    let judged = found.definitions.into_iter().map(|own| (own, Trust::Given)).collect();
    let switches = Switches::default();
    let files = NamedFiles::default();
    let rules = Rules {
        files: &files,
        env: &MACHINE,
        switches: &switches,
        keep_duplicates: false,
        native_web_search: true,
    };
    for server in merge::merge(judged, &rules) {
        check_server(&server, lines);
    }
}

fn check_server(server: &Server, lines: &Lines) {
    lines.check(server.definition.line);
    for problem in &server.problems {
        check_problem(problem, lines);
        assert_eq!(problem.server.as_deref(), Some(server.definition.name.as_str()));
    }
    match server.state {
        State::Invalid => assert!(server.has_errors(), "an invalid server does not say why"),
        State::Enabled | State::Duplicate | State::Native => {
            assert!(!server.has_errors() && server.spec.is_some(), "used despite an error");
        }
        State::Disabled => assert!(server.reason.is_some(), "off without a reason"),
        State::Untrusted | State::Shadowed => {}
    }
    canary::check_hidden(&format!("{server:?}"), "a server");
    let listed = serde_json::to_string(&ServerView::of(server));
    canary::check_hidden(&listed.unwrap_or_default(), "a listing");
    drop(ServerView::revealed(server, &MACHINE));
}

fn check_problem(problem: &Problem, lines: &Lines) {
    if let Some(line) = problem.line {
        lines.check(line);
    }
    for text in [Some(&problem.message), problem.hint.as_ref()].into_iter().flatten() {
        assert!(text.chars().count() <= LONGEST_MESSAGE, "too long to be read: {text}");
        assert!(!text.contains(is_unsafe), "{text:?} could harm a terminal");
        canary::check_hidden(text, "a problem");
    }
}
