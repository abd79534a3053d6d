//! Reads the URL of a URL elicitation and splits it, so that the person sees which host it leads
//! to.

use serde::Serialize;
use url::{Position, Url};
use wharf_config::ServerUrl;

/// The maximum length of a URL, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// A URL that a server asks the person to visit. It must not be opened or fetched without consent.
///
/// ```
/// use wharf::elicitation::UrlElicitation;
///
/// let page = UrlElicitation::read("https://harbour.example/sign-in?berth=1")?;
/// assert_eq!(page.parts(), ("https://", "harbour.example", "/sign-in?berth=1"));
/// # Ok::<(), wharf::elicitation::UrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlElicitation(Url);

/// Why a URL is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum UrlError {
    /// It is not a valid URL.
    #[error("its URL is invalid")]
    Invalid,
    /// It is too long.
    #[error("its URL is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// Its scheme is neither `http` nor `https`.
    #[error("its URL must begin with http:// or https://")]
    NotHttp,
    /// It contains a user name or a password, which can be mistaken for the host.
    #[error("its URL contains a user name, which can hide the real host")]
    HasUserName,
}

impl UrlElicitation {
    /// Parses a URL the way a browser does.
    pub fn read(address: &str) -> Result<Self, UrlError> {
        if address.len() > MAX_BYTES {
            return Err(UrlError::TooLong);
        }
        let url = Url::parse(address).map_err(|_| UrlError::Invalid)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::NotHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::HasUserName);
        }
        Ok(Self(url))
    }

    /// Returns the normalized URL, with the host in ASCII (punycode).
    pub fn url(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the part before the host, the host, and the part after it.
    pub fn parts(&self) -> (&str, &str, &str) {
        let url = &self.0;
        (
            &url[..Position::BeforeHost],
            &url[Position::BeforeHost..Position::AfterHost],
            &url[Position::AfterHost..],
        )
    }

    /// Tells whether the host contains non-ASCII letters, which may look like other letters.
    pub fn has_punycode_host(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        host.split('.').any(|label| label.starts_with("xn--"))
    }

    /// Tells whether the connection would be unencrypted and leave this machine.
    pub fn is_unencrypted(&self) -> bool {
        let url = self.url().parse::<ServerUrl>();
        url.ok().is_none_or(|url| url.is_unencrypted_remote())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, expected: &str) {
        let rendered = match UrlElicitation::read(address) {
            Ok(page) => {
                let (before, host, after) = page.parts();
                let misleads = if page.has_punycode_host() { " misleads" } else { "" };
                let open = if page.is_unencrypted() { " open" } else { "" };
                format!("{before}[{host}]{after}{misleads}{open}")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(rendered, expected, "{address}");
    }

    #[test]
    fn the_parts_of_a_url_show_its_real_host() {
        check("https://a.example", "https://[a.example]/");
        check("https://A.example:8443/x?y#z", "https://[a.example]:8443/x?y#z");
        check("https://аpple.example/", "https://[xn--pple-43d.example]/ misleads");
        check("https://a.example\\@b.example/", "https://[a.example]/@b.example/");
        check("https://a.example/\u{202e}\u{1b}[2J", "https://[a.example]/%E2%80%AE%1B[2J");
        check("http://a.example/", "http://[a.example]/ open");
        check("http://127.0.0.1:99/", "http://[127.0.0.1]:99/");
        check("http://localhost/", "http://[localhost]/");
        check("http://app.localhost./", "http://[app.localhost.]/");
        check("http://[::ffff:127.0.0.1]/", "http://[[::ffff:7f00:1]]/");
        check("http://[::ffff:10.0.0.2]/", "http://[[::ffff:a00:2]]/ open");
    }

    #[test]
    fn invalid_and_misleading_urls_are_rejected() {
        check("https://good.example@bad.example/", &UrlError::HasUserName.to_string());
        check("https://:secret@bad.example/", &UrlError::HasUserName.to_string());
        check("javascript:alert(1)", &UrlError::NotHttp.to_string());
        check("file:///etc/passwd", &UrlError::NotHttp.to_string());
        check("not an address", &UrlError::Invalid.to_string());
        check("https://", &UrlError::Invalid.to_string());
        check(&format!("https://a.example/{}", "x".repeat(9000)), &UrlError::TooLong.to_string());
    }
}
