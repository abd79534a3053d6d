//! The metadata documents: of the protected resource (RFC 9728), and of the authorization server
//! (RFC 8414, and the discovery of `OpenID` Connect).
//!
//! A list with a wrong type counts as missing. An address that is not safe is an error.

use serde_json::{Map, Value};
use url::Url;

use super::error::MetadataFlaw;
use super::options::valid_scopes;
use super::requests::safe_url;

/// How many entries of a list are kept, and how many characters of each.
const MAX_ENTRIES: usize = 200;
const MAX_TEXT: usize = 2048;

/// What a server says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResourceMetadata {
    pub(super) resource: Option<String>,
    pub(super) issuers: Vec<String>,
    pub(super) scopes: Vec<String>,
    /// Whether it wants proofs of possession.
    pub(super) wants_dpop: bool,
}

/// What an issuer says about itself.
#[derive(Debug, Clone)]
pub(super) struct IssuerMetadata {
    /// Who this is; everything that is bound to an issuer is bound to this name.
    pub(super) issuer: String,
    /// The name in the answers of its page, if it is another one.
    pub(super) answers_as: Option<String>,
    pub(super) authorization_endpoint: Option<Url>,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) device_endpoint: Option<Url>,
    pub(super) scopes: Vec<String>,
    pub(super) auth_methods: Vec<String>,
    pub(super) signing_algorithms: Vec<String>,
    pub(super) dpop_algorithms: Vec<String>,
    /// `None` if the document does not say which PKCE methods it offers.
    pub(super) pkce_methods: Option<Vec<String>>,
    /// Whether answers of its page name it (RFC 9207).
    pub(super) names_itself: bool,
    pub(super) takes_metadata_urls: bool,
}

impl ResourceMetadata {
    pub(super) fn read(document: &Map<String, Value>) -> Self {
        let requires = document.get("dpop_bound_access_tokens_required");
        Self {
            resource: text(document, "resource"),
            issuers: list(document, "authorization_servers").unwrap_or_default(),
            scopes: scopes(document),
            wants_dpop: requires == Some(&Value::Bool(true))
                || list(document, "dpop_signing_alg_values_supported")
                    .is_some_and(|algorithms| !algorithms.is_empty()),
        }
    }
}

impl IssuerMetadata {
    /// Reads a document. The caller compares the issuer.
    pub(super) fn read(document: &Map<String, Value>) -> Result<Self, MetadataFlaw> {
        let required = |field| text(document, field).ok_or(MetadataFlaw::Missing { field });
        let address = |field| match document.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => {
                let url = text(document, field).and_then(|text| safe_url(&text));
                url.map(Some).ok_or(MetadataFlaw::Address { field })
            }
        };
        let list = |field| list(document, field).unwrap_or_default();
        let is_true = |field| document.get(field) == Some(&Value::Bool(true));
        let token = address("token_endpoint")?;
        Ok(Self {
            issuer: required("issuer")?,
            answers_as: None,
            authorization_endpoint: address("authorization_endpoint")?,
            token_endpoint: token.ok_or(MetadataFlaw::Missing { field: "token_endpoint" })?,
            registration_endpoint: address("registration_endpoint")?,
            revocation_endpoint: address("revocation_endpoint")?,
            device_endpoint: address("device_authorization_endpoint")?,
            scopes: scopes(document),
            auth_methods: list("token_endpoint_auth_methods_supported"),
            signing_algorithms: list("token_endpoint_auth_signing_alg_values_supported"),
            dpop_algorithms: list("dpop_signing_alg_values_supported"),
            pkce_methods: self::list(document, "code_challenge_methods_supported"),
            names_itself: is_true("authorization_response_iss_parameter_supported"),
            takes_metadata_urls: is_true("client_id_metadata_document_supported"),
        })
    }

    /// Makes the metadata of a server that publishes none: the addresses that revision 2025-03-26
    /// of the protocol prescribes.
    pub(super) fn of_defaults(origin: &Url) -> Option<Self> {
        let at = |path: &str| origin.join(path).ok();
        Some(Self {
            issuer: origin.origin().ascii_serialization(),
            answers_as: None,
            authorization_endpoint: at("/authorize"),
            token_endpoint: at("/token")?,
            registration_endpoint: at("/register"),
            revocation_endpoint: None,
            device_endpoint: None,
            scopes: Vec::new(),
            auth_methods: Vec::new(),
            signing_algorithms: Vec::new(),
            dpop_algorithms: Vec::new(),
            pkce_methods: Some(vec!["S256".to_owned()]),
            names_itself: false,
            takes_metadata_urls: false,
        })
    }

    /// Checks that a stolen code cannot be used.
    pub(super) fn check_pkce(&self) -> Result<(), MetadataFlaw> {
        let methods = self.pkce_methods.as_deref().unwrap_or_default();
        if methods.iter().any(|method| method == "S256") {
            Ok(())
        } else {
            Err(MetadataFlaw::NoPkce)
        }
    }

    /// Tells whether the page and the token endpoint belong together by their hosts. If not, the
    /// document may name the page of another party, whose code would go to this one.
    pub(super) fn is_one_party(&self) -> bool {
        let Some(page) = &self.authorization_endpoint else { return true };
        let host = |url: &Url| {
            let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
            host.strip_prefix("www.").map(str::to_owned).unwrap_or(host)
        };
        let (page, token) = (host(page), host(&self.token_endpoint));
        let is_part = |part: &str, whole: &str| {
            part.strip_suffix(whole).is_some_and(|rest| rest.ends_with('.'))
        };
        page == token || is_part(&page, &token) || is_part(&token, &page)
    }

    /// Returns all addresses.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = &Url> {
        let optional = [
            &self.authorization_endpoint,
            &self.registration_endpoint,
            &self.revocation_endpoint,
            &self.device_endpoint,
        ];
        optional.into_iter().flatten().chain([&self.token_endpoint])
    }
}

