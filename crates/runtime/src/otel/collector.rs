//! The HTTP client of an exporter: the same client that connects to servers.
//!
//! Proxies, certificates and user information in URLs work as they do for servers, and no second
//! HTTP library is needed. No error contains a header or the query of a URL.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use tokio::runtime::{Builder, Handle, Runtime};
use wharf_config::Env;
use wharf_protocol::transport::{self, HttpTarget};

use crate::http::http_options;

/// How much of a collector's response is read; usually it is empty.
const MAX_ANSWER: usize = 64 * 1024;

/// An HTTP client for an exporter that runs on a separate thread, as the batch processor of
/// `opentelemetry_sdk` does.
///
/// It blocks that thread, so sending fails inside a Tokio runtime.
pub struct CollectorClient {
    client: transport::HttpClient,
    /// Runs the requests; `None` only while it is dropped.
    waiter: Option<Runtime>,
    limit: Duration,
}

impl CollectorClient {
    /// Creates a client with this limit for each response. Nothing is contacted yet.
    pub fn new(env: &Env, limit: Duration) -> io::Result<Self> {
        let waiter = Builder::new_current_thread().enable_all().build()?;
        let client = transport::HttpClient::new(&http_options(env));
        Ok(Self { client, waiter: Some(waiter), limit })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let target: HttpTarget = head.uri.to_string().parse()?;
        let waiter = self.waiter.as_ref().filter(|_| Handle::try_current().is_err());
        let waiter = waiter
            .ok_or("a request to a collector would block the Tokio runtime that it is sent from")?;
        let answer = self.client.post(&target, head.headers, body, MAX_ANSWER);
        let answer = async { tokio::time::timeout(self.limit, answer).await };
        Ok(waiter.block_on(answer)??)
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'client, 'answer>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'answer>>
    where
        'client: 'answer,
        Self: 'answer,
    {
        Box::pin(async move { self.send(request) })
    }
}

impl Drop for CollectorClient {
    fn drop(&mut self) {
        // It may be dropped in async code, which must not block.
        if let Some(waiter) = self.waiter.take() {
            waiter.shutdown_background();
        }
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Collector").field("limit", &self.limit).finish_non_exhaustive()
    }
}
