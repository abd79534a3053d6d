//! Private keys, and JSON Web Signatures with them (RFC 7515, compact form).
//!
//! The signatures are made by `ring`; this file only encodes. Nothing here verifies: assertions
//! and proofs are for servers to check.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use wharf_config::Secret;

/// A private key of a client: P-256, P-384 or Ed25519 in PKCS#8, or RSA.
#[derive(Clone)]
pub struct SigningKey(Arc<KeyMaterial>);

enum KeyMaterial {
    Es256(EcdsaKeyPair),
    Es384(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

/// A key that cannot be used. The message has no part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a private key in PEM: P-256, P-384 or Ed25519 in PKCS#8, or RSA")]
pub struct InvalidKey;

/// The system has no random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random numbers")]
pub(super) struct NoRandomness;

impl SigningKey {
    /// Reads a key in PEM.
    pub fn from_pem(pem: &Secret) -> Result<Self, InvalidKey> {
        let der = PrivateKeyDer::from_pem_slice(pem.expose().as_bytes()).map_err(|_| InvalidKey)?;
        let material = match &der {
            PrivateKeyDer::Pkcs1(der) => {
                let pair = RsaKeyPair::from_der(der.secret_pkcs1_der());
                KeyMaterial::Rsa(pair.map_err(|_| InvalidKey)?)
            }
            PrivateKeyDer::Pkcs8(der) => from_pkcs8(der.secret_pkcs8_der()).ok_or(InvalidKey)?,
            _ => return Err(InvalidKey),
        };
        Ok(Self(Arc::new(material)))
    }

    /// Returns the algorithm to sign with, of those that the server accepts; an empty list says
    /// nothing.
    pub(super) fn algorithm(&self, accepted: &[String]) -> Option<&'static str> {
        let own: &[&str] = match &*self.0 {
            KeyMaterial::Es256(_) => &["ES256"],
            KeyMaterial::Es384(_) => &["ES384"],
            KeyMaterial::EdDsa(_) => &["EdDSA"],
            KeyMaterial::Rsa(_) => &["RS256", "PS256"],
        };
        let is_accepted =
            |own: &&&str| accepted.is_empty() || accepted.iter().any(|it| it == **own);
        own.iter().find(is_accepted).copied()
    }

    /// Signs claims. The header gets the algorithm.
    pub(super) fn sign(
        &self,
        algorithm: &'static str,
        mut header: Value,
        claims: &Value,
    ) -> Result<Secret, NoRandomness> {
        header["alg"] = Value::from(algorithm);
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.signature(algorithm, signed.as_bytes())?;
        Ok(Secret::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }

    fn signature(&self, algorithm: &str, message: &[u8]) -> Result<Vec<u8>, NoRandomness> {
        let random = SystemRandom::new();
        match &*self.0 {
            KeyMaterial::Es256(pair) | KeyMaterial::Es384(pair) => {
                let signature = pair.sign(&random, message).map_err(|_| NoRandomness)?;
                Ok(signature.as_ref().to_vec())
            }
            KeyMaterial::EdDsa(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            KeyMaterial::Rsa(pair) => {
                let encoding: &dyn ring::signature::RsaEncoding =
                    if algorithm == "PS256" { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &random, message, &mut signature).map_err(|_| NoRandomness)?;
                Ok(signature)
            }
        }
    }

    /// Returns the public key as a JSON Web Key.
    pub(super) fn public_jwk(&self) -> Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let ec = |curve: &str, pair: &EcdsaKeyPair| {
            // An uncompressed point: the byte 4, x and y.
            let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
            let (x, y) = point.split_at(point.len() / 2);
            json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) })
        };
        match &*self.0 {
            KeyMaterial::Es256(pair) => ec("P-256", pair),
            KeyMaterial::Es384(pair) => ec("P-384", pair),
            KeyMaterial::EdDsa(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key().as_ref()) })
            }
            KeyMaterial::Rsa(pair) => {
                let public: PublicKeyComponents<Vec<u8>> = pair.public().into();
                json!({ "kty": "RSA", "n": encode(&public.n), "e": encode(&public.e) })
            }
        }
    }
}

/// Clones of one key are equal.
impl PartialEq for SigningKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

/// Makes a new P-256 key: the key, and its text for the store.
pub(super) fn generate() -> Result<(SigningKey, Secret), NoRandomness> {
    let document =
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let document = document.map_err(|_| NoRandomness)?;
    let stored = Secret::new(STANDARD.encode(document.as_ref()));
    let key = from_stored(&stored).map_err(|_| NoRandomness)?;
    Ok((key, stored))
}

/// Reads the text of a generated key.
pub(super) fn from_stored(stored: &Secret) -> Result<SigningKey, InvalidKey> {
    let der = STANDARD.decode(stored.expose()).map_err(|_| InvalidKey)?;
    Ok(SigningKey(Arc::new(from_pkcs8(&der).ok_or(InvalidKey)?)))
}

fn from_pkcs8(der: &[u8]) -> Option<KeyMaterial> {
    let random = SystemRandom::new();
    let ec = |algorithm| EcdsaKeyPair::from_pkcs8(algorithm, der, &random);
    ec(&ECDSA_P256_SHA256_FIXED_SIGNING)
        .map(KeyMaterial::Es256)
        .or_else(|_| ec(&ECDSA_P384_SHA384_FIXED_SIGNING).map(KeyMaterial::Es384))
        .or_else(|_| Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(KeyMaterial::EdDsa))
        .or_else(|_| RsaKeyPair::from_pkcs8(der).map(KeyMaterial::Rsa))
        .ok()
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    #[test]
    fn a_signature_verifies_with_the_public_key_of_the_header() {
        let (key, stored) = generate().unwrap();
        let key = if stored.expose().is_empty() { key } else { from_stored(&stored).unwrap() };
        let signed = key.sign("ES256", json!({ "typ": "t" }), &json!({ "a": 1 })).unwrap();
        let parts: Vec<&str> = signed.expose().split('.').collect();
        let [header, claims, signature] = parts[..] else { panic!("three parts") };
        let header: Value = serde_json::from_slice(&bytes(header)).unwrap();
        assert_eq!(header, json!({ "typ": "t", "alg": "ES256" }));
        let jwk = key.public_jwk();
        let part = |name: &str| bytes(jwk[name].as_str().unwrap());
        let point = [vec![4], part("x"), part("y")].concat();
        let message = format!("{}.{claims}", parts[0]);
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
            .verify(message.as_bytes(), &bytes(signature))
            .unwrap();
    }

    #[test]
    fn a_key_that_cannot_be_used_is_an_error_without_its_text() {
        for text in
            ["", "hunter2", "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----"]
        {
            let error = SigningKey::from_pem(&Secret::new(text)).unwrap_err();
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn the_algorithm_is_one_that_the_server_accepts() {
        let (key, _) = generate().unwrap();
        let accepted = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(key.algorithm(&[]), Some("ES256"));
        assert_eq!(key.algorithm(&accepted(&["RS256", "ES256"])), Some("ES256"));
        assert_eq!(key.algorithm(&accepted(&["RS256"])), None);
    }
}
