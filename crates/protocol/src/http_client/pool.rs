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

use super::connect::{Link, Shared};
use super::connection::Http1;
use super::send::Reach;
use super::target::Origin;

/// Many servers close after five seconds and do not say so.
const COMMON_PATIENCE: Duration = Duration::from_secs(4);

/// However long a server would wait, a connection is not kept for longer.
const MOST_PATIENCE: Duration = Duration::from_secs(60);

/// How many connections to one origin may wait.
const MOST_IDLE: usize = 128;

/// All idle connections of one client.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stocks: HashMap<Key, Stock>,
    /// A task looks after what gets too old.
    is_watched: bool,
    is_closed: bool,
}

/// Who is at the other end. A connection that was made without judging the address is not for
/// requests that need that.
pub(super) type Key = (Origin, Reach);

/// What there is for one key.
#[derive(Default)]
struct Stock {
    idle: Vec<Idle>,
    shared: Option<(Shared, Instant)>,
    first: Option<Arc<Semaphore>>,
    /// A secure origin turned out to speak HTTP/1, so connections to it can be made side by side.
    is_plain: bool,
}

struct Idle {
    connection: Box<Http1>,
    until: Instant,
}

impl Pool {
    /// Takes the connection that was used last.
    pub(super) fn take(&self, key: &Key) -> Option<Link> {
        let mut state = self.lock();
        let stock = state.stocks.get_mut(key)?;
        let now = Instant::now();
        if let Some((shared, used)) = stock.shared.as_mut().filter(|it| !it.0.is_closed()) {
            *used = now;
            return Some(Link::Two(shared.clone()));
        }
        stock.idle.retain(|idle| idle.until > now);
        stock.idle.pop().map(|idle| Link::One(idle.connection))
    }

    /// Puts a connection back; returns whether somebody has to start watching the pool.
    pub(super) fn put(&self, key: Key, connection: Box<Http1>, patience: Duration) -> bool {
        let mut state = self.lock();
        if state.is_closed {
            return false;
        }
        let stock = state.stocks.entry(key).or_default();
        if stock.idle.len() < MOST_IDLE {
            stock.idle.push(Idle { connection, until: Instant::now() + patience });
        }
        !std::mem::replace(&mut state.is_watched, true)
    }

    /// Remembers what a new secure connection taught; returns whether to start watching.
    pub(super) fn learn(&self, key: Key, link: &Link) -> bool {
        let mut state = self.lock();
        let is_closed = state.is_closed;
        let stock = state.stocks.entry(key).or_default();
        match link {
            Link::One(_) => {
                stock.is_plain = true;
                false
            }
            Link::Two(_) if is_closed => false,
            Link::Two(shared) => {
                stock.is_plain = false;
                stock.shared = Some((shared.clone(), Instant::now()));
                !std::mem::replace(&mut state.is_watched, true)
            }
        }
    }

    /// Returns what to hold while a connection is made: the first connection to a secure origin
    /// may turn out to be enough for everybody.
    pub(super) fn first(&self, key: &Key) -> Option<Arc<Semaphore>> {
        if !key.0.is_secure() {
            return None;
        }
        let mut state = self.lock();
        let stock = state.stocks.entry(key.clone()).or_default();
        if stock.is_plain {
            return None;
        }
        Some(stock.first.get_or_insert_with(|| Arc::new(Semaphore::new(1))).clone())
    }

    /// Closes what is too old; returns when to look again, unless nothing is left to watch.
    pub(super) fn sweep(&self) -> Option<Instant> {
        let mut state = self.lock();
        let now = Instant::now();
        let mut next: Option<Instant> = None;
        for stock in state.stocks.values_mut() {
            stock.idle.retain(|idle| idle.until > now);
            let is_old = |used: Instant| used + MOST_PATIENCE <= now;
            stock.shared.take_if(|(shared, used)| shared.is_closed() || is_old(*used));
            let idle = stock.idle.iter().map(|idle| idle.until);
            let shared = stock.shared.iter().map(|(_, used)| *used + MOST_PATIENCE);
            next = idle.chain(shared).chain(next).min();
        }
        state.is_watched = next.is_some();
        next
    }

    /// Closes everything and keeps nothing from now on.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.stocks.clear();
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().stocks.values().map(|stock| stock.idle.len()).sum()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns how long a connection can be used again, going by the last answer on it.
pub(super) fn patience(headers: &HeaderMap) -> Duration {
    let told = headers.get("keep-alive").and_then(|value| value.to_str().ok());
    let seconds = told.and_then(|told| {
        let mut parameters = told.split(',').filter_map(|part| part.split_once('='));
        let (_, value) =
            parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))?;
        value.trim().parse().ok()
    });
    match seconds.map(Duration::from_secs) {
        // A second less, for what is on its way.
        Some(told) => told.saturating_sub(Duration::from_secs(1)).min(MOST_PATIENCE),
        None => COMMON_PATIENCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: u64) {
        let mut headers = HeaderMap::new();
        headers.insert("keep-alive", value.parse().unwrap());
        assert_eq!(patience(&headers), Duration::from_secs(expected), "{value}");
    }

    #[test]
    fn the_patience_of_a_server_is_taken_from_its_answer() {
        check("timeout=5", 4);
        check("max=100, Timeout = 30", 29);
        check("timeout=0", 0);
        check("timeout=86400", 60);
        check("timeout=soon", 4);
        check("", 4);
        assert_eq!(patience(&HeaderMap::new()), Duration::from_secs(4));
    }
}
