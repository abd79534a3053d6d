//! Trust decisions that are applied to a catalog in memory.
//!
//! A decision is about the entry as it was reviewed: the files that it names are read once, and the
//! same bytes are shown, hashed and used. The catalog then is as a new [`load`](super::load) would
//! make it, except that no server gets a state that needs files which were not read: a user server
//! that was refused because it runs code of this folder is checked again by the next load.

use std::sync::Arc;

use crate::env::Env;
use crate::exa;
use crate::formats;
use crate::named_files::NamedFiles;
use crate::server::{Definition, ServerName};
use crate::source::{Level, Source};
use crate::spec;
use crate::trust::{Trust, TrustSubject};

use super::{Catalog, DefinitionState, HIDES, Server};

/// What a person decides about: an untrusted server, with the contents of the files that it names.
///
/// ```
/// use wharf_config::{DefinitionState, Env, LoadOptions, Platform, TrustReview, load};
///
/// # let folder = tempfile::tempdir()?;
/// # let entry = r#"{ "mcpServers": { "docs": { "command": "docs-server" } } }"#;
/// # std::fs::create_dir(folder.path().join(".wharf"))?;
/// # std::fs::write(folder.path().join(".wharf/mcp.json"), entry)?;
/// let env = Env::new(Platform::HOST, folder.path());
/// let mut catalog = load(&env, LoadOptions::default())?;
/// let reviews: Vec<TrustReview> =
///     catalog.undecided().map(|server| TrustReview::of(&server.definition, &env)).collect();
/// for review in &reviews {
///     // Here the person sees the entry and decides.
///     assert!(catalog.trust(review, &env));
/// }
/// assert_eq!(catalog.servers[0].state, DefinitionState::Enabled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TrustReview {
    server: ServerName,
    files: NamedFiles,
    subject: TrustSubject,
}

impl TrustReview {
    /// Reads the files that a definition names.
    pub fn of(definition: &Definition, env: &Env) -> Self {
        let files = NamedFiles::default();
        let subject = TrustSubject::with_files(definition, env, &files);
        Self { server: definition.name.clone(), files, subject }
    }

    /// Returns what is shown and stored about the decision.
    pub fn subject(&self) -> &TrustSubject {
        &self.subject
    }

    /// Returns the server and what is stored about the decision.
    pub fn into_parts(self) -> (ServerName, TrustSubject) {
        (self.server, self.subject)
    }
}

impl Catalog {
    /// Returns the servers of a project that nobody has decided about; in a build without the
    /// feature `http`, only those without an address.
    pub fn undecided(&self) -> impl Iterator<Item = &Server> {
        let is_open =
            |it: &&Server| it.state == DefinitionState::Untrusted && it.trust != Trust::Refused;
        // Such a build does not show addresses, and other programs use the decisions that it saves.
        let is_visible =
            |it: &&Server| cfg!(feature = "http") || it.definition.fields.url.is_none();
        self.servers.iter().filter(is_open).filter(is_visible)
    }

    /// Trusts a server that was reviewed. Nothing is stored: only this catalog changes.
    ///
    /// Returns whether it did: not if the catalog has another entry by now, such as after loading
    /// it again, or if the server is not untrusted.
    pub fn trust(&mut self, review: &TrustReview, env: &Env) -> bool {
        let is_native = self.native_web_search;
        let Some(server) = self.reviewed(review) else { return false };
        if TrustSubject::with_files(&server.definition, env, &review.files) != review.subject {
            return false;
        }
        server.trust = Trust::Accepted;
        // The warning is about a server that is not used and hides one that could be.
        server.problems.retain(|problem| problem.code != HIDES);
        let specified = spec::build_spec(&server.definition, env, &review.files);
        server.problems.extend(specified.problems);
        server.uses = specified.uses;
        server.spec = specified.spec.map(Box::new);
        server.state = match &server.spec {
            None => DefinitionState::Invalid,
            Some(spec) if is_native && exa::is_exa(spec) => DefinitionState::Native,
            Some(_) => DefinitionState::Enabled,
        };
        let spec = server.spec.as_ref().filter(|_| server.state == DefinitionState::Native);
        let exa_key = spec.and_then(|spec| exa::find_key(spec, env));
        let source = Arc::clone(&server.definition.source);
        self.exa_keys.extend(exa_key);
        self.is_folder_trusted = true;
        self.replace_user_map(&source);
        self.mark_duplicates();
        true
    }

    /// Marks a server that was reviewed as refused. Nothing is stored: only this catalog changes.
    pub fn refuse(&mut self, review: &TrustReview) {
        if let Some(server) = self.reviewed(review) {
            server.trust = Trust::Refused;
        }
    }

    fn reviewed(&mut self, review: &TrustReview) -> Option<&mut Server> {
        let mut servers = self.servers.iter_mut();
        servers.find(|server| {
            server.state == DefinitionState::Untrusted
                && server.definition.source.level == Level::Project
                && server.definition.name == review.server
        })
    }

    /// Shadows the user's servers of a program whose project map replaces the user's map.
    fn replace_user_map(&mut self, by: &Arc<Source>) {
        let program = formats::program(by.provider);
        if !program.is_some_and(|program| program.project_replaces_user) {
            return;
        }
        let is_replaced = |server: &&mut Server| {
            let source = &server.definition.source;
            source.level == Level::User
                && source.provider == by.provider
                && server.state != DefinitionState::Shadowed
        };
        self.servers.iter_mut().filter(is_replaced).for_each(|server| server.shadow(by));
    }
}
