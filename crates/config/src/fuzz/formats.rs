//! Fuzz target for the programs' readers: any text as each file, up to the JSON of the listing.

use crate::catalog::{DefinitionState, Server};
use crate::discover::Discovery;
use crate::document::{Node, Notation};
use crate::formats::FileShape;
use crate::merge::{self, MergeOptions};
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::switches::Switches;
use crate::text::is_unsafe;
use crate::trust::Trust;
use crate::view::CatalogServerView;

use super::canary;
use super::documents::LineRange;
use super::program_readers::{EMPTY_MACHINE, PROGRAM_READERS, ProgramReader, parse_with_canary};

/// The limit for the message and the hint of a problem.
const MAX_MESSAGE_LENGTH: usize = 500;

/// Reads a text as every file of its notation.
pub(super) fn formats(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for notation in [Notation::Json, Notation::Toml, Notation::Yaml] {
        let Some(parsed) = parse_with_canary(&text, notation) else { continue };
        for reader in PROGRAM_READERS.iter().filter(|reader| reader.notation() == notation) {
            let found = reader.read(&parsed);
            check_names(reader, &parsed.root, &found);
            check_found(found, &LineRange::of(&text));
        }
    }
}

/// Checks that each entry of a plain map is read, with its name in the file.
fn check_names(reader: &ProgramReader, root: &Node, found: &Discovery) {
    let servers = match &reader.file.shape {
        FileShape::Servers(keys) => root.pointer(keys),
        FileShape::AnyKeyOrRoot => {
            ["mcpServers", "servers", "mcp_servers"].iter().find_map(|key| root.get(key))
        }
        FileShape::Custom(_) | FileShape::Notice(_) => None,
    };
    if let Some(map) = servers.and_then(Node::as_map) {
        let written = map.iter().map(|(key, _)| (key.text.as_str(), key.line));
        let read = found.definitions.iter().map(|own| (own.name.as_str(), own.line));
        assert!(written.eq(read), "{} loses or renames an entry", reader.program.id);
    }
}

fn check_found(found: Discovery, lines: &LineRange) {
    found.problems.iter().for_each(|problem| check_problem(problem, lines));
    canary::assert_hidden(&format!("{:?}", found.definitions), "a definition");
    let judged = found.definitions.into_iter().map(|own| (own, Trust::Accepted)).collect();
    let switches = Switches::default();
    let files = NamedFiles::default();
    let merge_options = MergeOptions {
        files: &files,
        env: &EMPTY_MACHINE,
        switches: &switches,
        keep_duplicates: false,
        native_web_search: true,
        is_folder_trusted: true,
    };
    for server in merge::merge(judged, &merge_options) {
        check_server(&server, lines);
    }
}

fn check_server(server: &Server, lines: &LineRange) {
    lines.check(server.definition.line);
    for problem in &server.problems {
        check_problem(problem, lines);
        assert_eq!(problem.server.as_deref(), Some(server.definition.name.as_str()));
    }
    match server.state {
        DefinitionState::Invalid => {
            assert!(server.has_errors(), "an invalid server without an error");
        }
        DefinitionState::Enabled | DefinitionState::Duplicate | DefinitionState::Native => {
            assert!(!server.has_errors() && server.spec.is_some(), "it is used despite an error");
        }
        DefinitionState::Disabled => {
            assert!(server.reason.is_some(), "it is disabled without a reason");
        }
        DefinitionState::Untrusted | DefinitionState::Shadowed => {}
    }
    canary::assert_hidden(&format!("{server:?}"), "a server");
    let listed = serde_json::to_string(&CatalogServerView::of(server));
    canary::assert_hidden(&listed.unwrap_or_default(), "a listing");
    drop(CatalogServerView::revealed(server, &EMPTY_MACHINE));
}

fn check_problem(problem: &Problem, lines: &LineRange) {
    if let Some(line) = problem.line {
        lines.check(line);
    }
    for text in [Some(&problem.message), problem.hint.as_ref()].into_iter().flatten() {
        assert!(text.chars().count() <= MAX_MESSAGE_LENGTH, "the text is too long: {text}");
        assert!(!text.contains(is_unsafe), "{text:?} is unsafe for a terminal");
        canary::assert_hidden(text, "a problem");
    }
}
