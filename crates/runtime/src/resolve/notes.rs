//! What is left out of a server on the way, in the words that a person gets to see.

use std::fmt;

use wharf_config::Problem;
use wharf_config::text::clip;

use super::error::ResolveError;
use crate::gate::Ready;

/// How much of a name from a file is shown.
const LONGEST_NAME: usize = 100;

/// A part of a server that can be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Header(&'a str),
    Variable(&'a str),
    Credential,
}

impl Part<'_> {
    fn field(self) -> String {
        match self {
            Self::Header(name) => format!("headers.{}", clip(name, LONGEST_NAME)),
            Self::Variable(name) => format!("env.{}", clip(name, LONGEST_NAME)),
            Self::Credential => "auth".to_owned(),
        }
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header \"{}\"", clip(name, LONGEST_NAME)),
            Self::Variable(name) => write!(f, "env \"{}\"", clip(name, LONGEST_NAME)),
            Self::Credential => f.write_str("stored credential"),
        }
    }
}

/// Collects what was left out of one server.
pub(super) struct Notes<'a> {
    server: &'a Ready,
    omissions: Vec<Problem>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(server: &'a Ready) -> Self {
        Self { server, omissions: Vec::new() }
    }

    /// Notes a value that could not be had; for a strict entry that is the end.
    pub(super) fn unresolved(
        &mut self,
        part: Part<'_>,
        why: &impl ToString,
        hint: &str,
    ) -> Result<(), ResolveError> {
        if self.server.spec.policy.strict {
            let (what, field, why) = (part.to_string(), part.field(), why.to_string());
            return Err(ResolveError::Strict { what, field, why });
        }
        self.left_out(part, why, hint);
        Ok(())
    }

    /// Notes something that is left out whether the entry is strict or not.
    pub(super) fn left_out(&mut self, part: Part<'_>, why: &impl ToString, hint: &str) {
        let message = format!("{part} left out: {}", why.to_string());
        let place = &self.server.place;
        self.omissions.push(
            Problem::warning("left-out-value", message)
                .in_file(&place.path)
                .on_line(place.line)
                .of_server(self.server.spec.name.as_str())
                .of_field(part.field())
                .hint(hint),
        );
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.omissions
    }
}
