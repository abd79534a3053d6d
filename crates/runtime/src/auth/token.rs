//! Requests to the token endpoint: the client authenticates, and proves possession where that is
//! wanted.
//!
//! Responses are read leniently, but an `error` is an error whatever the status.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};
use wharf_config::store::private_file::random_id;
use wharf_config::{OAuthClient, Secret, TokenType};
use wharf_protocol::redact::Redactor;

use super::clock::now;
use super::dpop::{DpopKey, PROOF};
use super::error::{OAuthRefusal, SignInError};
use super::keys::{NoRandomness, SigningKey};
use super::options::valid_scopes;
use super::requests::{OAuthRequests, OAuthResponse, shown};

/// How long an assertion of the client is valid.
const ASSERTION_SECONDS: u64 = 60;

/// How many bytes a token may have: it must fit into a header.
const MAX_TOKEN: usize = 32 << 10;

/// A token that claims to live longer is renewed after this time.
const MAX_LIFETIME: u64 = 10 * 366 * 86_400;

/// The fields of a form that are secret.
const SECRET_FIELDS: [&str; 7] = [
    "code",
    "code_verifier",
    "refresh_token",
    "device_code",
    "assertion",
    "subject_token",
    "token",
];

/// How many characters of a description are kept.
const MAX_DESCRIPTION: usize = 500;

/// A client, as it authenticates at an issuer.
pub(super) struct ClientIdentity<'a> {
    pub(super) client: &'a OAuthClient,
    /// The secret in the configuration, which is not stored.
    pub(super) configured_secret: Option<&'a Secret>,
    pub(super) key: Option<&'a SigningKey>,
    pub(super) issuer: &'a str,
    /// The methods and algorithms that the issuer accepts; empty if it does not say.
    pub(super) methods: &'a [String],
    pub(super) algorithms: &'a [String],
}

/// The form of a request, with names and values.
pub(super) type Form = Vec<(&'static str, String)>;

/// A token that was issued.
pub(super) struct IssuedToken {
    pub(super) access_token: Secret,
    pub(super) token_type: TokenType,
    pub(super) expires_at: Option<u64>,
    pub(super) refresh_token: Option<Secret>,
    /// `None` if the issuer did not say; then they are those that were requested.
    pub(super) scopes: Option<Vec<String>>,
}

/// Requests a token.
pub(super) async fn request_token(
    requests: &OAuthRequests,
    endpoint: &Url,
    client: &ClientIdentity<'_>,
    form: &Form,
    dpop: Option<&DpopKey>,
) -> Result<IssuedToken, SignInError> {
    let response = post(requests, endpoint, client, form, dpop).await?;
    read_token(&fields(endpoint, response)?, endpoint, dpop.is_some())
}

/// Sends a form, and once more if the issuer asks for its nonce.
pub(super) async fn post(
    requests: &OAuthRequests,
    endpoint: &Url,
    client: &ClientIdentity<'_>,
    form: &Form,
    dpop: Option<&DpopKey>,
) -> Result<OAuthResponse, SignInError> {
    let mut may_repeat = true;
    loop {
        let (mut headers, body) = client.authenticate(form)?;
        if let Some(key) = dpop {
            headers.insert(PROOF, key.proof("POST", endpoint, None)?);
        }
        let mut response = requests.post_form(endpoint, headers, body).await?;
        if let Some(fields) = &mut response.json {
            redact_error(fields, form, client);
        }
        let is_new = dpop.is_some_and(|key| key.keep_nonce(endpoint, &response.headers));
        let code = response.json.as_ref().and_then(|fields| fields.get("error"));
        let wants_nonce = code.and_then(Value::as_str) == Some("use_dpop_nonce");
        if !(wants_nonce && is_new && may_repeat) {
            return Ok(response);
        }
        may_repeat = false;
    }
}

/// Replaces the secrets of a request in the error of its response, which is shown and logged.
fn redact_error(fields: &mut Map<String, Value>, form: &Form, client: &ClientIdentity<'_>) {
    let of_form = form.iter().filter(|(name, _)| SECRET_FIELDS.contains(name));
    let of_form = of_form.map(|(_, value)| value.as_str());
    let of_client = client.configured_secret.or(client.client.secret.as_ref()).map(Secret::expose);
    let redactor = Redactor::new(of_form.chain(of_client));
    for name in ["error", "error_description"] {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            *text = redactor.redact(text).into_owned();
        }
    }
}

