//! Quirks of legacy streams: resuming after a close, the GET stream, questions on a stream.

use serde_json::Value;

use super::Entry;
use super::script::{
    LAST_CHUNK, Push, Script, Step, chunk, event, html, plain, send, stream, stream_head,
};
use super::site::{Act, Site, accepted};
use super::wire::Incoming;
use crate::quirk::answers;
use crate::quirk::mode::{Expect, Failure, Tag, WORKS, call_fails};

const fn legacy(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Site, &Incoming) -> Option<Script>,
) -> Entry {
    Entry::new(name, sentence, expect, Act::Code(act)).legacy()
}

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

pub(super) const QUIRKS: &[Entry] = &[
    legacy(
        "resume",
        "closes the stream of a call after a first event; the reply is to be had by GET with `Last-Event-ID`, 50 ms later",
        WORKS,
        |site, incoming| resume(site, incoming, "retry: 50\n", 1),
    ),
    legacy(
        "resume-without-retry",
        "does the same, and does not say when to come back",
        WORKS,
        |site, incoming| resume(site, incoming, "", 1),
    ),
    legacy("resume-thrice", "closes three times before the reply", WORKS, |site, incoming| {
        resume(site, incoming, "retry: 10\n", 3)
    }),
    legacy(
        "resume-for-ever",
        "closes again and again and never sends the reply",
        call_fails(Failure::Any),
        |site, incoming| resume(site, incoming, "retry: 10\n", u32::MAX),
    ),
    legacy(
        "resume-nonsense-retry",
        "wants the client to come back in a hundred years, which no call waits for",
        call_fails(Failure::TimedOut),
        |site, incoming| resume(site, incoming, "retry: 3155760000000\n", 1),
    ),
    legacy(
        "resume-refused",
        "closes the stream of a call after a first event and then refuses GET",
        call_fails(Failure::Any),
        |_, incoming| {
            incoming.call()?;
            Some(stream("id: e-1\ndata: \n\n"))
        },
    ),
    legacy(
        "resume-after-cut",
        "closes the connection in the middle of the body after an event with an id; the reply is to be had by GET",
        WORKS,
        |site, incoming| {
            if let Some(call) = incoming.call() {
                site.held = Some(call.clone());
                let first = format!("id: e-1\n{}", event(CHANGED));
                return Some(vec![send(stream_head() + &chunk(&first)), Step::Close]);
            }
            resumed(site, incoming, "", 1)
        },
    ),
    legacy(
        "get-stream",
        "has a GET stream that tells six times that the tools changed",
        WORKS,
        |site, incoming| {
            let follow = opened(site, incoming)?;
            Some(vec![send(stream_head() + &chunk(&event(CHANGED).repeat(6))), follow])
        },
    )
    .tagged(&[Tag::NeedsListening]),
    legacy(
        "get-asks",
        "asks on its GET stream: a ping, the roots and something unknown",
        WORKS,
        |site, incoming| {
            let follow = opened(site, incoming)?;
            let asks: String = ["ping", "roots/list", "harbour/pilot"]
                .iter()
                .map(|m| event(format!(r#"{{"jsonrpc":"2.0","id":"{m}","method":"{m}"}}"#)))
                .collect();
            Some(vec![send(stream_head() + &chunk(&asks)), follow])
        },
    )
    .tagged(&[Tag::NeedsListening]),
    legacy("get-404", "answers GET with 404 and a page", WORKS, |_, incoming| {
        incoming.is("GET").then(|| vec![send(html("404 Not Found"))])
    }),
    legacy("get-page", "answers GET with a page", WORKS, |_, incoming| {
        incoming.is("GET").then(|| vec![send(html("200 OK"))])
    }),
    legacy("get-500", "answers GET with 500", WORKS, |_, incoming| {
        incoming.is("GET").then(|| vec![send(plain("500 Internal Server Error", "no"))])
    }),
    legacy("get-hangs", "never answers GET", WORKS, |_, incoming| {
        incoming.is("GET").then(|| vec![Step::Hang])
    }),
    legacy("get-drops", "closes its GET stream at once, each time", WORKS, |_, incoming| {
        incoming.is("GET").then(|| vec![send(stream_head() + LAST_CHUNK)])
    }),
    legacy("get-resets", "breaks the connection on GET", WORKS, |_, incoming| {
        incoming.is("GET").then(|| vec![Step::Reset])
    }),
    legacy(
        "asks-on-stream",
        "pings the client on the stream of a call and waits for the answer",
        WORKS,
        |site, incoming| asks(site, incoming, "ping"),
    ),
    legacy(
        "asks-unknown-on-stream",
        "asks something unknown on the stream of a call and waits for the answer",
        WORKS,
        |site, incoming| asks(site, incoming, "harbour/pilot"),
    ),
];

/// Answers a call with a stream that ends too early.
fn resume(site: &mut Site, incoming: &Incoming, retry: &str, times: u32) -> Option<Script> {
    if let Some(call) = incoming.call() {
        site.held = Some(call.clone());
        return Some(stream(&format!("{retry}id: e-1\ndata: \n\n")));
    }
    resumed(site, incoming, retry, times)
}

/// Continues a stream; only the `times`th try brings the reply.
fn resumed(site: &mut Site, incoming: &Incoming, retry: &str, times: u32) -> Option<Script> {
    let last = incoming.header("last-event-id").filter(|_| incoming.is("GET"))?;
    let tries: u32 = last.strip_prefix("e-")?.parse().ok()?;
    if tries < times {
        return Some(stream(&format!("{retry}id: e-{}\ndata: \n\n", tries + 1)));
    }
    let call = site.held.take()?;
    let answer = answers::answer(site.era, &call);
    Some(stream(&format!("id: e-{}\n{}", tries + 1, event(answers::reply(call.id(), &answer)))))
}

/// Opens the GET stream, if this is what was asked for.
fn opened(site: &mut Site, incoming: &Incoming) -> Option<Step> {
    if !incoming.is("GET") || site.without_session(incoming).is_some() {
        return None;
    }
    Some(Step::Follow(site.open_stream()))
}

/// Asks on the stream of a call, and answers the call after the client answered.
fn asks(site: &mut Site, incoming: &Incoming, method: &str) -> Option<Script> {
    if let Some(call) = incoming.call() {
        site.held = Some(call.clone());
        let question = format!(r#"{{"jsonrpc":"2.0","id":"question","method":"{method}"}}"#);
        let follow = Step::Follow(site.open_stream());
        return Some(vec![send(stream_head() + &chunk(&event(question))), follow]);
    }
    let is_reply = incoming.message.get("id") == Some(&Value::from("question"));
    if !is_reply || site.without_session(incoming).is_some() {
        return None;
    }
    let call = site.held.take()?;
    let answer = answers::answer(site.era, &call);
    site.push(&event(answers::reply(call.id(), &answer)));
    site.push_raw(Push::Finish);
    Some(accepted())
}
