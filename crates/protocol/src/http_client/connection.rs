//! One HTTP/1 connection, driven by the future of the request that uses it.
//!
//! Usually a separate task drives a hyper connection. Here the future of the request polls it
//! instead: there is no switch between tasks, no task outlives the request, and dropping the future
//! closes the connection.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Connection, SendRequest};

use super::client::AddressPolicy;
use super::connector::ByteStream;

/// An HTTP/1 connection, for one request at a time.
pub(super) struct Http1Connection {
    sender: SendRequest<Full<Bytes>>,
    /// `None` once it is closed.
    connection: Option<Connection<ByteStream, Full<Bytes>>>,
    pub(super) form: RequestForm,
    /// The address policy that it was made with.
    pub(super) policy: AddressPolicy,
}

/// How requests are written on a connection.
pub(super) enum RequestForm {
    /// To the server, with only the path.
    Direct,
    /// To a proxy, with the whole URL.
    Forwarded { authorization: Option<HeaderValue> },
}

/// A request without a response.
pub(super) struct SendFailure {
    pub(super) error: hyper::Error,
    /// hyper returned the request: it had not started to write it.
    pub(super) never_sent: bool,
}

impl From<TrySendError<Request<Full<Bytes>>>> for SendFailure {
    fn from(mut error: TrySendError<Request<Full<Bytes>>>) -> Self {
        let never_sent = error.take_message().is_some();
        Self { error: error.into_error(), never_sent }
    }
}

impl Http1Connection {
    pub(super) fn new(
        sender: SendRequest<Full<Bytes>>,
        connection: Connection<ByteStream, Full<Bytes>>,
        form: RequestForm,
        policy: AddressPolicy,
    ) -> Self {
        Self { sender, connection: Some(connection), form, policy }
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, SendFailure> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let connection = &mut self.connection;
        let answer = poll_fn(|cx| {
            drive(connection, cx);
            answer.as_mut().poll(cx)
        });
        Ok(answer.await?)
    }

    /// Polls the connection.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.connection, cx);
    }

    /// Tells whether the next request can be sent: the last response was read to its end and, as
    /// far as is known, the server has not closed the connection.
    pub(super) fn is_reusable(&mut self, cx: &mut Context<'_>) -> bool {
        self.drive(cx);
        self.connection.is_some() && self.sender.is_ready()
    }
}

fn drive(connection: &mut Option<Connection<ByteStream, Full<Bytes>>>, cx: &mut Context<'_>) {
    if let Some(running) = connection
        && let Poll::Ready(end) = Pin::new(running).poll(cx)
    {
        // The future that waits for the response gets the error, too.
        if let Err(error) = end {
            tracing::trace!(%error, "an HTTP/1 connection broke");
        }
        *connection = None;
    }
}
