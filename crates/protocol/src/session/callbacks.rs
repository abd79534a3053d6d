//! Calls code of the host: listeners, handlers, tracers, authorizers.
//!
//! This code runs in the tasks of a connection, which all requests share. So a panic is caught: it
//! costs what the callback was called for, and nothing else.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;

/// A callback has panicked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallbackPanicked;

/// Calls a callback.
pub(crate) fn call<T>(callback: impl FnOnce() -> T) -> Result<T, CallbackPanicked> {
    // Unwind safe: no state of the callback is used after a panic, except by the callback itself.
    catch_unwind(AssertUnwindSafe(callback)).map_err(|_| CallbackPanicked)
}

/// Calls a callback that returns a future, and waits for it.
pub(crate) async fn call_and_wait<F: Future>(
    callback: impl FnOnce() -> F,
) -> Result<F::Output, CallbackPanicked> {
    AssertUnwindSafe(call(callback)?).catch_unwind().await.map_err(|_| CallbackPanicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_callback_is_an_error() {
        assert_eq!(call(|| 7), Ok(7));
        assert_eq!(call(|| panic!("on purpose")), Err::<u8, _>(CallbackPanicked));
    }

    #[tokio::test]
    async fn a_panic_of_a_future_is_an_error() {
        assert_eq!(call_and_wait(async || 7).await, Ok(7));
        let at_once = || -> std::future::Ready<u8> { panic!("on purpose") };
        assert_eq!(call_and_wait(at_once).await, Err(CallbackPanicked));
        let later = call_and_wait(async || panic!("on purpose"));
        assert_eq!(later.await, Err::<u8, _>(CallbackPanicked));
    }
}
