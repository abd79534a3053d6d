//! HTTP+SSE, the transport of 2024-11-05: requests go out by POST, everything else comes on one
//! stream of events, which first says where to post to.

mod transport;

pub(crate) use transport::HttpSse;
