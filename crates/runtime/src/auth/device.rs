//! The sign-in with a code on another device (RFC 8628).
//!
//! The issuer says how often it may be asked. A failed request does not end the wait: the code is
//! valid until it expires.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use wharf_config::Secret;

use super::error::SignInError;
use super::grants::TokenContext;
use super::metadata::IssuerMetadata;
use super::prompt::{PageAddress, SignInHost, SignInProgress};
use super::requests::safe_url;
use super::token::{Form, IssuedToken, fields, invalid, post, token};

const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The interval where the issuer names none, and the bounds of what it may name.
const INTERVAL: u64 = 5;
const INTERVALS: std::ops::RangeInclusive<u64> = 1..=60;

/// How much slower to ask after `slow_down`.
const SLOW_DOWN: Duration = Duration::from_secs(5);

/// How long a code may be valid.
const MAX_VALIDITY: u64 = 1800;

/// How many characters a code may have.
const MAX_CODE: usize = 64;

/// A code for the person, and one for the program.
struct DeviceCode {
    secret: Secret,
    interval: Duration,
    expires_in: Duration,
    progress: SignInProgress,
}

/// Lets the person enter a code, and waits for the token. The caller limits the time.
pub(super) async fn sign_in(
    context: &TokenContext<'_>,
    issuer: &IssuerMetadata,
    host: &SignInHost,
) -> Result<IssuedToken, SignInError> {
    let code = request_code(context, issuer).await?;
    host.show(&code.progress);
    let expires = Instant::now() + code.expires_in;
    let mut interval = code.interval;
    loop {
        tokio::time::sleep(interval).await;
        let form = vec![
            ("grant_type", DEVICE_CODE.to_owned()),
            ("device_code", code.secret.expose().to_owned()),
        ];
        let error = match context.request(form).await {
            Ok(token) => return Ok(token),
            Err(error) => error,
        };
        match &error {
            SignInError::Refused(refusal) => match &*refusal.code {
                "authorization_pending" => {}
                "slow_down" => interval += SLOW_DOWN,
                _ => return Err(error),
            },
            error if error.is_transient() => interval += SLOW_DOWN,
            _ => return Err(error),
        }
        if Instant::now() >= expires {
            return Err(SignInError::TimedOut { limit: code.expires_in });
        }
    }
}

async fn request_code(
    context: &TokenContext<'_>,
    issuer: &IssuerMetadata,
) -> Result<DeviceCode, SignInError> {
    let unsupported = || SignInError::Unsupported {
        issuer: issuer.issuer.clone(),
        what: "signing in with a code on another device",
    };
    let endpoint = issuer.device_endpoint.as_ref().ok_or_else(unsupported)?;
    let mut form: Form = Vec::new();
    if !context.scopes.is_empty() {
        form.push(("scope", context.scopes.join(" ")));
    }
    form.extend(context.resource.map(|resource| ("resource", resource.to_owned())));
    let response = post(context.requests, endpoint, &context.client, &form, None).await?;
    let fields = fields(endpoint, response)?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let number = |name: &str| fields.get(name).and_then(Value::as_u64);
    let page = |name: &str| {
        let url = text(name).and_then(safe_url).filter(|url| context.requests.allows(url));
        url.and_then(PageAddress::new)
    };
    let code = text("user_code").filter(|code| {
        !code.is_empty() && code.chars().count() <= MAX_CODE && !code.contains(char::is_control)
    });
    let device_code = token(&fields, "device_code").map_err(|reason| invalid(endpoint, reason))?;
    let expires_in = number("expires_in").unwrap_or(MAX_VALIDITY).clamp(1, MAX_VALIDITY);
    let expires_in = Duration::from_secs(expires_in);
    let interval = number("interval").unwrap_or(INTERVAL);
    // Some issuers write `verification_url`.
    let page_to_open = page("verification_uri").or_else(|| page("verification_url"));
    let missing = |what: &str| invalid(endpoint, &format!("it has no {what}"));
    Ok(DeviceCode {
        secret: device_code.ok_or_else(|| missing("device code"))?,
        interval: Duration::from_secs(interval.clamp(*INTERVALS.start(), *INTERVALS.end())),
        expires_in,
        progress: SignInProgress::EnterCode {
            page: page_to_open.ok_or_else(|| missing("safe address"))?,
            code: code.ok_or_else(|| missing("code for the person"))?.to_owned(),
            page_with_code: page("verification_uri_complete"),
            expires_in,
        },
    })
}
