//! Duplicates: servers of different names that are started or reached in the same way.
//!
//! Only the first in order of precedence is connected.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::catalog::{DefinitionState, Server};
use crate::secret::Secret;
use crate::server::{ConfigValue, ServerName, Transport};
use crate::server_url::ServerUrl;

/// Marks servers with equal transports as duplicates, except the first in order of precedence.
pub(crate) fn mark(servers: &mut [Server]) {
    let mut first: HashMap<DuplicateKey<'_>, &ServerName> = HashMap::with_capacity(servers.len());
    let mut duplicates: Vec<(usize, ServerName)> = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let spec = server.spec.as_ref().filter(|_| server.state == DefinitionState::Enabled);
        let Some(duplicate_key) = spec.map(|spec| DuplicateKey::of(&spec.transport)) else {
            continue;
        };
        match first.entry(duplicate_key) {
            Entry::Occupied(original) => duplicates.push((index, (*original.get()).clone())),
            Entry::Vacant(place) => {
                place.insert(&server.definition.name);
            }
        }
    }
    for (index, original) in duplicates {
        servers[index].state = DefinitionState::Duplicate;
        servers[index].duplicate_of = Some(original);
    }
}

/// The parts of a transport that are compared to find duplicates.
#[derive(PartialEq, Eq, Hash)]
struct DuplicateKey<'a> {
    command: Option<&'a Secret>,
    url: Option<&'a ServerUrl>,
    args: &'a [Secret],
    values: Vec<(Cow<'a, str>, &'a ConfigValue)>,
    cwd: Option<&'a Secret>,
    custom: Option<usize>,
}

impl<'a> DuplicateKey<'a> {
    fn of(transport: &'a Transport) -> Self {
        let mut duplicate_key = match transport {
            Transport::Stdio(launch) => Self {
                command: Some(&launch.command),
                url: None,
                args: &launch.args,
                values: launch.env.iter().map(|(key, value)| (key.into(), value)).collect(),
                cwd: launch.cwd.as_ref(),
                custom: None,
            },
            Transport::Http(endpoint) | Transport::Sse(endpoint) => Self {
                command: None,
                url: Some(&endpoint.url),
                args: &[],
                // Header names are case-insensitive.
                values: endpoint
                    .headers
                    .iter()
                    .map(|(key, value)| (key.to_ascii_lowercase().into(), value))
                    .collect(),
                cwd: None,
                custom: None,
            },
            Transport::Custom(transport) => Self {
                command: None,
                url: None,
                args: &[],
                values: Vec::new(),
                cwd: None,
                custom: Some(transport.address()),
            },
        };
        duplicate_key.values.sort_unstable();
        duplicate_key
    }
}
