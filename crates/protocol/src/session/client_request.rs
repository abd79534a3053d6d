//! A request of ours, worded and ready for a transport, and the notification that takes it back.

use http::{HeaderName, HeaderValue};

use super::{Deadline, Observer};
use crate::{Json, envelope};

/// A request that is ready to be sent.
pub(crate) struct ClientRequest<'a> {
    /// Its id, from [`SessionCore::next_id`].
    pub(crate) id: u64,
    /// What is asked.
    pub(crate) method: &'a str,
    /// The parameters, perhaps without what every request carries.
    pub(crate) params: Option<&'a Json>,
    /// The whole message.
    pub(crate) message: Vec<u8>,
    /// How long to wait.
    pub(crate) deadline: Deadline,
    /// Who watches the request while it is worked on.
    pub(crate) observer: Observer,
    /// Headers that mirror parameters; only HTTP sends them.
    pub(crate) headers: &'a [(HeaderName, HeaderValue)],
}

/// Tells a server that nobody waits for an answer any more.
pub(crate) fn cancel_notification(id: u64) -> Vec<u8> {
    let params = Json::trusted(format!(r#"{{"requestId":{id},"reason":"no longer awaited"}}"#));
    envelope::notification("notifications/cancelled", Some(&params))
}
