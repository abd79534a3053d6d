//! `wharf prompt NAME`: fills in a prompt of a server and prints the resulting messages.

use clap::Args;
use serde::Serialize;
use wharf::Runtime;
use wharf::protocol::Json;
use wharf::protocol::view::{Content, PromptResult, Role};
use wharf_config::Problem;
use wharf_config::text::clean;

use super::connect::{self, MatchingServers, SoughtItem};
use super::{Exit, Failure, Invocation, file_values};
use crate::ui::{Lines, phrase, print_json, style};

/// Fill in a prompt, and print the resulting messages
///
/// A prompt is named by its name, as server/name, or as two words. Without a server, the server
/// that lists the prompt is used. Arguments are texts: key=@file takes the text of a file, and
/// key=@@text is a text that begins with @.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf prompt review
  wharf prompt docs/review                   the prompt of one server
  wharf prompt docs review                   the same
  wharf prompt review file=main.rs style=short
  wharf prompt review code=@main.rs          the text of a file
  wharf prompt --server docs summary --json")]
pub(crate) struct PromptArgs {
    /// The prompt's name, or server/name
    name: String,
    /// Arguments of the prompt: key=value, or key=@file
    #[arg(value_name = "KEY=VALUE")]
    words: Vec<String>,
    /// The server that has it
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
}

#[derive(Serialize)]
struct PromptJson<'a> {
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    messages: Vec<Json>,
    /// Values that were omitted from the servers' configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

/// Fills in a prompt.
pub(crate) fn run(args: &PromptArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let named = PromptTarget::of(args, invocation)?;
    let arguments = pairs(&file_values::read_into(named.words, &invocation.env)?)?;
    let catalog = match &named.server {
        Some(server) => connect::select_one(server, invocation)?,
        None => connect::select_all(invocation)?,
    };
    let work = async |runtime: &Runtime| {
        let server = match &named.server {
            Some(server) => server.clone(),
            None => find_server(&named.prompt, runtime).await?,
        };
        let result = runtime.get_prompt(&server, &named.prompt, &arguments).await;
        result
            .map(|result| (server, result, connect::omissions(&runtime.snapshot())))
            .map_err(connect::request_failure)
    };
    connect::with_servers(invocation, &catalog, work, |result| {
        let (server, result, problems) = result?;
        show(&server, &result, problems, invocation)
    })
}

/// The server, the prompt and the arguments that were typed.
struct PromptTarget<'a> {
    server: Option<String>,
    prompt: String,
    words: &'a [String],
}

impl<'a> PromptTarget<'a> {
    fn of(args: &'a PromptArgs, invocation: &Invocation) -> Result<Self, Failure> {
        let (words, prompt) = (&args.words[..], args.name.clone());
        if args.server.is_some() {
            return Ok(Self { server: args.server.clone(), prompt, words });
        }
        if let Some((second, rest)) = words.split_first()
            && !second.contains('=')
            && connect::is_server(&prompt, invocation)?
        {
            return Ok(Self { server: Some(prompt), prompt: second.clone(), words: rest });
        }
        let parts = connect::split_server(&prompt, invocation)?;
        let (server, prompt) = parts.map_or((None, prompt), |(server, name)| (Some(server), name));
        Ok(Self { server, prompt, words })
    }
}

/// Finds the server that lists a prompt.
async fn find_server(name: &str, runtime: &Runtime) -> Result<String, Failure> {
    let snapshot = connect::settled_except_failing(runtime).await;
    let listed = runtime.prompts(None).await.items;
    let named = listed.iter().filter(|(_, prompt)| *prompt.name() == name);
    let matching = MatchingServers::new(named.map(|(server, _)| server.as_str()));
    matching.only(&SoughtItem { what: "Prompt", name }, &snapshot)
}

fn pairs(words: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |word: &String| match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Failure::BadArguments {
            message: format!("{} is not of the form key=value", phrase::quoted(word)),
            hint: None,
            usage: None,
        }),
    };
    words.iter().map(pair).collect()
}

fn show(
    server: &str,
    result: &PromptResult,
    problems: Vec<Problem>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let messages = result.messages();
    if invocation.ui.json {
        print_json(&PromptJson {
            server,
            description: result.description().map(|text| text.to_string()),
            messages: messages.iter().map(|message| message.raw().clone()).collect(),
            problems,
        })?;
        return Ok(Exit::Success);
    }
    let mut lines = Lines::default();
    for (index, message) in messages.iter().enumerate() {
        if index > 0 {
            lines.add("");
        }
        let role = match message.role() {
            Role::Assistant => "assistant:",
            Role::User => "user:",
        };
        lines.add(style::strong(role));
        for block in message.content() {
            match block.content() {
                Content::Text(text) => lines.add(phrase::lines(text)),
                other => lines.add(format!("[{}]", clean(&kind_of(other)))),
            }
        }
    }
    invocation.ui.data(&lines.into_text())?;
    Ok(Exit::Success)
}

/// Describes content that is not text.
fn kind_of(content: &Content) -> String {
    let with = |kind: &str, more: Option<&str>| match more {
        Some(more) => format!("{kind} {more}"),
        None => kind.to_owned(),
    };
    match content {
        Content::Image { mime_type, .. } => with("image", mime_type.as_deref()),
        Content::Audio { mime_type, .. } => with("audio", mime_type.as_deref()),
        Content::Link(resource) => with("link", Some(resource.uri())),
        Content::Embedded(contents) => with("resource", contents.uri().as_deref()),
        _ => "unknown content".to_owned(),
    }
}
