//! Runs a verb with connected servers: connects, runs the work, prints the answer, shuts down.
//!
//! The answer is printed before the servers are shut down, so the shutdown does not delay it. The
//! first Ctrl-C drops the work, which cancels it on the server, and shuts down in order. `signals`
//! ends the program at a second Ctrl-C, or if the shutdown takes too long.

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
use crate::commands::sign_in::{SignIn, sign_in_queue};
use crate::commands::trace::Trace;
use crate::commands::{Exit, Failure, Invocation, credentials};
use crate::host;
use crate::signals::Interrupts;

/// Connects to the servers of a catalog, runs `work` with them, and prints its result with `show`.
pub(crate) fn with_servers<T>(
    invocation: &Invocation,
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let work = async |runtime: &Runtime, _: &SignIn<'_>| work(runtime).await;
    with_sign_in(invocation, catalog, work, show)
}

/// Does the same for work that may sign in to a server.
pub(crate) fn with_sign_in<T>(
    invocation: &Invocation,
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime, &SignIn<'_>) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    with_call(invocation, &RunningCall::default(), catalog, work, show)
}

/// Does the same for work that records its call for the progress line.
pub(crate) fn with_call<T>(
    invocation: &Invocation,
    running: &RunningCall,
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime, &SignIn<'_>) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let omissions = OmissionOutput::AfterAnswer;
    Session { invocation, running, omissions }.run(catalog, work, show)
}

/// Does the same for a verb whose answer contains the omitted values of servers.
pub(crate) fn with_checks<T>(
    invocation: &Invocation,
    catalog: &Catalog,
    work: impl AsyncFnOnce(&Runtime) -> T,
    show: impl FnOnce(T) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let (running, omissions) = (&RunningCall::default(), OmissionOutput::InAnswer);
    let work = async |runtime: &Runtime, _: &SignIn<'_>| work(runtime).await;
    Session { invocation, running, omissions }.run(catalog, work, show)
}

/// Where the omitted values of servers are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OmissionOutput {
    /// On stderr, after the answer.
    AfterAnswer,
    /// In the answer of the verb.
    InAnswer,
}

/// One run of a verb that connects to servers.
struct Session<'a> {
    invocation: &'a Invocation,
    running: &'a RunningCall,
    omissions: OmissionOutput,
}

impl Session<'_> {
    fn run<T>(
        self,
        catalog: &Catalog,
        work: impl AsyncFnOnce(&Runtime, &SignIn<'_>) -> T,
        show: impl FnOnce(T) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let Self { invocation, running, omissions } = self;
        reserve_descriptors(catalog.winners().len());
        // Wharf owns this process, so it may adopt orphans and end them later.
        process::adopt_orphans();
        // One thread is enough to wait for many servers, and cheap to start.
        let waiter =
            Builder::new_current_thread().enable_all().build().map_err(Failure::Prepare)?;
        let result = waiter.block_on(async {
            let mut interrupts = Interrupts::listen();
            let (elicitor, queue) = elicitation_queue();
            let (sender, sign_ins) = sign_in_queue();
            let sign_in = SignIn::new(invocation, sender);
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
                    answer = work(&runtime, &sign_in) => Some(answer),
                    () = progress.watch(&runtime) => None,
                    () = queue.answer_all(&invocation.ui, &progress) => None,
                    () = sign_ins.serve(&invocation.ui, &progress) => None,
                }
            };
            // Start saving now, because printing blocks this thread.
            drop(runtime.save());
            let snapshot = runtime.snapshot();
            let result = answer.map_or(Err(Failure::Cancelled), show);
            if omissions == OmissionOutput::AfterAnswer {
                omissions::print_omissions(&snapshot, invocation);
            }
            drop(snapshot);
            if !running.reports_changes() {
                tool_changes::print_tool_changes(&mut events, &catalog.settings, &invocation.ui)
                    .await;
            }
            end(&runtime, &mut interrupts).await;
            result
        });
        // Do not wait for blocking tasks that are still running.
        waiter.shutdown_background();
        result
    }
}

/// Shuts the servers down; a signal kills them.
async fn end(runtime: &Runtime, interrupts: &mut Interrupts) {
    let ending = async {
        runtime.shutdown().await;
        process::end_orphans().await;
    };
    tokio::select! {
        biased;
        () = interrupts.next() => process::kill_all(),
        () = ending => {}
    }
}

/// Returns the runtime options of a run. The declared client capabilities are part of the cache
/// key, so code that reads the cache before connecting must use the same options.
pub(super) fn options(invocation: &Invocation, catalog: &Catalog) -> Options {
    let env = &invocation.env;
    let folder = catalog.project_folders.last().unwrap_or(&env.cwd);
    let roots = vec![RootEntry {
        uri: file_uri(&folder.to_string_lossy()),
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
    }];
    // Only declares the capability; a run that connects replaces it by an elicitor that asks.
    let elicitor =
        invocation.ui.can_ask.then(|| Arc::new(elicitation_queue().0) as Arc<dyn Elicitor>);
    Options {
        credentials: Arc::new(credentials::store(catalog, invocation)),
        own_program: host::program(),
        client_features: ClientFeatures { roots, elicitor, ..ClientFeatures::default() },
        trace: invocation.trace.get().map(Trace::sink),
        ..Options::new(env.clone()).store_in_wharf_home()
    }
    .one_shot()
}

/// Returns a path as a `file://` URI.
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
