//! Picks one definition per server name; the others are kept as shadowed.
//!
//! Fields of two definitions are never mixed. A winner that is invalid, disabled or untrusted still
//! shadows the others, so a definition of lower precedence does not silently take its place.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::{DefinitionState, HIDES, Server};
use crate::duplicates;
use crate::env::Env;
use crate::exa;
use crate::formats;
use crate::named_files::NamedFiles;
use crate::problem::Problem;
use crate::server::{Definition, ServerName};
use crate::source::{Level, Source};
use crate::spec;
use crate::switches::Switches;
use crate::trust::Trust;
use crate::untrusted_folder;

/// The options of a merge, and what it reads besides the definitions.
pub(crate) struct MergeOptions<'a> {
    pub(crate) env: &'a Env,
    /// The files that definitions name, with the contents that were checked for trust.
    pub(crate) files: &'a NamedFiles,
    /// The `disabledServers` and `enabledServers` of Wharf's user file.
    pub(crate) switches: &'a Switches,
    /// Whether a server that two names define is connected twice.
    pub(crate) keep_duplicates: bool,
    /// Whether the session's native web search replaces Exa servers.
    pub(crate) native_web_search: bool,
    /// Whether the user trusts the working folder, or an entry in it.
    pub(crate) is_folder_trusted: bool,
}

/// Decides the state of every definition. The result is in order of precedence.
pub(crate) fn merge(
    definitions: Vec<(Definition, Trust)>,
    options: &MergeOptions<'_>,
) -> Vec<Server> {
    let mut sorted = definitions;
    sorted.sort_by(|(a, _), (b, _)| {
        (&a.rank, &a.source.path, a.line).cmp(&(&b.rank, &b.source.path, b.line))
    });
    replace_whole_maps(&mut sorted);
    let mut winners: HashMap<ServerName, (usize, Arc<Source>)> = HashMap::new();
    let mut servers: Vec<Server> = Vec::with_capacity(sorted.len());
    let mut hides: Vec<(usize, String)> = Vec::new();
    for (definition, trust) in sorted {
        let hidden_by = definition.replaced_by.clone().or_else(|| {
            winners.get(&definition.name).map(|(winner, source)| {
                let theirs = &servers[*winner];
                if !theirs.trust.allows_use() && definition.source.level != Level::Project {
                    let path = options.env.display_path(&definition.source.path);
                    hides.push((*winner, path));
                }
                Arc::clone(source)
            })
        });
        servers.push(if let Some(source) = hidden_by {
            Server::shadowed(definition, trust, source)
        } else {
            let source = Arc::clone(&definition.source);
            winners.insert(definition.name.clone(), (servers.len(), source));
            decide_state(definition, trust, options)
        });
    }
    for (winner, path) in hides {
        report_shadowing(&mut servers[winner], &path);
    }
    if !options.keep_duplicates {
        duplicates::mark(&mut servers);
    }
    servers
}

/// Decides the state of the winner of a name.
fn decide_state(definition: Definition, trust: Trust, options: &MergeOptions<'_>) -> Server {
    let mut server = Server::new(definition, trust);
    let name = server.definition.name.as_str();
    let off = match &server.definition.off {
        _ if options.switches.disabled.contains(name) => {
            Some("listed in \"disabledServers\" of your own file".to_owned())
        }
        Some(off) if off.by_other_program && options.switches.enabled.contains(name) => None,
        Some(off) => Some(off.reason.clone()),
        None => None,
    };
    let structure = spec::check_transport(&server.definition);
    server.transport = structure.as_ref().ok().copied();
    let checked = structure.and_then(|kind| spec::check_address(&server.definition, kind));
    if let Err(invalid) = checked {
        // An entry that is not an object has its problem already, and an entry that only switches a
        // server off needs no other field.
        if !server.has_errors() && off.is_none() {
            server.problems.push(spec::problem(&server.definition, &invalid));
        }
    }
    if let Some(reason) = off {
        server.reason = Some(reason);
        server.state = DefinitionState::Disabled;
    } else if server.has_errors() {
        server.state = DefinitionState::Invalid;
    } else if !server.trust.allows_use() {
        server.state = DefinitionState::Untrusted;
    } else {
        add_spec(&mut server, options);
    }
    server
}

fn add_spec(server: &mut Server, options: &MergeOptions<'_>) {
    let specified = spec::build_spec(&server.definition, options.env, options.files);
    server.problems.extend(specified.problems);
    server.uses = specified.uses;
    server.spec = specified.spec.map(Box::new);
    // Nobody clones a repository as their home folder.
    if !options.is_folder_trusted
        && options.env.home.as_ref() != Some(&options.env.cwd)
        && let Some(problem) = untrusted_folder::check_use(server, &options.env.cwd)
    {
        server.problems.push(problem);
        server.spec = None;
    }
    server.state = match &server.spec {
        None => DefinitionState::Invalid,
        Some(spec) if options.native_web_search && exa::is_exa(spec) => DefinitionState::Native,
        Some(_) => DefinitionState::Enabled,
    };
}

/// Lets a trusted project map replace the whole user map, for programs that do so.
fn replace_whole_maps(sorted: &mut [(Definition, Trust)]) {
    let replacing: Vec<(&'static str, Arc<Source>)> = sorted
        .iter()
        .filter(|(own, trust)| {
            own.source.level == Level::Project
                && own.replaced_by.is_none()
                && trust.allows_use()
                && formats::program(own.source.provider)
                    .is_some_and(|program| program.project_replaces_user)
        })
        .map(|(own, _)| (own.source.provider, Arc::clone(&own.source)))
        .collect();
    for (own, _) in sorted.iter_mut().filter(|(own, _)| own.source.level == Level::User) {
        let by = replacing.iter().find(|(provider, _)| *provider == own.source.provider);
        if let (None, Some((_, source))) = (&own.replaced_by, by) {
            own.replaced_by = Some(Arc::clone(source));
        }
    }
}

fn report_shadowing(server: &mut Server, path: &str) {
    let name = &server.definition.name;
    let problem = Problem::warning(
        HIDES,
        format!("hides your \"{}\" from {path}", crate::text::clip(name.as_str(), 100)),
    )
    .in_file(&server.definition.source.path)
    .on_line(server.definition.line)
    .of_server(name.as_str())
    .hint("trust it to use it here, or rename yours");
    server.problems.push(problem);
}
