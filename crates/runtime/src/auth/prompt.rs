//! What a host provides for a sign-in: a browser, and a place where progress is shown and the
//! person can paste.
//!
//! The engine decides what happens; the host only shows it. All texts of the host are its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use url::{Host, Url};
use wharf_config::Problem;
use wharf_protocol::transport::BoxFuture;

use super::error::SignInError;

/// Opens pages for the person.
pub trait Browser: Send + Sync + 'static {
    /// Opens a page and returns as soon as the browser was asked to. The address must not pass
    /// through a shell.
    ///
    /// An error is reported by another [`SignInProgress::OpenPage`]; the sign-in goes on, because
    /// the person can open the address elsewhere. It also goes on while the future runs, and drops
    /// it at the end.
    fn open<'a>(&'a self, page: &'a PageAddress) -> BoxFuture<'a, Result<(), BrowserError>>;
}

/// Shows the progress of a sign-in, and receives what the person pastes.
pub trait SignInPrompt: Send + Sync + 'static {
    /// Shows a step. It must not block.
    fn show(&self, progress: &SignInProgress);

    /// Waits for a line that the person pastes: the address of the last page, or the code in it.
    /// `None` means that nobody can paste. Dropped when the sign-in goes on without it.
    fn pasted(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

/// The host of a sign-in.
#[derive(Clone)]
pub struct SignInHost {
    pub(super) prompt: Arc<dyn SignInPrompt>,
    pub(super) browser: Option<Arc<dyn Browser>>,
}

impl SignInHost {
    /// Makes a host without a browser: the person opens the address.
    pub fn new(prompt: impl SignInPrompt) -> Self {
        Self { prompt: Arc::new(prompt), browser: None }
    }

    /// Opens pages with this browser.
    #[must_use]
    pub fn with_browser(self, browser: impl Browser) -> Self {
        Self { browser: Some(Arc::new(browser)), ..self }
    }

    pub(super) fn show(&self, progress: &SignInProgress) {
        self.prompt.show(progress);
    }
}

impl fmt::Debug for SignInHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignInHost")
            .field("browser", &self.browser.is_some())
            .finish_non_exhaustive()
    }
}

/// A step of a sign-in.
///
/// Texts that come from a server are untrusted; they have no control characters.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SignInProgress {
    /// The server is asked who signs people in.
    Discovering,
    /// This program registers at the issuer.
    Registering {
        /// The issuer.
        issuer: String,
    },
    /// The person signs in on a page. The address is always shown, because the browser may be on
    /// another machine.
    OpenPage {
        /// The page.
        page: PageAddress,
        /// What became of the browser.
        browser: BrowserState,
        /// Whether the page brings the person back to this program on its own. The person can paste
        /// the address of the last page in any case.
        returns: bool,
    },
    /// The person enters a code on a page, on any device.
    EnterCode {
        /// The page.
        page: PageAddress,
        /// The code.
        code: String,
        /// A page with the code in its address.
        page_with_code: Option<PageAddress>,
        /// How long the code is valid.
        expires_in: Duration,
    },
    /// What the person pasted cannot be used; they can paste again.
    PasteRejected {
        /// Why.
        reason: String,
    },
    /// A request to the callback address was not the answer of this sign-in, and was ignored.
    CallbackIgnored {
        /// Why.
        reason: String,
    },
    /// The page answered; the token is requested.
    RequestingToken,
    /// The sign-in failed; only where no caller gets the error
    /// ([`OAuthAuthorizer::with_host`](super::OAuthAuthorizer::with_host)).
    Failed(Arc<SignInError>),
    /// A server breaks a rule of the specification in a way that does no harm.
    Warning(Problem),
}

/// What became of the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BrowserState {
    /// It is asked to open the page. If that fails, the step is shown again.
    Opened,
    /// There is none, or it was not wanted.
    NotUsed,
    /// It could not be started.
    Failed(BrowserError),
}

/// Why a page could not be opened. The message is shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BrowserError {
    message: String,
}

impl BrowserError {
    /// Makes an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// The address of a page to open: `https`, or `http` on this machine.
///
/// `Debug` omits the query: it has the state of the sign-in.
#[derive(Clone, PartialEq, Eq)]
pub struct PageAddress(Url);

impl PageAddress {
    /// Checks an address from a server; `None` if it must not be opened.
    pub(super) fn new(url: Url) -> Option<Self> {
        let has_user = !url.username().is_empty() || url.password().is_some();
        let is_safe = match url.scheme() {
            "https" => true,
            "http" => is_loopback(&url),
            _ => false,
        };
        (is_safe && !has_user && url.host().is_some()).then_some(Self(url))
    }

    /// Returns the address: printable ASCII without spaces.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the host, to show it prominently. International names are in their ASCII form
    /// (`xn--…`).
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

impl fmt::Debug for PageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageAddress({}{})", self.0.origin().ascii_serialization(), self.0.path())
    }
}

/// Tells whether an address is on this machine, by its name.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_are_safe_to_open_are_accepted() {
        let check = |text: &str, expected: bool| {
            let page = PageAddress::new(Url::parse(text).unwrap());
            assert_eq!(page.is_some(), expected, "{text}");
        };
        check("https://as.example/authorize?a=b", true);
        check("http://localhost:3000/authorize", true);
        check("http://127.0.0.1/authorize", true);
        check("http://[::1]/authorize", true);
        check("http://as.example/authorize", false);
        check("javascript:alert(1)", false);
        check("file:///etc/passwd", false);
        check("data:text/html,x", false);
        check("https://user:pass@as.example/", false);
    }

    #[test]
    fn the_debug_output_of_a_page_has_no_query() {
        let page = PageAddress::new(Url::parse("https://as.example/a?state=hunter2").unwrap());
        assert_eq!(format!("{page:?}"), "Some(PageAddress(https://as.example/a))");
    }
}
