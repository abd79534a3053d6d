//! How a client proves at the token endpoint who it is: a secret in a header or in the form, or
//! nothing for a public client.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::options::RegisteredClient;
use super::request::OAuthRequest;
use super::state::OAuthState;

/// Returns the client of a request, if it proves who it is.
pub(super) fn authenticate(state: &OAuthState, request: &OAuthRequest) -> Option<RegisteredClient> {
    let (id, secret) = match request.authorization() {
        Some((scheme, encoded)) if scheme == "basic" => {
            let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
            let (id, secret) = text.split_once(':')?;
            (decode(id), Some(decode(secret)))
        }
        Some(_) => return None,
        None => (request.field("client_id").to_owned(), request.form.get("client_secret").cloned()),
    };
    let client = state.client(&id)?;
    (client.secret == secret).then_some(client)
}

/// Decodes a part of the header, which is encoded like a form (RFC 6749, 2.3.1).
fn decode(part: &str) -> String {
    let pair = format!("x={part}");
    let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
    pairs.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}
