//! One or two threads that start processes.
//!
//! The parent-death signal is sent when the parent's *thread* ends, so children are started on
//! threads that end only with the whole process. The second thread starts when a job has to wait
//! for the first: starting a hundred servers is mostly work of the kernel, which two cores can
//! share.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use tokio::sync::oneshot;

const MAX_THREADS: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

static POOL: Pool = Pool::new();

struct Pool {
    state: Mutex<PoolState>,
    ready: Condvar,
}

struct PoolState {
    jobs: VecDeque<Job>,
    threads: usize,
    /// How many threads wait for a job.
    idle: usize,
}

/// Runs work on one of the threads. If the future is dropped, work that has not started is skipped,
/// and the result of work that has started is dropped.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (reply, answer) = oneshot::channel();
    POOL.submit(Box::new(move || {
        if !reply.is_closed() {
            // If the receiver is gone, dropping the result also ends the process that it guards.
            drop(reply.send(work()));
        }
    }))?;
    answer.await.unwrap_or_else(|_| Err(io::Error::other("starting a process panicked")))
}

impl Pool {
    const fn new() -> Self {
        let state = PoolState { jobs: VecDeque::new(), threads: 0, idle: 0 };
        Self { state: Mutex::new(state), ready: Condvar::new() }
    }

    fn submit(&'static self, job: Job) -> io::Result<()> {
        let mut state = self.lock();
        if state.jobs.len() >= state.idle && state.threads < MAX_THREADS {
            let thread = thread::Builder::new().name("wharf-spawn".into()).stack_size(256 * 1024);
            match thread.spawn(|| self.work()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => return Err(error),
                // One thread is enough.
                Err(_) => {}
            }
        }
        state.jobs.push_back(job);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Never returns: children of a thread that ends are killed.
    fn work(&self) {
        loop {
            let mut state = self.lock();
            let job = loop {
                if let Some(job) = state.jobs.pop_front() {
                    break job;
                }
                state.idle += 1;
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            };
            drop(state);
            // A panic drops the reply channel, which the caller sees.
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;

    #[tokio::test]
    async fn work_that_panics_does_not_end_the_threads() {
        for _ in 0..4 {
            let error = run::<()>(|| panic!("on purpose")).await.unwrap_err();
            assert_eq!(error.to_string(), "starting a process panicked");
        }
        let name = run(|| Ok(thread::current().name().map(str::to_owned))).await.unwrap();
        assert_eq!(name.as_deref(), Some("wharf-spawn"));
    }

    #[test]
    fn a_second_thread_starts_only_for_waiting_work() {
        static POOL: Pool = Pool::new();
        let when = |is_so: fn(&PoolState) -> bool| {
            let deadline = Instant::now() + Duration::from_secs(10);
            while !is_so(&POOL.lock()) {
                assert!(Instant::now() < deadline, "the state was not reached in time");
                thread::yield_now();
            }
        };
        for _ in 0..3 {
            POOL.submit(Box::new(|| {})).unwrap();
            when(|state| state.idle == 1 && state.jobs.is_empty());
            assert_eq!(POOL.lock().threads, 1);
        }
        let (done, all_done) = mpsc::channel();
        let (go, gate) = mpsc::channel::<()>();
        POOL.submit(Box::new(move || assert!(gate.recv().is_err()))).unwrap();
        for _ in 0..3 {
            let done = done.clone();
            POOL.submit(Box::new(move || done.send(()).unwrap())).unwrap();
        }
        for _ in 0..3 {
            all_done.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        assert_eq!(POOL.lock().threads, MAX_THREADS);
        drop(go);
        when(|state| state.idle == MAX_THREADS);
    }

    #[tokio::test]
    async fn the_result_of_work_that_nobody_awaits_is_dropped() {
        let (alive, mut dropped) = tokio::sync::mpsc::channel::<()>(1);
        let (go, gate) = mpsc::channel::<()>();
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
