//! The completion candidates for a position: verbs, flags, choices, servers, tools, argument names.
//!
//! A name from a file or a server is offered only if it is a plain word for every shell.

use std::collections::BTreeSet;

use clap::{Arg, Command, ValueHint};
use wharf::tools::{Registry, Tool, ToolMatch};
use wharf::{Options, cached_tools};
use wharf_config::settings::KEYS;
use wharf_config::shell::is_plain;
use wharf_config::text::clip;
use wharf_config::{Catalog, DefinitionState, providers};

use super::position::{Position, ValuePosition};
use crate::commands::Invocation;
use crate::ui::phrase;

/// The most candidates that are offered.
const MAX_CANDIDATES: usize = 1000;

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 80;

/// The candidates for a position.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The words, each with its description.
    pub(super) words: Vec<(String, String)>,
    /// Whether files or folders are candidates as well.
    pub(super) paths: Option<Paths>,
}

/// Which paths are candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// Files and folders.
    Files,
    /// Folders only.
    Folders,
}

impl Candidates {
    /// Collects the candidates for a position.
    pub(super) fn at(position: &Position<'_>, typed: &str, invocation: &Invocation) -> Self {
        let mut candidates = match position {
            Position::Verb(command) => Self::of(verbs(command)),
            Position::Flag(command) => Self::of(flags(command)),
            Position::Value(value) => values(value, invocation),
            Position::Nothing => Self::default(),
        };
        candidates.words.retain(|(word, _)| word.starts_with(typed));
        candidates.words.truncate(MAX_CANDIDATES);
        for (_, description) in &mut candidates.words {
            *description = clip(&phrase::first_line(description), MAX_DESCRIPTION);
        }
        candidates
    }

    fn of(words: Vec<(String, String)>) -> Self {
        Self { words, paths: None }
    }

    fn paths(paths: Paths) -> Self {
        Self { words: Vec::new(), paths: Some(paths) }
    }
}

fn verbs(command: &Command) -> Vec<(String, String)> {
    let visible = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let about = |verb: &Command| verb.get_about().map(ToString::to_string).unwrap_or_default();
    visible.map(|verb| (verb.get_name().to_owned(), about(verb))).collect()
}

fn flags(command: &Command) -> Vec<(String, String)> {
    let visible = command.get_arguments().filter(|flag| !flag.is_hide_set());
    let help = |flag: &Arg| flag.get_help().map(ToString::to_string).unwrap_or_default();
    visible.filter_map(|flag| Some((format!("--{}", flag.get_long()?), help(flag)))).collect()
}

fn values(value: &ValuePosition<'_>, invocation: &Invocation) -> Candidates {
    let mut candidates = plain_values(value, invocation);
    for (word, _) in &mut candidates.words {
        word.insert_str(0, &value.before);
    }
    candidates
}

fn plain_values(value: &ValuePosition<'_>, invocation: &Invocation) -> Candidates {
    let possible = value.argument.get_possible_values();
    if !possible.is_empty() && value.argument.get_action().takes_values() {
        let about = |it: &clap::builder::PossibleValue| {
            it.get_help().map(ToString::to_string).unwrap_or_default()
        };
        let visible = possible.iter().filter(|it| !it.is_hide_set());
        return Candidates::of(visible.map(|it| (it.get_name().to_owned(), about(it))).collect());
    }
    let lookup = OfflineLookup { invocation };
    match (value.verb.as_str(), value.argument.get_id().as_str()) {
        ("add" | "add-json", "name") => Candidates::default(),
        // Prompts and resources are not cached, but their servers are known.
        ("read", "words") if value.earlier.is_empty() => lookup.servers(|_| true),
        ("tools", "name") => lookup.servers_and_tools(&value.typed),
        ("call", "tool") => lookup.tools(&value.typed),
        ("call", "words") => lookup.arguments(value),
        ("import", "from") => {
            let words = providers().map(|(id, name)| (id.to_owned(), name.to_owned())).collect();
            Candidates { words, paths: Some(Paths::Files) }
        }
        ("trust", "names") => lookup.servers(|state| state == DefinitionState::Untrusted),
        (verb, "key") if verb.starts_with("config") => settings(),
        (_, "name" | "names" | "server") => lookup.servers(|_| true),
        _ => match value.argument.get_value_hint() {
            ValueHint::DirPath => Candidates::paths(Paths::Folders),
            ValueHint::FilePath | ValueHint::AnyPath => Candidates::paths(Paths::Files),
            _ => Candidates::default(),
        },
    }
}

/// Looks up servers and tools without connecting.
struct OfflineLookup<'a> {
    invocation: &'a Invocation,
}

