//! HTTP+SSE, the transport of 2024-11-05: requests go out by POST, and everything else arrives on
//! one event stream, whose first event names the endpoint for the POSTs.

mod transport;

pub(crate) use transport::HttpSse;
