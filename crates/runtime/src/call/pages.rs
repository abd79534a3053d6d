//! Pages that a server wants to be visited before it runs a call.
//!
//! Such a server refuses the call and names the pages. The person is asked about each of them; once
//! the server says that they were visited, the call can be made again: it has not run.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use wharf_config::ServerName;
use wharf_protocol::envelope::code;
use wharf_protocol::peer::RequestError;
use wharf_protocol::view::send::ElicitationAnswer;
use wharf_protocol::view::{Elicitation, ElicitationMode, UrlsRequired};

use crate::ports::Ports;

/// How many pages a call may need: nobody visits more of them for one call.
const MOST_PAGES: usize = 8;

/// How long a server has to say that a page was visited. Not every server does; afterwards the call
/// itself shows how things stand.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many visits are remembered that nobody waits for, and how long a name of one may be.
const MOST_VISITS: usize = 64;
const MOST_NAME: usize = 256;

/// What servers say about pages that were visited.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    done: Mutex<VecDeque<(ServerName, String)>>,
    noticed: Notify,
}

impl Visits {
    /// Takes note that a server says that a page was visited.
    pub(crate) fn note(&self, server: &ServerName, page: String) {
        if page.len() > MOST_NAME {
            return;
        }
        let mut done = self.done();
        done.push_back((server.clone(), page));
        if done.len() > MOST_VISITS {
            done.pop_front();
        }
        drop(done);
        self.noticed.notify_waiters();
    }

    /// Waits until a server has said so of each of these pages.
    async fn all(&self, server: &ServerName, mut pages: Vec<String>) {
        loop {
            // Made before looking, so that nothing is missed in between.
            let noticed = self.noticed.notified();
            self.done().retain(|(by, page)| {
                let at = pages.iter().position(|it| by == server && it == page);
                at.map(|at| pages.swap_remove(at)).is_none()
            });
            if pages.is_empty() {
                return;
            }
            noticed.await;
        }
    }

    fn done(&self) -> MutexGuard<'_, VecDeque<(ServerName, String)>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the pages visited that a refusal is about; tells whether the call may be made again.
pub(crate) async fn visit(
    refusal: &RequestError,
    server: &ServerName,
    ports: &Ports,
    visits: &Visits,
) -> bool {
    let pages = required(refusal);
    let elicitor = ports.elicitor.as_ref().filter(|elicitor| elicitor.support().url);
    let Some(elicitor) = elicitor.filter(|_| (1..=MOST_PAGES).contains(&pages.len())) else {
        return false;
    };
    let mut names = Vec::new();
    for page in pages {
        let ElicitationMode::Url { id, .. } = page.mode() else { return false };
        names.extend(id.map(|id| id.to_string()));
        // A host that panics over a question has not answered it; that is no reason to fall with it.
        let asking = AssertUnwindSafe(async { elicitor.elicit(server.clone(), page).await });
        if !matches!(asking.catch_unwind().await, Ok(ElicitationAnswer::Accept(_))) {
            return false;
        }
    }
    if tokio::time::timeout(PATIENCE, visits.all(server, names)).await.is_err() {
        tracing::debug!(%server, "nobody said that a page was visited");
    }
    true
}

/// Returns the pages that a refusal is about.
fn required(refusal: &RequestError) -> Vec<Elicitation> {
    let refusal = refusal.refusal().filter(|it| it.code == code::URL_ELICITATION_REQUIRED);
    let data = refusal.and_then(|refusal| refusal.data.clone());
    data.map(|data| UrlsRequired::read(data).elicitations()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_visit_counts_for_its_server_alone_before_and_after_it_is_waited_for() {
        let visits = Visits::default();
        let (fs, other) = (ServerName::new("fs"), ServerName::new("other"));
        visits.note(&fs, "1".to_owned());
        visits.note(&other, "2".to_owned());
        let mut waiting = std::pin::pin!(visits.all(&fs, vec!["1".to_owned(), "2".to_owned()]));
        assert!(tokio::time::timeout(PATIENCE, &mut waiting).await.is_err());
        visits.note(&fs, "2".to_owned());
        waiting.await;
        assert_eq!(*visits.done(), [(other, "2".to_owned())]);
    }

    #[test]
    fn of_visits_that_nobody_waits_for_the_latest_are_remembered() {
        let visits = Visits::default();
        let fs = ServerName::new("fs");
        for page in 0..=MOST_VISITS {
            visits.note(&fs, page.to_string());
        }
        visits.note(&fs, "x".repeat(MOST_NAME + 1));
        assert_eq!(visits.done().len(), MOST_VISITS);
        assert_eq!(visits.done()[0].1, "1");
    }
}
