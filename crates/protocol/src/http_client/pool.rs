//! The connection pool: idle HTTP connections that can be reused.
//!
//! Servers close idle connections. If a request is sent at that moment, it is unknown whether the
//! server has read it. So a connection is reused only for less time than servers usually keep it
//! open, or than this server says (`Keep-Alive: timeout`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::client::AddressPolicy;
use super::connection::Http1Connection;
use super::connector::{Http2Sender, HttpConnection};
use super::target::UrlOrigin;

/// Many servers close idle connections after five seconds without announcing it.
const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// The limit for the timeout that a server announces.
const MAX_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How many idle connections to one origin are kept.
const MAX_IDLE_PER_ORIGIN: usize = 128;

/// All idle connections of one client.
#[derive(Default)]
pub(super) struct ConnectionPool {
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    origins: HashMap<PoolKey, OriginConnections>,
    /// A task closes expired connections.
    has_expiry_task: bool,
    is_closed: bool,
}

/// The origin and the address policy. A connection that was made without an address check is not
/// used for requests that need the check.
pub(super) type PoolKey = (UrlOrigin, AddressPolicy);

/// The connections for one key.
#[derive(Default)]
struct OriginConnections {
    idle: Vec<IdleConnection>,
    shared: Option<(Http2Sender, Instant)>,
    first: Option<Arc<Semaphore>>,
    /// A secure origin speaks HTTP/1, so connections to it can be made concurrently.
    is_http1: bool,
}

struct IdleConnection {
    connection: Box<Http1Connection>,
    until: Instant,
}

impl ConnectionPool {
    /// Takes the connection that was used last.
    pub(super) fn take(&self, key: &PoolKey) -> Option<HttpConnection> {
        let mut state = self.lock();
        let entry = state.origins.get_mut(key)?;
        let now = Instant::now();
        if let Some((shared, used)) = entry.shared.as_mut().filter(|it| !it.0.is_closed()) {
            *used = now;
            return Some(HttpConnection::Http2(shared.clone()));
        }
        entry.idle.retain(|idle| idle.until > now);
        entry.idle.pop().map(|idle| HttpConnection::Http1(idle.connection))
    }

    /// Returns a connection to the pool; the result tells whether to start the expiry task.
    pub(super) fn put(
        &self,
        key: PoolKey,
        connection: Box<Http1Connection>,
        idle_timeout: Duration,
    ) -> bool {
        let mut state = self.lock();
        if state.is_closed {
            return false;
        }
        let entry = state.origins.entry(key).or_default();
        if entry.idle.len() < MAX_IDLE_PER_ORIGIN {
            entry.idle.push(IdleConnection { connection, until: Instant::now() + idle_timeout });
        }
        !std::mem::replace(&mut state.has_expiry_task, true)
    }

    /// Stores the protocol of a new secure connection; the result tells whether to start the expiry
    /// task.
    pub(super) fn record_protocol(&self, key: PoolKey, link: &HttpConnection) -> bool {
        let mut state = self.lock();
        let is_closed = state.is_closed;
        let entry = state.origins.entry(key).or_default();
        match link {
            HttpConnection::Http1(_) => {
                entry.is_http1 = true;
                false
            }
            HttpConnection::Http2(_) if is_closed => false,
            HttpConnection::Http2(shared) => {
                entry.is_http1 = false;
                entry.shared = Some((shared.clone(), Instant::now()));
                !std::mem::replace(&mut state.has_expiry_task, true)
            }
        }
    }

    /// Returns the lock to hold while a connection is made: if the first connection to a secure
    /// origin is HTTP/2, all requests share it.
    pub(super) fn first_connection_lock(&self, key: &PoolKey) -> Option<Arc<Semaphore>> {
        if !key.0.is_secure() {
            return None;
        }
        let mut state = self.lock();
        let entry = state.origins.entry(key.clone()).or_default();
        if entry.is_http1 {
            return None;
        }
        Some(entry.first.get_or_insert_with(|| Arc::new(Semaphore::new(1))).clone())
    }

    /// Closes expired connections; returns when to check again, or `None` if the pool is empty.
    pub(super) fn close_expired(&self) -> Option<Instant> {
        let mut state = self.lock();
        let now = Instant::now();
        let mut next: Option<Instant> = None;
        for entry in state.origins.values_mut() {
            entry.idle.retain(|idle| idle.until > now);
            let is_old = |used: Instant| used + MAX_IDLE_TIMEOUT <= now;
            entry.shared.take_if(|(shared, used)| shared.is_closed() || is_old(*used));
            let idle = entry.idle.iter().map(|idle| idle.until);
            let shared = entry.shared.iter().map(|(_, used)| *used + MAX_IDLE_TIMEOUT);
            next = idle.chain(shared).chain(next).min();
        }
        state.has_expiry_task = next.is_some();
        next
    }

    /// Closes all connections and accepts no more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.origins.clear();
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().origins.values().map(|entry| entry.idle.len()).sum()
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns how long a connection may be idle and still be reused, from the last response on it.
pub(super) fn idle_timeout(headers: &HeaderMap) -> Duration {
    let keep_alive = headers.get("keep-alive").and_then(|value| value.to_str().ok());
    let seconds = keep_alive.and_then(|keep_alive| {
        let mut parameters = keep_alive.split(',').filter_map(|part| part.split_once('='));
        let (_, value) =
            parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))?;
        value.trim().parse().ok()
    });
    match seconds.map(Duration::from_secs) {
        // A second less than announced, because of the transfer time.
        Some(seconds) => seconds.saturating_sub(Duration::from_secs(1)).min(MAX_IDLE_TIMEOUT),
        None => DEFAULT_IDLE_TIMEOUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: u64) {
        let mut headers = HeaderMap::new();
        headers.insert("keep-alive", value.parse().unwrap());
        assert_eq!(idle_timeout(&headers), Duration::from_secs(expected), "{value}");
    }

    #[test]
    fn the_idle_timeout_is_read_from_the_keep_alive_header() {
        check("timeout=5", 4);
        check("max=100, Timeout = 30", 29);
        check("timeout=0", 0);
        check("timeout=86400", 60);
        check("timeout=soon", 4);
        check("", 4);
        assert_eq!(idle_timeout(&HeaderMap::new()), Duration::from_secs(4));
    }
}