impl OfflineLookup<'_> {
    fn catalog(&self) -> Option<Catalog> {
        self.invocation.load_quietly().ok()
    }

    fn registry(&self, catalog: &Catalog) -> Registry {
        cached_tools(catalog, &Options::new(self.invocation.env.clone()).store_in_wharf_home())
    }

    fn servers(&self, is_wanted: impl Fn(DefinitionState) -> bool) -> Candidates {
        Candidates::of(self.catalog().map(|it| servers(&it, is_wanted)).unwrap_or_default())
    }

    fn servers_and_tools(&self, typed: &str) -> Candidates {
        let Some(catalog) = self.catalog() else { return Candidates::default() };
        let mut words = servers(&catalog, |_| true);
        // With nothing typed, only servers: all tools at once would hide them.
        if !typed.is_empty() {
            words.extend(tools(&self.registry(&catalog), typed));
        }
        Candidates::of(words)
    }

    fn tools(&self, typed: &str) -> Candidates {
        let catalog = self.catalog();
        Candidates::of(catalog.map(|it| tools(&self.registry(&it), typed)).unwrap_or_default())
    }

    /// Returns the arguments of the named tool, or the tools of the named server.
    fn arguments(&self, value: &ValuePosition<'_>) -> Candidates {
        let (Some(catalog), Some((first, rest))) = (self.catalog(), value.earlier.split_first())
        else {
            return Candidates::default();
        };
        let registry = self.registry(&catalog);
        let is_server = catalog.candidates(first).next().is_some();
        let second = rest.first().filter(|word| is_server && !word.contains('='));
        let text = match second {
            Some(tool) => format!("{first}/{tool}"),
            None => first.clone(),
        };
        if let ToolMatch::Tool(tool) | ToolMatch::Hidden(tool) = registry.find(&text) {
            return arguments(tool, value);
        }
        if is_server && rest.is_empty() {
            let own = registry.tools().iter().filter(|tool| tool.server().as_str() == first);
            let words = own.map(|tool| (tool.tool().to_owned(), about(tool)));
            return Candidates::of(words.filter(|(word, _)| is_plain(word)).collect());
        }
        Candidates::default()
    }
}

fn settings() -> Candidates {
    let mut words: Vec<(String, String)> = KEYS
        .iter()
        .map(|setting| (setting.key.to_owned(), setting.description.to_owned()))
        .collect();
    words.sort();
    Candidates::of(words)
}

fn servers(
    catalog: &Catalog,
    is_wanted: impl Fn(DefinitionState) -> bool,
) -> Vec<(String, String)> {
    let wanted = catalog.winners().into_iter().filter(|server| is_wanted(server.state));
    let word = |server: &wharf_config::Server| {
        let about = phrase::source(&server.definition.source);
        let state = server.state.word();
        (server.definition.name.as_str().to_owned(), format!("server, {state}, {about}"))
    };
    wanted.map(word).filter(|(name, _)| is_plain(name)).collect()
}

/// Lists tools as `server/tool`, or by their full names if one is being typed.
fn tools(registry: &Registry, typed: &str) -> Vec<(String, String)> {
    let is_full = typed.starts_with("mcp_");
    let word = |tool: &Tool| {
        if is_full { tool.name().to_owned() } else { format!("{}/{}", tool.server(), tool.tool()) }
    };
    let words = registry.tools().iter().map(|tool| (word(tool), about(tool)));
    words.filter(|(word, _)| is_plain(word)).collect()
}

fn about(tool: &Tool) -> String {
    let title = || tool.title().map(|title| title.to_string());
    tool.description().map(|text| text.to_string()).or_else(title).unwrap_or_default()
}

/// Returns the names of the arguments that are still missing, or the choices for the typed one.
fn arguments(tool: &Tool, value: &ValuePosition<'_>) -> Candidates {
    let signature = tool.signature();
    if let Some((begun, typed)) = value.typed.split_once('=') {
        if typed.starts_with('@') {
            return Candidates::paths(Paths::Files);
        }
        let key = argument_name(begun);
        let argument = signature.arguments.iter().find(|argument| argument.name == key);
        let choices = argument.map(|argument| match argument.kind.as_str() {
            "boolean" => vec!["true".to_owned(), "false".to_owned()],
            // `key:=` takes JSON, and a string without quotes is not JSON.
            _ if begun != key && argument.kind == "string" => Vec::new(),
            _ => argument.choices.clone(),
        });
        let words = choices.unwrap_or_default().into_iter().map(|it| format!("{begun}={it}"));
        return Candidates::of(
            words.filter(|word| is_plain(word)).map(|word| (word, String::new())).collect(),
        );
    }
    let used: BTreeSet<&str> = value
        .earlier
        .iter()
        .filter_map(|word| Some(argument_name(word.split_once('=')?.0)))
        .collect();
    let is_open = |name: &str, is_list| is_list || !used.contains(name);
    let open = signature.arguments.iter().filter(|it| is_open(&it.name, it.is_list));
    let words = open.map(|argument| {
        let required = if argument.is_required { ", required" } else { "" };
        let about = argument.description.as_deref().map(|it| format!(": {it}"));
        let about = format!("{}{required}{}", argument.kind, about.unwrap_or_default());
        (format!("{}=", argument.name), about)
    });
    Candidates::of(words.filter(|(word, _)| is_plain(word)).collect())
}

/// Returns the argument name from the text before `=`: `key:=` also sets `key`.
fn argument_name(before: &str) -> &str {
    before.strip_suffix(':').unwrap_or(before)
}
