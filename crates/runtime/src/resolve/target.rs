//! Converts the parsed address of a server to a target of the transport.

use wharf_config::{ServerLocation, ServerUrl};
use wharf_protocol::transport::HttpTarget;

use super::error::ResolveError;

/// Returns the target for requests to a server.
pub(super) fn target(url: &ServerUrl) -> Result<HttpTarget, ResolveError> {
    let target = match url.location() {
        ServerLocation::Network(address) => HttpTarget::network(address.clone()),
        ServerLocation::Socket { path, request } => {
            HttpTarget::socket(path.clone(), request.clone())
        }
        _ => return Err(ResolveError::IncompleteUrl { url: url.to_string() }),
    };
    target.map_err(ResolveError::BadUrl)
}
