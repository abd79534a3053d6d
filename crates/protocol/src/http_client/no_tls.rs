//! TLS in a build without the feature `tls`: every secure connection fails with that reason.

use std::error::Error;
use std::path::PathBuf;

use http::Uri;

use super::connector::ByteStream;
use super::error::BoxError;
use super::tasks::ClientTasks;

/// The missing TLS.
pub(super) struct Tls;

/// The other side of a TLS connection.
#[derive(Clone, Copy)]
pub(super) enum TlsPeer {
    Server,
    Proxy,
}

impl Tls {
    pub(super) fn new(_: Vec<PathBuf>) -> Self {
        Self
    }

    /// Fails.
    #[expect(clippy::unused_async, reason = "the same function as with TLS")]
    pub(super) async fn wrap(
        &self,
        _: ByteStream,
        _: &Uri,
        _: TlsPeer,
        _: &ClientTasks,
    ) -> Result<(ByteStream, bool), BoxError> {
        Err("this program was built without the feature `tls`".into())
    }
}

/// Returns what a person can do about a failed handshake.
pub(super) fn hint(_: &(dyn Error + 'static)) -> &'static str {
    "build the program with the feature `tls`, or use an address that begins with http://"
}
