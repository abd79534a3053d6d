//! A failure before the call was made: the `details` and the `error` of its JSON document.
//!
//! The same failure gets the same error kind here as in the call itself.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use wharf::Unavailable;
use wharf::call::{CallDetails, CallError, CallErrorReason, CallPhase};
use wharf::tools::{Naming, Tool, strip_server_name};
use wharf_config::{Server, ServerName, Source};

use crate::commands::{Failure, Invocation};

/// Collects the details of a call as they become known.
pub(super) struct DetailsBuilder {
    text: RefCell<String>,
    began: Instant,
    known: RefCell<Option<CallDetails>>,
}

impl DetailsBuilder {
    /// Starts with the text that was typed.
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: RefCell::new(text.to_owned()),
            began: Instant::now(),
            known: RefCell::default(),
        }
    }

    /// Sets the text that names the tool, if it is more than one word.
    pub(super) fn set_text(&self, text: &str) {
        text.clone_into(&mut self.text.borrow_mut());
    }

    /// Sets the server that the text names.
    pub(super) fn set_server(&self, server: Option<&Server>, naming: Naming) {
        if let Some(server) = server {
            *self.known.borrow_mut() = Some(self.of_server(server, naming));
        }
    }

    /// Sets the tool.
    pub(super) fn set_tool(&self, tool: &Tool) {
        let details = self.of(tool.server().as_str(), tool.source());
        let details = CallDetails { mcp_tool_name: tool.tool().to_owned(), ..details };
        *self.known.borrow_mut() = Some(details);
    }

    /// Returns the details; a server that only the failure names is looked up in the catalog.
    pub(super) fn into_details(self, failure: &Failure, invocation: &Invocation) -> CallDetails {
        let known = self.known.take().or_else(|| {
            let catalog = invocation.load_quietly().ok()?;
            let name = server_of(failure)?;
            let found = catalog.winner(name).or_else(|| catalog.candidates(name).next())?;
            Some(self.of_server(found, Naming::from(&catalog.settings)))
        });
        let nobody =
            || CallDetails { mcp_tool_name: self.text.borrow().clone(), ..CallDetails::default() };
        CallDetails { duration: self.began.elapsed(), ..known.unwrap_or_else(nobody) }
    }

    fn of_server(&self, server: &Server, naming: Naming) -> CallDetails {
        let definition = &server.definition;
        let (name, prefix) = (definition.name.as_str(), definition.fields.policy.prefix.as_deref());
        let details = self.of(name, &definition.source);
        match naming.tool_part(&self.text.borrow(), name, prefix) {
            Some(tool) => CallDetails { mcp_tool_name: tool.to_owned(), ..details },
            None => details,
        }
    }

    fn of(&self, server: &str, source: &Source) -> CallDetails {
        let text = self.text.borrow();
        CallDetails {
            server_name: server.to_owned(),
            mcp_tool_name: strip_server_name(&text, server).unwrap_or(&text).to_owned(),
            provider: source.provider.to_owned(),
            provider_name: source.provider_name.to_owned(),
            ..CallDetails::default()
        }
    }
}

fn server_of(failure: &Failure) -> Option<&str> {
    match failure {
        Failure::Untrusted { name, .. }
        | Failure::Disabled { name }
        | Failure::NotUsed { name, .. }
        | Failure::Invalid { name, .. }
        | Failure::NotConnected { name, .. }
        | Failure::NotConnectedInTime { name, .. } => Some(name),
        _ => None,
    }
}

/// Converts a failure to the error of a call that had reached `phase`.
pub(super) fn call_error(failure: &Failure, phase: CallPhase) -> CallError {
    let message = failure.to_string();
    let error = match failure {
        Failure::Request(error) => (**error).clone(),
        Failure::NotConnected { name, failure } => {
            Unavailable::Failed { server: ServerName::new(name), failure: Arc::clone(failure) }
                .into()
        }
        Failure::Untrusted { .. } => CallError::not_run(CallErrorReason::Untrusted, message),
        Failure::Disabled { .. } => CallError::not_run(CallErrorReason::Disabled, message),
        Failure::NotUsed { .. } | Failure::Invalid { .. } => {
            CallError::not_run(CallErrorReason::NotUsed, message)
        }
        Failure::ItemNotFound { .. } | Failure::NotFound { .. } => {
            CallError::not_run(CallErrorReason::UnknownTool, message)
        }
        Failure::BadArguments { .. } | Failure::Usage { .. } => {
            CallError::not_run(CallErrorReason::BadArguments, message)
        }
        Failure::TimedOut { limit } | Failure::NotConnectedInTime { limit, .. } => {
            CallError::not_connected_in_time(*limit)
        }
        Failure::Cancelled => CallError::cancelled_in(phase),
        _ => CallError::not_run(CallErrorReason::Unsendable, message),
    };
    match failure.hint() {
        Some(hint) if error.hint.is_none() => error.with_hint(hint),
        _ => error,
    }
}
