//! The connections that wait for their next request.
//!
//! Servers close idle connections, and a request that crosses such a close on its way is lost
//! without anybody knowing whether it was read. So a connection is used again only for a time
//! that is shorter than what servers commonly wait, or what this one says it waits.

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

/// Many servers close after five seconds and do not say so.
const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// However long a server would wait, a connection is not kept for longer.
const MAX_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How many connections to one origin may wait.
const MAX_IDLE_PER_ORIGIN: usize = 128;

/// All idle connections of one client.
#[derive(Default)]
pub(super) struct ConnectionPool {
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    origins: HashMap<PoolKey, OriginConnections>,
    /// A task looks after what gets too old.
    has_expiry_task: bool,
    is_closed: bool,
}

/// Who is at the other end. A connection that was made without judging the address is not for
/// requests that need that.
pub(super) type PoolKey = (UrlOrigin, AddressPolicy);

/// What there is for one key.
#[derive(Default)]
struct OriginConnections {
    idle: Vec<IdleConnection>,
    shared: Option<(Http2Sender, Instant)>,
    first: Option<Arc<Semaphore>>,
    /// A secure origin turned out to speak HTTP/1, so connections to it can be made side by side.
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

    /// Puts a connection back; returns whether somebody has to start watching the pool.
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

    /// Remembers what a new secure connection taught; returns whether to start watching.
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

    /// Returns what to hold while a connection is made: the first connection to a secure origin
    /// may turn out to be enough for everybody.
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

    /// Closes what is too old; returns when to look again, unless nothing is left to watch.
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

    /// Closes everything and keeps nothing from now on.
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

/// Returns how long a connection can be used again, going by the last answer on it.
pub(super) fn idle_timeout(headers: &HeaderMap) -> Duration {
    let told = headers.get("keep-alive").and_then(|value| value.to_str().ok());
    let seconds = told.and_then(|told| {
        let mut parameters = told.split(',').filter_map(|part| part.split_once('='));
        let (_, value) =
            parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))?;
        value.trim().parse().ok()
    });
    match seconds.map(Duration::from_secs) {
        // A second less, for what is on its way.
        Some(told) => told.saturating_sub(Duration::from_secs(1)).min(MAX_IDLE_TIMEOUT),
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
