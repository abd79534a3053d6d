//! The device grant (RFC 8628): the person confirms after a number of polls.

use serde_json::{Value, json};

use super::client_authentication::authenticate;
use super::options::RegisteredClient;
use super::request::OAuthRequest;
use super::server::OAuthShared;
use super::state::{DeviceRequest, IssuedGrant};
use super::token::OAuthRefusal;

/// Starts a sign-in on a device.
pub(super) fn start(shared: &OAuthShared, request: &OAuthRequest) -> Result<Value, OAuthRefusal> {
    let mut state = shared.state();
    let client = authenticate(&state, request).ok_or((401, "invalid_client"))?;
    let device_code = state.secret("device");
    state.devices.insert(
        device_code.clone(),
        DeviceRequest {
            client_id: client.id,
            scope: request.field("scope").to_owned(),
            resource: request.field("resource").to_owned(),
            polls_left: shared.options.device_polls_before_approval,
        },
    );
    let page = format!("{}/activate", shared.addresses.server_origin(&shared.options));
    Ok(json!({
        "device_code": device_code,
        "user_code": "WDJB-MJHT",
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code=WDJB-MJHT"),
        "expires_in": 600,
        "interval": shared.options.device_interval,
    }))
}

/// Answers whether the person has confirmed.
pub(super) fn poll(
    shared: &OAuthShared,
    request: &OAuthRequest,
    client: &RegisteredClient,
) -> Result<Value, OAuthRefusal> {
    let mut state = shared.state();
    let code = request.field("device_code");
    let waiting = state.devices.get_mut(code).filter(|device| device.client_id == client.id);
    let waiting = waiting.ok_or((400, "invalid_grant"))?;
    if waiting.polls_left > 0 {
        waiting.polls_left -= 1;
        return Err((400, "authorization_pending"));
    }
    let device = state.devices.remove(code).ok_or((400, "invalid_grant"))?;
    let grant = IssuedGrant {
        client_id: device.client_id,
        scope: device.scope,
        resource: device.resource,
        is_revoked: false,
    };
    Ok(state.start_grant(grant, true))
}
