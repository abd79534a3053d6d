//! A JSON-RPC request that is ready for a transport, and the notification that cancels it.

use http::{HeaderName, HeaderValue};

use super::{Deadline, Observer, RequestCause};
use crate::view::send;
use crate::{Json, envelope};

/// A request that is ready to be sent.
pub(crate) struct ClientRequest<'a> {
    /// Its id, from [`SessionCore::next_id`].
    pub(crate) id: u64,
    /// The method.
    pub(crate) method: &'a str,
    /// The parameters, possibly without the `_meta` that every request has.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "headers repeat parameters"))]
    pub(crate) params: Option<&'a Json>,
    /// The whole message.
    pub(crate) message: Vec<u8>,
    /// How long to wait.
    pub(crate) deadline: Deadline,
    /// Who gets its notifications.
    pub(crate) observer: Observer,
    /// The host's value for requests that the server sends because of this one.
    pub(crate) cause: Option<RequestCause>,
    /// Headers that repeat parameters; sent only over HTTP.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP has headers"))]
    pub(crate) headers: &'a [(HeaderName, HeaderValue)],
}

/// Returns the notification that cancels a request.
pub(crate) fn cancel_notification(id: u64) -> Vec<u8> {
    let params = send::cancelled(id, Some("no longer awaited"));
    envelope::notification("notifications/cancelled", Some(&params))
}
