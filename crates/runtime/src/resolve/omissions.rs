//! Collects the omitted values of a server as problems: headers, variables, the stored credential.

use std::fmt;

use wharf_config::Problem;
use wharf_config::text::clip;

use super::error::ResolveError;
use crate::trust_gate::TrustedServer;

/// How many characters of a name are shown.
const MAX_NAME_CHARS: usize = 100;

/// A part of a server that can be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OmittedPart<'a> {
    #[cfg(feature = "http")]
    Header(&'a str),
    Variable(&'a str),
    Credential,
}

impl OmittedPart<'_> {
    fn field(self) -> String {
        match self {
            #[cfg(feature = "http")]
            Self::Header(name) => format!("headers.{}", clip(name, MAX_NAME_CHARS)),
            Self::Variable(name) => format!("env.{}", clip(name, MAX_NAME_CHARS)),
            Self::Credential => "auth".to_owned(),
        }
    }
}

impl fmt::Display for OmittedPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "http")]
            Self::Header(name) => write!(f, "header \"{}\"", clip(name, MAX_NAME_CHARS)),
            Self::Variable(name) => write!(f, "env \"{}\"", clip(name, MAX_NAME_CHARS)),
            Self::Credential => f.write_str("stored credential"),
        }
    }
}

/// Collects the omissions of one server.
pub(super) struct OmissionCollector<'a> {
    server: &'a TrustedServer,
    omissions: Vec<Problem>,
}

impl<'a> OmissionCollector<'a> {
    pub(super) fn new(server: &'a TrustedServer) -> Self {
        Self { server, omissions: Vec::new() }
    }

    /// Adds a value that could not be resolved; an error for a strict entry.
    pub(super) fn add_unresolved(
        &mut self,
        part: OmittedPart<'_>,
        why: &impl ToString,
        hint: &str,
    ) -> Result<(), ResolveError> {
        if self.server.spec.policy.strict {
            let (what, field, why) = (part.to_string(), part.field(), why.to_string());
            return Err(ResolveError::Strict { what, field, why });
        }
        self.add(part, why, hint);
        Ok(())
    }

    /// Adds a value that is omitted also in a strict entry.
    pub(super) fn add(&mut self, part: OmittedPart<'_>, why: &impl ToString, hint: &str) {
        let message = format!("{part} left out: {}", why.to_string());
        let written = &self.server.written;
        self.omissions.push(
            Problem::warning("omitted-value", message)
                .in_file(&written.path)
                .on_line(written.line)
                .of_server(self.server.spec.name.as_str())
                .of_field(part.field())
                .hint(hint),
        );
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.omissions
    }
}
