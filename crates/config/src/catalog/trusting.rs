//! Trust decisions that are applied to a catalog in memory.
//!
//! A decision is about the entry as it was reviewed: the files that it names are read once, and the
//! same bytes are shown, hashed and used.

use crate::env::Env;
use crate::named_files::NamedFiles;
use crate::server::{Definition, ServerName};
use crate::source::Level;
use crate::spec;
use crate::trust::{Trust, TrustSubject};

use super::{Catalog, DefinitionState, Server};

/// What a person decides about: an untrusted server, with the contents of the files that it names.
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

    /// Returns the server and what is stored about the decision.
    pub fn into_parts(self) -> (ServerName, TrustSubject) {
        (self.server, self.subject)
    }
}

impl Catalog {
    /// Returns the servers of a project that nobody has decided about.
    pub fn undecided(&self) -> impl Iterator<Item = &Server> {
        let is_open =
            |it: &&Server| it.state == DefinitionState::Untrusted && it.trust != Trust::Refused;
        self.servers.iter().filter(is_open)
    }

    /// Trusts a server that was reviewed. Nothing is stored: only this catalog changes.
    pub fn trust(&mut self, review: &TrustReview, env: &Env) {
        let Some(server) = self.reviewed(review) else { return };
        server.trust = Trust::Accepted;
        let specified = spec::build_spec(&server.definition, env, &review.files);
        server.problems.extend(specified.problems);
        server.uses = specified.uses;
        server.spec = specified.spec.map(Box::new);
        server.state = match server.spec {
            Some(_) => DefinitionState::Enabled,
            None => DefinitionState::Invalid,
        };
        self.is_folder_trusted = true;
        self.mark_duplicates();
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
}