/// Returns the fields of a response, or the error in it.
pub(super) fn fields(
    endpoint: &Url,
    response: OAuthResponse,
) -> Result<Map<String, Value>, SignInError> {
    let OAuthResponse { status, json, .. } = response;
    if let Some(refusal) = json.as_ref().and_then(refusal) {
        return Err(SignInError::Refused(refusal));
    }
    if !(200..300).contains(&status) {
        return Err(SignInError::Status { address: shown(endpoint), status });
    }
    json.ok_or_else(|| invalid(endpoint, "it is not a JSON object"))
}

/// Reads the error of a response.
pub(super) fn refusal(fields: &Map<String, Value>) -> Option<OAuthRefusal> {
    let code = fields.get("error")?.as_str()?;
    let description = fields.get("error_description").and_then(Value::as_str);
    Some(refused(code, description))
}

/// Makes a refusal from untrusted texts.
pub(super) fn refused(code: &str, description: Option<&str>) -> OAuthRefusal {
    let clean = |text: &str| {
        let text = text.chars().filter(|character| !character.is_control());
        text.take(MAX_DESCRIPTION).collect::<String>()
    };
    OAuthRefusal {
        code: clean(code),
        description: description.map(clean).filter(|text| !text.trim().is_empty()),
    }
}

pub(super) fn invalid(endpoint: &Url, reason: &str) -> SignInError {
    SignInError::InvalidResponse { address: shown(endpoint), reason: reason.to_owned() }
}

fn read_token(
    fields: &Map<String, Value>,
    endpoint: &Url,
    has_proof: bool,
) -> Result<IssuedToken, SignInError> {
    let invalid = |reason| invalid(endpoint, reason);
    let access_token = token(fields, "access_token").map_err(invalid)?;
    let kind = fields.get("token_type").and_then(Value::as_str).unwrap_or("Bearer");
    let token_type = match kind {
        kind if kind.eq_ignore_ascii_case("bearer") => TokenType::Bearer,
        kind if kind.eq_ignore_ascii_case("dpop") && has_proof => TokenType::Dpop,
        _ => return Err(invalid("it has a token of an unknown type")),
    };
    let seconds = fields.get("expires_in").and_then(|value| match value {
        Value::String(text) => text.trim().parse::<u64>().ok(),
        Value::Number(number) => number.as_u64(),
        _ => None,
    });
    // Zero and anything that is not a number say nothing: the server answers 401 in time.
    let seconds = seconds.filter(|seconds| *seconds > 0).map(|it| it.min(MAX_LIFETIME));
    let scopes = fields.get("scope").and_then(Value::as_str);
    let scopes = scopes.map(|text| valid_scopes(text.split_ascii_whitespace()));
    Ok(IssuedToken {
        access_token: access_token.ok_or_else(|| invalid("it has no token"))?,
        token_type,
        expires_at: seconds.map(|seconds| now() + seconds),
        refresh_token: token(fields, "refresh_token").map_err(invalid)?,
        scopes,
    })
}

/// Reads a token; one that cannot be sent is an error.
pub(super) fn token(
    fields: &Map<String, Value>,
    name: &str,
) -> Result<Option<Secret>, &'static str> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(token)) if token.is_empty() => Ok(None),
        Some(Value::String(token)) => {
            let can_be_sent =
                token.len() <= MAX_TOKEN && token.bytes().all(|it| it.is_ascii_graphic());
            if can_be_sent { Ok(Some(Secret::new(token))) } else { Err("it has a malformed token") }
        }
        Some(_) => Err("it has a malformed token"),
    }
}

