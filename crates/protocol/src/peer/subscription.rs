//! Subscriptions of the modern era: `subscriptions/listen`, one long request whose notifications go
//! to the handler.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use super::handle::RequestExtras;
use super::{Peer, RequestOptions};
use crate::Json;
use crate::era::Era;
use crate::session::{Deadline, Observer, RequestError, SubscriptionAck};
use crate::view::{SubscriptionFilter, send};

/// A subscription that the server has acknowledged. Dropping it ends it.
///
/// As a future it resolves when the subscription has ended: `Ok` if the server ended it regularly.
pub struct Subscription {
    /// What the server has subscribed to, which may be less than was requested.
    pub acknowledged: SubscriptionFilter,
    /// Whether the acknowledgement arrived before the response to the request that was sent right
    /// after it. Over stdio, a list that was requested this way is not older than the subscription.
    pub is_before_next_response: bool,
    rest: Pin<Box<dyn Future<Output = Result<Json, RequestError>> + Send>>,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("acknowledged", &self.acknowledged)
            .field("is_before_next_response", &self.is_before_next_response)
            .finish_non_exhaustive()
    }
}

impl Future for Subscription {
    type Output = Result<(), RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.rest.as_mut().poll(context).map_ok(drop)
    }
}

impl Peer {
    /// Subscribes to changes on a modern server, and waits for the acknowledgement.
    ///
    /// Notifications go to the handler. The returned future must be polled: over HTTP it reads the
    /// event stream.
    pub async fn listen(
        &self,
        filter: &SubscriptionFilter,
        options: &RequestOptions,
    ) -> Result<Subscription, RequestError> {
        if self.era() == Era::Legacy {
            let reason = "the server's revision has no subscriptions/listen";
            return Err(RequestError::Unsendable(reason.into()));
        }
        let (sender, acknowledged) = oneshot::channel();
        let observer = Observer::Subscriber(Some(sender));
        let params = send::listen(filter);
        let peer = self.clone();
        let endless = RequestOptions { deadline: Deadline::never(), ..options.clone() };
        let mut rest: Pin<Box<dyn Future<Output = Result<Json, RequestError>> + Send>> =
            Box::pin(async move {
                let extras = RequestExtras { observer, headers: &[] };
                peer.request_observed("subscriptions/listen", Some(&params), &endless, extras).await
            });
        let limit = options.deadline.idle;
        let first = async {
            tokio::select! {
                biased;
                Ok(acknowledgement) = acknowledged => Ok(acknowledgement),
                outcome = &mut rest => match outcome {
                    Ok(_) => Err(RequestError::InvalidResponse("the subscription ended at once".into())),
                    Err(error) => Err(error),
                },
            }
        };
        let SubscriptionAck { params, is_before_next_response } =
            tokio::time::timeout(limit, first)
                .await
                .map_err(|_| RequestError::TimedOut { limit, never_sent: false })??;
        Ok(Subscription {
            acknowledged: SubscriptionFilter::acknowledged(&params),
            is_before_next_response,
            rest,
        })
    }
}
