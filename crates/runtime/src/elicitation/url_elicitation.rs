//! The address of a page that a server wants to have visited, taken apart so that it is seen where
//! it leads.

use url::{Host, Position, Url};

/// How many bytes the address of a page may have.
const MAX_BYTES: usize = 8 * 1024;

/// A page that a server wants to have visited. Never opened or fetched without a yes.
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

/// Why nobody should visit a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is no address.
    #[error("its address is not a valid one")]
    Invalid,
    /// It is longer than any address.
    #[error("its address is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// It is not one of the web.
    #[error("its address is not one of the web (http or https)")]
    NotHttp,
    /// It begins with a name that is not where it leads.
    #[error("its address has a user name in it, which hides where it leads")]
    HasUserName,
}

impl UrlElicitation {
    /// Reads an address the way a browser does.
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

    /// Returns the address, in the letters that are really used.
    pub fn url(&self) -> &str {
        self.0.as_str()
    }

    /// Returns what stands before the host, the host, and what stands after it.
    pub fn parts(&self) -> (&str, &str, &str) {
        let url = &self.0;
        (
            &url[..Position::BeforeHost],
            &url[Position::BeforeHost..Position::AfterHost],
            &url[Position::AfterHost..],
        )
    }

    /// Tells whether the host is written in letters that may look like others.
    pub fn has_punycode_host(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        host.split('.').any(|label| label.starts_with("xn--"))
    }

    /// Tells whether others can read along on the way there.
    pub fn is_unencrypted(&self) -> bool {
        let is_here = match self.0.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        self.0.scheme() == "http" && !is_here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, expected: &str) {
        let shown = match UrlElicitation::read(address) {
            Ok(page) => {
                let (before, host, after) = page.parts();
                let misleads = if page.has_punycode_host() { " misleads" } else { "" };
                let open = if page.is_unencrypted() { " open" } else { "" };
                format!("{before}[{host}]{after}{misleads}{open}")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{address}");
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
