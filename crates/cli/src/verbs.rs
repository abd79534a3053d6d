//! The list of verbs. The parser, the help and the dispatch are generated from it.
//!
//! A new verb needs a file in `commands` with its arguments and a function `run`, and a line here
//! below the heading of the help that lists it.

use clap::{Args as _, Command, Subcommand};

use crate::commands::{
    Exit, Failure, Invocation, add, add_json, cache, call, complete, completions, config,
    credentials, disable, doctor, enable, explain, export, get, import, list, login, logout, logs,
    man, mcp, prompt, prompts, read, reconnect, remove, resources, status, test, tools, trust,
    untrust,
};

macro_rules! verbs {
    ($($group:literal {
        $($(#[$attribute:meta])* $name:literal $variant:ident($module:ident::$args:ident),)*
    })*) => {
        /// The verb of a command line, with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($($(#[$attribute])* #[command(name = $name)] $variant($module::$args),)*)*
        }

        impl Verb {
            /// Adds the verb with this name to a parser, without any other; `None` if there is none.
            pub(crate) fn define_one(name: &str, parser: Command) -> Option<Command> {
                let verb = match name {
                    $($($name => $module::$args::augment_args(Command::new($name)),)*)*
                    _ => return None,
                };
                Some(parser.subcommand(verb))
            }

            /// Runs the verb.
            pub(crate) fn run(&self, invocation: &Invocation) -> Result<Exit, Failure> {
                match self {
                    $($(Self::$variant(args) => $module::run(args, invocation),)*)*
                }
            }
        }

        /// The names of the verbs under their headings in the help.
        pub(crate) const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$($name),*])),*];
    };
}

verbs! {
    "Common" {
        #[command(visible_alias = "ls")]
        "list" List(list::ListArgs),
        "tools" Tools(tools::ToolsArgs),
        "call" Call(call::CallArgs),
        "add" Add(add::AddArgs),
        "doctor" Doctor(doctor::DoctorArgs),
    }
    "Inspect" {
        "status" Status(status::StatusArgs),
        "test" Test(test::TestArgs),
        "get" Get(get::GetArgs),
        "explain" Explain(explain::ExplainArgs),
        "resources" Resources(resources::ResourcesArgs),
        "prompts" Prompts(prompts::PromptsArgs),
        "logs" Logs(logs::LogsArgs),
    }
    "Use" {
        "read" Read(read::ReadArgs),
        "prompt" Prompt(prompt::PromptArgs),
        "reconnect" Reconnect(reconnect::ReconnectArgs),
    }
    "Sign in" {
        #[command(visible_alias = "reauth")]
        "login" Login(login::LoginArgs),
        #[command(visible_alias = "unauth")]
        "logout" Logout(logout::LogoutArgs),
        "credentials" Credentials(credentials::CredentialsArgs),
    }
    "Manage" {
        "add-json" AddJson(add_json::AddJsonArgs),
        #[command(visible_alias = "rm")]
        "remove" Remove(remove::RemoveArgs),
        "enable" Enable(enable::EnableArgs),
        "disable" Disable(disable::DisableArgs),
        "import" Import(import::ImportArgs),
        "export" Export(export::ExportArgs),
    }
    "Trust" {
        "trust" Trust(trust::TrustArgs),
        "untrust" Untrust(untrust::UntrustArgs),
    }
    "Wharf itself" {
        "config" Config(config::ConfigArgs),
        "cache" Cache(cache::CacheArgs),
        "mcp" Mcp(mcp::McpArgs),
        "completions" Completions(completions::CompletionsArgs),
        #[command(hide = true)]
        "complete" Complete(complete::CompleteArgs),
        "man" Man(man::ManArgs),
    }
}

impl Verb {
    /// Tells whether the verb changes definitions. Such a verb does not load the catalog, so it must
    /// report the effects of a project's settings by itself.
    pub(crate) fn changes_definitions(&self) -> bool {
        matches!(
            self,
            Self::Add(_)
                | Self::AddJson(_)
                | Self::Remove(_)
                | Self::Enable(_)
                | Self::Disable(_)
                | Self::Import(_)
                | Self::Export(_)
        )
    }
}