impl ClientIdentity<'_> {
    /// Adds the authentication of the client to a form.
    fn authenticate(&self, form: &Form) -> Result<(HeaderMap, String), NoRandomness> {
        let mut headers = HeaderMap::new();
        let mut body = Serializer::new(String::new());
        body.extend_pairs(form);
        let secret = self.configured_secret.or(self.client.secret.as_ref());
        match (self.method(secret.is_some()), secret, self.key) {
            ("private_key_jwt", _, Some(key)) => {
                let assertion = self.assertion(key)?;
                body.append_pair("client_id", &self.client.id);
                body.append_pair(
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                );
                body.append_pair("client_assertion", assertion.expose());
            }
            ("client_secret_basic", Some(secret), _) => {
                let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(&self.client.id), encode(secret.expose()));
                let value = format!("Basic {}", STANDARD.encode(pair));
                let mut value = HeaderValue::try_from(value).map_err(|_| NoRandomness)?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            ("client_secret_post", Some(secret), _) => {
                body.append_pair("client_id", &self.client.id);
                body.append_pair("client_secret", secret.expose());
            }
            _ => drop(body.append_pair("client_id", &self.client.id)),
        }
        Ok((headers, body.finish()))
    }

    /// Returns the method of authentication, to use it again without the metadata of the issuer.
    pub(super) fn method_name(&self) -> String {
        let has_secret = self.configured_secret.or(self.client.secret.as_ref()).is_some();
        self.method(has_secret).to_owned()
    }

    /// Returns the method of authentication: the registered one, else the first that the issuer
    /// accepts.
    fn method(&self, has_secret: bool) -> &str {
        if self.key.is_some() {
            return "private_key_jwt";
        }
        if let Some(method) = &self.client.auth_method {
            return method;
        }
        let accepts = |method: &str| self.methods.iter().any(|own| own == method);
        if has_secret && (self.methods.is_empty() || accepts("client_secret_basic")) {
            "client_secret_basic"
        } else if has_secret && accepts("client_secret_post") {
            "client_secret_post"
        } else {
            "none"
        }
    }

    /// Signs an assertion about the client (RFC 7523).
    fn assertion(&self, key: &SigningKey) -> Result<Secret, NoRandomness> {
        let algorithm = key.algorithm(self.algorithms).or_else(|| key.algorithm(&[]));
        let claims = json!({
            "iss": self.client.id,
            "sub": self.client.id,
            "aud": self.issuer,
            "jti": random_id().map_err(|_| NoRandomness)?,
            "iat": now(),
            "exp": now() + ASSERTION_SECONDS,
        });
        key.sign(algorithm.ok_or(NoRandomness)?, json!({ "typ": "JWT" }), &claims)
    }
}

impl From<NoRandomness> for SignInError {
    fn from(_: NoRandomness) -> Self {
        Self::NoRandomness
    }
}

#[cfg(test)]
mod tests {
    use wharf_config::ClientOrigin;

    use super::*;

    fn read(fields: Value, has_proof: bool) -> Result<IssuedToken, SignInError> {
        let Value::Object(fields) = fields else { panic!("not an object") };
        read_token(&fields, &Url::parse("https://as.example/token").unwrap(), has_proof)
    }

    #[test]
    fn an_absurd_lifetime_is_ignored_or_bounded() {
        let lifetime = |value: Value| {
            let token = read(json!({ "access_token": "t", "expires_in": value }), false).unwrap();
            token.expires_at.map(|at| at.saturating_sub(now()).next_multiple_of(10))
        };
        assert_eq!(lifetime(json!(3600)), Some(3600));
        assert_eq!(lifetime(json!("3600")), Some(3600));
        for bad in [Value::Null, json!(0), json!(-5), json!(1.5), json!("soon"), json!([])] {
            assert_eq!(lifetime(bad.clone()), None, "{bad}");
        }
        assert_eq!(lifetime(json!(u64::MAX)), Some(MAX_LIFETIME));
    }

