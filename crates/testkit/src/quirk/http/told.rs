//! A server that fails a call in the way the call itself asks for, and counts what it executed.
//!
//! The argument `do` has two words: `ran` or `not`, for whether the call is executed before the
//! failure, and the failure. A call that comes a second time is executed and answered, so whoever
//! repeats one that `ran` makes it run twice.

use serde_json::Value;

use super::Entry;
use super::script::{Script, Step, chunk, event, json, plain, response, send, stream_head};
use super::site::{Act, Site, bad_session, refused};
use super::wire::Incoming;
use crate::quirk::answers::{self, Refusal, Request};
use crate::quirk::mode::{Era, WORKS};

pub(super) const QUIRKS: &[Entry] = &[Entry::new(
    "as-told",
    "does to a call what its argument `do` says",
    WORKS,
    Act::Code(answer),
)];

/// The failures it knows; those for a legacy session do nothing in the modern era.
pub const FAILURES: &[&str] = &[
    "400",
    "400-session",
    "401",
    "403",
    "404-ours",
    "408",
    "429",
    "500",
    "500-ours",
    "502",
    "503",
    "504",
    "307",
    "308",
    "null-id",
    "other-id",
    "text",
    "header-mismatch",
    "version",
    "close",
    "reset",
    "cut",
    "session-gone",
];

fn answer(site: &mut Site, incoming: &Incoming) -> Option<Script> {
    let call = incoming.call()?;
    let text = call.params.pointer("/arguments/text").and_then(Value::as_str).unwrap_or_default();
    let told = call.params.pointer("/arguments/do").and_then(Value::as_str).unwrap_or_default();
    let (when, failure) = told.split_once(' ').unwrap_or_default();
    if site.without_session(incoming).is_some() && site.era == Era::Legacy {
        return None;
    }
    let is_first = site.has_not_met(text);
    if !is_first || when != "not" {
        site.execute(text);
    }
    if is_first { fail(site, call, failure) } else { None }
}

fn fail(site: &mut Site, call: &Request, failure: &str) -> Option<Script> {
    let error = |code| Refusal::new(code, "the crane broke");
    let ours = |status: &str, code| refused(call, status, error(code));
    let status = |status: &str| vec![send(plain(status, "the crane broke"))];
    Some(match failure {
        "400" => status("400 Bad Request"),
        "401" => status("401 Unauthorized"),
        "403" => status("403 Forbidden"),
        "408" => status("408 Request Timeout"),
        "429" => status("429 Too Many Requests"),
        "500" => status("500 Internal Server Error"),
        "502" => status("502 Bad Gateway"),
        "503" => status("503 Service Unavailable"),
        "504" => status("504 Gateway Timeout"),
        "404-ours" => ours("404 Not Found", -32000),
        "500-ours" => ours("500 Internal Server Error", -32603),
        "header-mismatch" => ours("400 Bad Request", -32020),
        "version" => ours("400 Bad Request", -32022),
        "307" | "308" => {
            vec![send(response(&format!("{failure} Moved"), "Location: /moved\r\n", ""))]
        }
        "null-id" => vec![send(json("200 OK", &answers::reply("null", &Err(error(-32603)))))],
        "other-id" => vec![send(json("200 OK", &answers::reply("999999", &Err(error(-32603)))))],
        "text" => vec![send(plain("200 OK", "the crane broke"))],
        "close" => vec![Step::Close],
        "reset" => vec![Step::Reset],
        "cut" => {
            let comment = event(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
            vec![send(stream_head() + &chunk(&comment)), Step::Close]
        }
        "400-session" if site.era == Era::Legacy => {
            site.session = None;
            bad_session("400 Bad Request", -32000, "Bad Request: No valid session ID provided")
        }
        "session-gone" if site.era == Era::Legacy => {
            site.session = None;
            bad_session("404 Not Found", -32001, "Session not found")
        }
        _ => return None,
    })
}
