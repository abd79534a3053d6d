//! The handshake: answers `initialize` (legacy era) and `server/discover` (modern era).

use std::sync::Arc;

use super::client::{Client, ClientDetails};
use super::client_meta::supported_versions;
use super::legacy_session::LegacySession;
use super::server::ServerCore;
use super::service::ServiceCall;
use crate::Json;
use crate::envelope::RpcError;
use crate::era::{Era, Revision};
use crate::view::send::{encode, object};

/// The parameters of `initialize`.
pub(crate) struct InitializeParams {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Json,
    pub(crate) info: Option<Json>,
}

impl InitializeParams {
    /// Reads the parameters and chooses the revision.
    ///
    /// For a revision that is unknown or modern, the newest legacy revision is chosen; the client
    /// decides whether it accepts that.
    pub(crate) fn read(params: Option<&Json>) -> Result<Self, RpcError> {
        let wrong = || RpcError::invalid_params("Invalid params: protocolVersion is required");
        let params = params.ok_or_else(wrong)?;
        let members = params.members().ok_or_else(wrong)?;
        let version = members.text("protocolVersion").ok_or_else(wrong)?;
        let revision = version.parse().ok().filter(|it: &Revision| it.era() == Era::Legacy);
        let object = |key: &str| {
            // The session outlives the message, so it gets a copy.
            members.get(key).map(|raw| params.part(raw).detached()).filter(Json::is_object)
        };
        Ok(Self {
            revision: revision.unwrap_or(Revision::LATEST_LEGACY),
            capabilities: object("capabilities").unwrap_or_else(Json::object),
            info: object("clientInfo"),
        })
    }
}

impl InitializeParams {
    /// Creates the client with its session.
    pub(crate) fn into_client(self, session: LegacySession) -> Client {
        Client::new(ClientDetails {
            revision: self.revision,
            capabilities: self.capabilities,
            info: self.info,
            session: Some(Arc::new(session)),
        })
    }
}

/// Answers `initialize`.
pub(crate) async fn initialize(core: &ServerCore, client: &Client) -> Json {
    let description = core.service().describe(client.clone()).await;
    object([
        ("protocolVersion", Some(encode(client.revision().as_str()))),
        ("capabilities", Some(description.capabilities)),
        ("serverInfo", Some(core.info().clone())),
        ("instructions", description.instructions.as_ref().map(encode)),
    ])
}

/// Answers `server/discover`; the members of every modern result are added later.
pub(crate) async fn discover(core: &ServerCore, call: &ServiceCall) -> Json {
    let description = core.service().describe(call.context.client().clone()).await;
    object([
        ("supportedVersions", Some(encode(&supported_versions()))),
        ("capabilities", Some(description.capabilities)),
        ("instructions", description.instructions.as_ref().map(encode)),
    ])
}
