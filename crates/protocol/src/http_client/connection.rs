//! One HTTP/1 connection, driven by whoever waits for the answer on it.
//!
//! hyper usually has a task that drives a connection. Here the connection is polled inside the
//! request's own future instead: no hop between tasks, nothing that outlives the request, and
//! dropping the future closes the connection.

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
    /// `None` once it is over.
    connection: Option<Connection<ByteStream, Full<Bytes>>>,
    pub(super) form: RequestForm,
    /// For which requests it was made.
    pub(super) policy: AddressPolicy,
}

/// How requests are written on a connection.
pub(super) enum RequestForm {
    /// To the server, with the path only.
    Direct,
    /// To a proxy, with the whole address.
    Forwarded { authorization: Option<HeaderValue> },
}

/// A request without an answer.
pub(super) struct SendFailure {
    pub(super) error: hyper::Error,
    /// hyper gave the request back: it had not begun to write it.
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

    /// Sends a request and waits for the head of the answer.
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

    /// Moves the connection on as far as it goes.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.connection, cx);
    }

    /// Says whether the next request can be sent: the last answer has been read to its end and, as
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
        // An error also reaches whoever waits for the answer, and is reported there.
        if let Err(error) = end {
            tracing::trace!(%error, "an HTTP/1 connection broke");
        }
        *connection = None;
    }
}
