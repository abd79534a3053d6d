//! Proofs of possession (RFC 9449): each request proves that the client has the key of its token.
//!
//! A proof is for one request and one nonce. Nonces are kept per origin, because the issuer and the
//! server each give their own.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use sha2::{Digest, Sha256};
use url::Url;
use wharf_config::Secret;
use wharf_config::store::private_file::random_id;

use super::clock::now;
use super::keys::{self, InvalidKey, NoRandomness, SigningKey};

/// The header of a proof.
pub(crate) const PROOF: HeaderName = HeaderName::from_static("dpop");

/// The header of a nonce.
pub(super) const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The algorithm of the proofs.
pub(super) const ALGORITHM: &str = "ES256";

/// How many bytes a nonce may have.
const MAX_NONCE: usize = 1024;

/// How many origins may have a nonce.
const MAX_ORIGINS: usize = 8;

/// The key of a token, and the nonces that servers gave.
pub(super) struct DpopKey {
    key: SigningKey,
    stored: Secret,
    nonces: Mutex<HashMap<String, String>>,
}

impl DpopKey {
    /// Makes a new key.
    pub(super) fn generate() -> Result<Self, NoRandomness> {
        let (key, stored) = keys::generate()?;
        Ok(Self { key, stored, nonces: Mutex::default() })
    }

    /// Reads a stored key.
    pub(super) fn from_stored(stored: &Secret) -> Result<Self, InvalidKey> {
        let key = keys::from_stored(stored)?;
        Ok(Self { key, stored: stored.clone(), nonces: Mutex::default() })
    }

    /// Returns the text for the store.
    pub(super) fn stored(&self) -> &Secret {
        &self.stored
    }

    /// Makes the proof for one request.
    pub(super) fn proof(
        &self,
        method: &str,
        url: &Url,
        token: Option<&Secret>,
    ) -> Result<HeaderValue, NoRandomness> {
        let mut target = url.clone();
        target.set_query(None);
        target.set_fragment(None);
        let mut claims = json!({
            "jti": random_id().map_err(|_| NoRandomness)?,
            "htm": method,
            "htu": target.as_str(),
            "iat": now(),
        });
        if let Some(token) = token {
            let hash = Sha256::digest(token.expose().as_bytes());
            claims["ath"] = URL_SAFE_NO_PAD.encode(hash).into();
        }
        let nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nonce) = nonces.get(&url.origin().ascii_serialization()) {
            claims["nonce"] = nonce.as_str().into();
        }
        drop(nonces);
        let header = json!({ "typ": "dpop+jwt", "jwk": self.key.public_jwk() });
        let proof = self.key.sign(ALGORITHM, header, &claims)?;
        let mut value = HeaderValue::from_str(proof.expose()).map_err(|_| NoRandomness)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Keeps the nonce of a response; tells whether it is a new one.
    pub(super) fn keep_nonce(&self, url: &Url, headers: &HeaderMap) -> bool {
        let nonce = headers.get(NONCE).and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|it| !it.is_empty() && it.len() <= MAX_NONCE) else {
            return false;
        };
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = url.origin().ascii_serialization();
        if nonces.len() >= MAX_ORIGINS && !nonces.contains_key(&origin) {
            return false;
        }
        nonces.insert(origin, nonce.to_owned()).as_deref() != Some(nonce)
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DpopKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn claims(proof: &HeaderValue) -> Value {
        let text = proof.to_str().unwrap().split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
    }

    #[test]
    fn a_proof_names_the_request_the_token_and_the_nonce_of_its_origin() {
        let key = DpopKey::generate().unwrap();
        let url = Url::parse("https://a.example/mcp?key=1#x").unwrap();
        let token = Secret::new("t");
        let first = claims(&key.proof("POST", &url, Some(&token)).unwrap());
        assert_eq!(first["htm"], "POST");
        assert_eq!(first["htu"], "https://a.example/mcp");
        assert_eq!(first["ath"], URL_SAFE_NO_PAD.encode(Sha256::digest("t")));
        assert_eq!(first["nonce"], Value::Null);
        let headers = HeaderMap::from_iter([(NONCE, HeaderValue::from_static("n"))]);
        assert!(key.keep_nonce(&url, &headers) && !key.keep_nonce(&url, &headers));
        let second = claims(&key.proof("POST", &url, None).unwrap());
        assert_eq!((&second["nonce"], &second["ath"]), (&Value::from("n"), &Value::Null));
        assert_ne!(first["jti"], second["jti"]);
        let other = Url::parse("https://b.example/").unwrap();
        assert_eq!(claims(&key.proof("POST", &other, None).unwrap())["nonce"], Value::Null);
    }
}
