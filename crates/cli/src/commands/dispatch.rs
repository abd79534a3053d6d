//! Brings a command line to its verb, and a failure to the screen.

use super::report::FailureDocument;
use super::{
    Exit, Failure, Invocation, add, add_json, cache, call, complete, completions, config, disable,
    doctor, enable, explain, export, get, import, list, logs, man, mcp, prompt, prompts, read,
    reconnect, remove, resources, status, test, tools, trust, untrust,
};
use crate::args::{Cli, Verb};
use crate::host::Host;
use crate::ui::{has_printed_document, print_json};

/// Writes a failure as a document, unless the verb has put it into its own.
fn tell_programs(failure: &Failure, invocation: &Invocation) {
    if invocation.ui.json && !has_printed_document() {
        // What cannot be written is said on stderr all the same.
        drop(print_json(&FailureDocument::of(failure)));
    }
}

/// Runs one command line to its end.
pub(crate) fn run(cli: &Cli, host: Host) -> Exit {
    let invocation = Invocation::new(&cli.flags, host);
    if changes_definitions(&cli.verb) {
        invocation.say_what_settings_do();
    }
    let result = match &cli.verb {
        Verb::List(args) => list::run(args, &invocation),
        Verb::Get(args) => get::run(args, &invocation),
        Verb::Explain(args) => explain::run(args, &invocation),
        Verb::Status(args) => status::run(args, &invocation),
        Verb::Doctor(args) => doctor::run(args, &invocation),
        Verb::Tools(args) => tools::run(args, &invocation),
        Verb::Call(args) => call::run(args, &invocation),
        Verb::Resources(args) => resources::run(args, &invocation),
        Verb::Read(args) => read::run(args, &invocation),
        Verb::Prompts(args) => prompts::run(args, &invocation),
        Verb::Prompt(args) => prompt::run(args, &invocation),
        Verb::Test(args) => test::run(args, &invocation),
        Verb::Reconnect(args) => reconnect::run(args, &invocation),
        Verb::Logs(args) => logs::run(args, &invocation),
        Verb::Add(args) => add::run(args, &invocation),
        Verb::AddJson(args) => add_json::run(args, &invocation),
        Verb::Remove(args) => remove::run(args, &invocation),
        Verb::Enable(args) => enable::run(args, &invocation),
        Verb::Disable(args) => disable::run(args, &invocation),
        Verb::Import(args) => import::run(args, &invocation),
        Verb::Export(args) => export::run(args, &invocation),
        Verb::Trust(args) => trust::run(args, &invocation),
        Verb::Untrust(args) => untrust::run(args, &invocation),
        Verb::Cache(args) => cache::run(args, &invocation),
        Verb::Config(args) => config::run(args, &invocation),
        Verb::Mcp(args) => mcp::run(args, &invocation),
        Verb::Complete(args) => complete::run(args, &invocation),
        Verb::Completions(args) => completions::run(args, &invocation),
        Verb::Man(args) => man::run(args, &invocation),
    };
    result.unwrap_or_else(|failure| {
        if !failure.is_quiet() {
            tell_programs(&failure, &invocation);
            invocation.ui.failure(&failure);
        }
        failure.exit()
    })
}

/// Tells whether a verb changes servers without a look at all of them, which would say what the
/// settings of a project do.
fn changes_definitions(verb: &Verb) -> bool {
    matches!(
        verb,
        Verb::Add(_)
            | Verb::AddJson(_)
            | Verb::Remove(_)
            | Verb::Enable(_)
            | Verb::Disable(_)
            | Verb::Import(_)
            | Verb::Export(_)
    )
}