    #[test]
    fn a_token_that_cannot_be_used_is_an_error() {
        for bad in [
            json!({}),
            json!({ "access_token": "" }),
            json!({ "access_token": 1 }),
            json!({ "access_token": "a b" }),
            json!({ "access_token": "t\r\nX: y" }),
            json!({ "access_token": "t".repeat(MAX_TOKEN + 1) }),
            json!({ "access_token": "t", "token_type": "mac" }),
            json!({ "access_token": "t", "token_type": "DPoP" }),
            json!({ "access_token": "t", "refresh_token": "é" }),
        ] {
            assert!(read(bad.clone(), false).is_err(), "{bad}");
        }
        let token = read(json!({ "access_token": "t", "token_type": "dpop" }), true).unwrap();
        assert_eq!(token.token_type, TokenType::Dpop);
    }

    #[test]
    fn scopes_with_forbidden_characters_are_left_out() {
        let scopes = "a:read  ä b\"c d\\ e".split_ascii_whitespace();
        assert_eq!(valid_scopes(scopes), ["a:read", "e"]);
    }

    #[test]
    fn an_error_counts_whatever_the_status() {
        let endpoint = Url::parse("https://as.example/token").unwrap();
        let with = |status, json: Value| {
            let json = json.as_object().cloned();
            let response = OAuthResponse { status, headers: HeaderMap::new(), json };
            fields(&endpoint, response).map(drop)
        };
        let error = json!({ "error": "invalid_grant", "error_description": "old\u{7}" });
        for status in [200, 400] {
            let Err(SignInError::Refused(refusal)) = with(status, error.clone()) else { panic!() };
            assert_eq!(refusal.to_string(), "old (invalid_grant)");
        }
        assert!(matches!(with(502, json!({})), Err(SignInError::Status { status: 502, .. })));
        assert!(with(200, json!([])).is_err());
    }

    #[test]
    fn an_error_never_repeats_a_secret_of_its_request() {
        let mut client = OAuthClient::new("id-of-client", ClientOrigin::Registered);
        client.secret = Some(Secret::new("secret-of-client"));
        let identity = ClientIdentity {
            client: &client,
            configured_secret: None,
            key: None,
            issuer: "https://as.example",
            methods: &[],
            algorithms: &[],
        };
        let form = vec![("code", "code-of-page".to_owned()), ("scope", "read-only".to_owned())];
        let error = json!({
            "error": "x", "error_description": "read-only code-of-page secret-of-client id-of-client",
        });
        let Value::Object(mut fields) = error else { panic!("not an object") };
        redact_error(&mut fields, &form, &identity);
        let refusal = refusal(&fields).unwrap();
        assert_eq!(refusal.to_string(), "read-only ••• ••• id-of-client (x)");
    }

    #[test]
    fn a_client_authenticates_as_the_issuer_accepts_it() {
        let check = |secret: bool, methods: &[&str], registered: Option<&str>, expected: &str| {
            let mut client = OAuthClient::new("id:1", ClientOrigin::Configured);
            client.auth_method = registered.map(str::to_owned);
            let methods: Vec<String> = methods.iter().map(ToString::to_string).collect();
            let secret = secret.then(|| Secret::new("s/1"));
            let identity = ClientIdentity {
                client: &client,
                configured_secret: secret.as_ref(),
                key: None,
                issuer: "https://as.example",
                methods: &methods,
                algorithms: &[],
            };
            let (headers, body) = identity.authenticate(&vec![("a", "b".to_owned())]).unwrap();
            let header = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
            assert_eq!(format!("{} {body}", header.unwrap_or_default()), expected);
        };
        let basic = format!("Basic {} a=b", STANDARD.encode("id%3A1:s%2F1"));
        check(false, &[], None, " a=b&client_id=id%3A1");
        check(true, &[], None, &basic);
        check(true, &["client_secret_post", "client_secret_basic"], None, &basic);
        let post = " a=b&client_id=id%3A1&client_secret=s%2F1";
        check(true, &["client_secret_post"], None, post);
        check(true, &["client_secret_basic"], Some("client_secret_post"), post);
        check(true, &["none"], None, " a=b&client_id=id%3A1");
    }
}