fn text(document: &Map<String, Value>, field: &str) -> Option<String> {
    let text = document.get(field)?.as_str()?;
    let is_usable = !text.is_empty() && text.len() <= MAX_TEXT && !text.contains(char::is_control);
    is_usable.then(|| text.to_owned())
}

fn scopes(document: &Map<String, Value>) -> Vec<String> {
    let named = list(document, "scopes_supported").unwrap_or_default();
    valid_scopes(named.iter().map(String::as_str))
}

/// Reads a list of texts; other entries are skipped.
fn list(document: &Map<String, Value>, field: &str) -> Option<Vec<String>> {
    let list = document.get(field)?.as_array()?;
    let texts = list.iter().filter_map(Value::as_str);
    let texts = texts.filter(|text| text.len() <= MAX_TEXT && !text.contains(char::is_control));
    Some(texts.take(MAX_ENTRIES).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(document: Value) -> Result<IssuerMetadata, MetadataFlaw> {
        let Value::Object(document) = document else { panic!("not an object") };
        IssuerMetadata::read(&document)
    }

    #[test]
    fn a_document_with_an_unsafe_address_is_an_error() {
        let with = |field: &str, value: Value| {
            let mut document = json!({
                "issuer": "https://as.example", "token_endpoint": "https://as.example/t",
            });
            document[field] = value;
            read(document).err()
        };
        assert_eq!(with("scopes_supported", json!("a")), None);
        let field = "authorization_endpoint";
        for bad in [
            json!("javascript:alert(1)"),
            json!("http://as.example/a"),
            json!("file:///etc/passwd"),
            json!(["https://as.example/a"]),
        ] {
            assert_eq!(with(field, bad), Some(MetadataFlaw::Address { field }));
        }
        let field = "token_endpoint";
        assert_eq!(with(field, Value::Null), Some(MetadataFlaw::Missing { field }));
    }

    #[test]
    fn a_page_and_a_token_endpoint_on_unrelated_hosts_are_not_one_party() {
        let check = |page: &str, token: &str, expected: bool| {
            let document = json!({
                "issuer": "https://as.example", "authorization_endpoint": page,
                "token_endpoint": token,
            });
            assert_eq!(read(document).unwrap().is_one_party(), expected, "{page} {token}");
        };
        check("https://as.example/a", "https://as.example/t", true);
        check("https://as.example/a", "https://token.as.example/t", true);
        check("https://login.as.example/a", "https://as.example:8443/t", true);
        check("https://www.as.example/a", "https://api.as.example/t", true);
        check("https://as.example/a", "https://evil.example/t", false);
        check("https://as.example/a", "https://evilas.example/t", false);
        check("http://127.0.0.1:1/a", "http://localhost:1/t", false);
    }

    #[test]
    fn scopes_are_checked_and_bounded() {
        let mut document =
            json!({ "issuer": "https://as.example", "token_endpoint": "https://as.example/t" });
        let long = "s".repeat(2000);
        document["scopes_supported"] = json!(["a:read", "b\"", "é", "c d", long, long, long]);
        let found = read(document).unwrap().scopes;
        assert_eq!(found, ["a:read".to_owned(), long.clone(), long]);
    }

    #[test]
    fn pkce_must_be_offered() {
        let with = |methods: Value| {
            let document = json!({
                "issuer": "https://as.example", "token_endpoint": "https://as.example/t",
                "code_challenge_methods_supported": methods,
            });
            read(document).unwrap().check_pkce().is_ok()
        };
        assert!(with(json!(["plain", "S256"])));
        assert!(!with(json!(["plain"])) && !with(json!([])) && !with(Value::Null));
    }
}
