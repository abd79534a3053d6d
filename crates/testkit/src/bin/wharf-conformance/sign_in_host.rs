//! Plays the person who signs in: requests the page and pastes the address that it redirects to.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, Method};
use wharf::BoxFuture;
use wharf::auth::{SignInHost, SignInProgress, SignInPrompt};
use wharf_protocol::transport::{AddressPolicy, HttpClient, WebRequest};

use crate::AnyError;

/// How many bytes a page may have.
const LIMIT: usize = 64 << 10;

/// The person.
struct PastingPerson {
    client: HttpClient,
    page: Mutex<Option<String>>,
}

/// Returns the host of a sign-in.
pub(crate) fn host(client: HttpClient) -> SignInHost {
    SignInHost::new(PastingPerson { client, page: Mutex::default() })
}

impl PastingPerson {
    async fn redirect_of(&self, page: &str) -> Result<String, AnyError> {
        let request = WebRequest {
            method: Method::GET,
            target: page.parse()?,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            // The redirect is the answer.
            is_secret: true,
            policy: AddressPolicy::Any,
            limit: LIMIT,
        };
        let response = self.client.fetch(request).await?;
        let location = response.headers().get(LOCATION).ok_or("the page does not redirect")?;
        Ok(location.to_str()?.to_owned())
    }
}

impl SignInPrompt for PastingPerson {
    fn show(&self, progress: &SignInProgress) {
        eprintln!("sign-in: {progress:?}");
        if let SignInProgress::OpenPage { page, .. } = progress {
            let mut shown = self.page.lock().unwrap_or_else(PoisonError::into_inner);
            *shown = Some(page.as_str().to_owned());
        }
    }

    fn pasted(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async {
            let page = self.page.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            match self.redirect_of(&page).await {
                Ok(address) => Some(address),
                Err(error) => {
                    eprintln!("the page failed: {error}");
                    None
                }
            }
        })
    }
}
