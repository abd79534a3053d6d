//! `wharf trust NAME --tools`: the person agrees to the tools of a server as they are now.

use wharf::Runtime;

use super::record::Report;
use crate::commands::{Exit, Failure, Invocation, connect};
use crate::ui::phrase;

/// Connects to servers, one after the other, and accepts their tools.
pub(super) fn accept(names: &[String], invocation: &Invocation) -> Result<Exit, Failure> {
    let mut messages = Vec::new();
    for name in names {
        let catalog = connect::only(name, invocation)?;
        let work = async |runtime: &Runtime| runtime.accept_tools(name).await;
        connect::with_servers(invocation, &catalog, work, |accepted| {
            let tools = phrase::count(accepted?, "tool");
            let server = phrase::quoted(name);
            messages.push(format!("Accepted the {tools} of {server} as they are now."));
            Ok(Exit::Fine)
        })?;
    }
    Report::of_names(names.to_vec(), messages.join("\n")).show(invocation)
}
