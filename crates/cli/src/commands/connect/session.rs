//! The one place that waits: connects, lets a verb work, shows its answer, and ends everything.
//!
//! The answer is shown before the servers are ended, so nobody waits for their goodbye. The first
//! Ctrl-C drops the work, which cancels it on the server, and ends everything in order; `signals`
//! ends the program when there is a second one, or when that takes too long.

use std::fmt::Write as _;
use std::sync::Arc;

use tokio::runtime::Builder;
use wharf::protocol::transport::process::{self, reserve_descriptors};
use wharf::protocol::view::send::RootEntry;
use wharf::{ClientFeatures, Elicitor, Options, Runtime};
use wharf_config::Catalog;

use super::elicitation::elicitation_queue;
use super::omissions;
use super::one_off;
use super::progress::Progress;
use super::running_call::RunningCall;
use super::tool_changes;
use crate::commands::trace::Trace;
use crate::commands::{Exit, Failure, Invocation};
use crate::host;
use crate::signals::Interrupts;

/// Connects to the servers of a catalog, lets `work` use them, and shows what came of it.
pub(crate) fn with_servers<T>(
    invocation: &Invocation,
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    with_call((invocation, &RunningCall::default()), catalog, work, show)
}

/// Does the same for work that says what it calls.
pub(crate) fn with_call<T>(
    (invocation, running): (&Invocation, &RunningCall),
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    run_session((invocation, running, OmissionOutput::AfterAnswer), catalog, work, show)
}

/// Does the same for a verb that shows itself what had to be left out of servers.
pub(crate) fn with_checks<T>(
    invocation: &Invocation,
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    run_session(
        (invocation, &RunningCall::default(), OmissionOutput::InAnswer),
        catalog,
        work,
        show,
    )
}

/// Who tells what had to be left out of servers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OmissionOutput {
    /// It is said behind the answer.
    AfterAnswer,
    /// It is part of the answer.
    InAnswer,
}

fn run_session<T>(
    (invocation, running, omissions): (&Invocation, &RunningCall, OmissionOutput),
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    reserve_descriptors(catalog.winners().len());
    // This process belongs to us alone, so whoever loses its parent below us may become our child.
    process::adopt_orphans();
    // One thread is enough to wait for many, and the cheapest to make.
    let waiter = Builder::new_current_thread().enable_all().build().map_err(Failure::Prepare)?;
    let result = waiter.block_on(async {
        let mut interrupts = Interrupts::listen();
        let (elicitor, queue) = elicitation_queue();
        let mut options = options(invocation, catalog);
        one_off::disable_storage(&mut options, catalog);
        if options.client_features.elicitor.is_some() {
            options.client_features.elicitor = Some(Arc::new(elicitor));
        }
        let runtime = Runtime::start(catalog, options);
        let mut events = runtime.events();
        let answer = {
            let progress = Progress::new(&invocation.ui, running);
            tokio::select! {
                biased;
                () = interrupts.next() => None,
                answer = work(&runtime) => Some(answer),
                () = progress.watch(&runtime) => None,
                () = queue.answer_all(&invocation.ui, &progress) => None,
            }
        };
        // Showing keeps one thread busy, and writing needs another.
        drop(runtime.save());
        let snapshot = runtime.snapshot();
        let result = answer.map_or(Err(Failure::Cancelled), show);
        if omissions == OmissionOutput::AfterAnswer {
            omissions::print_omissions(&snapshot, invocation);
        }
        drop(snapshot);
        if !running.reports_changes() {
            tool_changes::print_tool_changes(&mut events, &catalog.settings, &invocation.ui).await;
        }
        let ending = async {
            runtime.shutdown().await;
            process::end_orphans().await;
        };
        tokio::select! {
            biased;
            () = interrupts.next() => process::kill_all(),
            () = ending => {}
        }
        result
    });
    // Nothing that is still running is waited for: somebody was in a hurry.
    waiter.shutdown_background();
    result
}

/// Says how a run connects. What is cached depends on what is declared to servers, so whoever looks
/// into the cache before connecting has to say the same.
pub(super) fn options(invocation: &Invocation, catalog: &Catalog) -> Options {
    let env = &invocation.env;
    let folder = catalog.project_folders.last().unwrap_or(&env.cwd);
    let roots = vec![RootEntry {
        uri: file_uri(&folder.to_string_lossy()),
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
    }];
    // Nobody sits at this desk yet: who connects puts another in its place.
    let elicitor =
        invocation.ui.can_ask.then(|| Arc::new(elicitation_queue().0) as Arc<dyn Elicitor>);
    Options {
        own_program: host::program(),
        client_features: ClientFeatures { roots, elicitor, ..ClientFeatures::default() },
        trace: invocation.trace.get().map(Trace::sink),
        ..Options::new(env.clone())
    }
    .one_shot()
}

/// Writes a path as an address.
fn file_uri(path: &str) -> String {
    let mut uri = "file://".to_owned();
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            _ if byte.is_ascii_alphanumeric() || b"/-_.~:+@".contains(&byte) => {
                uri.push(char::from(byte));
            }
            _ => {
                let _infallible = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_file_uris() {
        assert_eq!(file_uri("/home/ann/my app/é#1"), "file:///home/ann/my%20app/%C3%A9%231");
        assert_eq!(file_uri("C:/x"), "file:///C:/x");
    }
}
