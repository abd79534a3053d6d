//! Two threads that start processes.
//!
//! A child that dies with its parent dies with the parent's *thread*, so children are started here,
//! on threads that end with the whole process and not before. There are two because starting a
//! hundred servers is mostly work of the system that two cores can share.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use tokio::sync::oneshot;

const THREADS: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

static POOL: Pool = Pool { state: Mutex::new(State::new()), ready: Condvar::new() };

struct Pool {
    state: Mutex<State>,
    ready: Condvar,
}

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
}

/// Runs some work on one of the threads. If the future is dropped, work that has not begun is left
/// out, and the result of other work is dropped.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (reply, answer) = oneshot::channel();
    POOL.submit(Box::new(move || {
        if !reply.is_closed() {
            // Nobody may be there any more; then the result ends here, with what it guards.
            drop(reply.send(work()));
        }
    }))?;
    answer.await.unwrap_or_else(|_| Err(io::Error::other("starting a process panicked")))
}

impl Pool {
    fn submit(&'static self, job: Job) -> io::Result<()> {
        let mut state = self.lock();
        while state.threads < THREADS {
            let thread = thread::Builder::new().name("wharf-spawn".into()).stack_size(256 * 1024);
            match thread.spawn(|| self.work()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => return Err(error),
                Err(_) => break,
            }
        }
        state.jobs.push_back(job);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Works for ever: children of a thread that ends are killed.
    fn work(&self) {
        loop {
            let mut state = self.lock();
            let job = loop {
                match state.jobs.pop_front() {
                    Some(job) => break job,
                    None => {
                        state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            drop(state);
            // The job's answer is dropped when it panics, which its caller sees.
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    const fn new() -> Self {
        Self { jobs: VecDeque::new(), threads: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::run;

    #[tokio::test]
    async fn work_that_panics_does_not_end_the_threads() {
        for _ in 0..4 {
            let error = run::<()>(|| panic!("on purpose")).await.unwrap_err();
            assert_eq!(error.to_string(), "starting a process panicked");
        }
        let name = run(|| Ok(thread::current().name().map(str::to_owned))).await.unwrap();
        assert_eq!(name.as_deref(), Some("wharf-spawn"));
    }

    #[tokio::test]
    async fn the_result_of_work_that_nobody_awaits_is_dropped() {
        let (alive, mut dropped) = tokio::sync::mpsc::channel::<()>(1);
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let mut running = Box::pin(run(move || {
            let _ = gate.recv();
            Ok(alive)
        }));
        assert!(tokio::time::timeout(Duration::ZERO, &mut running).await.is_err());
        drop(running);
        drop(go);
        assert_eq!(dropped.recv().await, None);
    }
}
