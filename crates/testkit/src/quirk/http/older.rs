//! Quirks of servers with the oldest transport, HTTP+SSE: a stream by GET, messages by POST.
//!
//! The stream comes first and names the address for messages; the replies come on the stream.

use super::Entry;
use super::script::{Push, Script, Step, chunk, event, html, json, plain, send, stream_head};
use super::site::{Act, Site, accepted, bad_session};
use super::wire::Incoming;
use crate::quirk::answers;
use crate::quirk::mode::{Expect, Failure, Tag, WORKS, call_fails};

const fn older(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Site, &Incoming) -> Script,
) -> Entry {
    Entry::new(name, sentence, expect, Act::All(act)).legacy()
}

/// Where messages go, as most servers say it.
const ENDPOINT: &str = "event: endpoint\ndata: /messages?sessionId=berth-1\n\n";

const FORBIDDEN: Expect = Expect::ConnectFails { because: Failure::Forbidden };
const NOT_CONNECTED: Expect = Expect::ConnectFails { because: Failure::Any };

pub(super) const QUIRKS: &[Entry] = &[
    older("sse", "has the oldest transport, and refuses POST with 405", WORKS, |site, incoming| {
        good(site, incoming, ENDPOINT, &plain("405 Method Not Allowed", "Method Not Allowed"))
    }),
    older("sse-post-404", "refuses POST with 404 and a page", WORKS, |site, incoming| {
        good(site, incoming, ENDPOINT, &html("404 Not Found"))
    }),
    older(
        "sse-post-400",
        "refuses POST with 400 \"Missing sessionId\"",
        WORKS,
        |site, incoming| {
            good(site, incoming, ENDPOINT, &plain("400 Bad Request", "Missing sessionId"))
        },
    ),
    older("sse-relative", "names an address relative to its own", WORKS, |site, incoming| {
        good(site, incoming, "event: endpoint\ndata: messages?sessionId=berth-1\n\n", &no_post())
    }),
    older("sse-query-only", "names an address that is only a query", WORKS, |site, incoming| {
        if incoming.is("POST") && incoming.seen.path == "/mcp?sessionId=berth-1" {
            return taken(site, incoming);
        }
        good(site, incoming, "event: endpoint\ndata: ?sessionId=berth-1\n\n", &no_post())
    }),
    older("sse-absolute", "names a whole address", WORKS, |site, incoming| {
        let host = incoming.header("host").unwrap_or_default();
        let endpoint =
            format!("event: endpoint\ndata: http://{host}/messages?sessionId=berth-1\n\n");
        good(site, incoming, &endpoint, &no_post())
    }),
    older("sse-across", "names an address of another origin", FORBIDDEN, |site, incoming| {
        let endpoint = format!("event: endpoint\ndata: http://{}/messages\n\n", site.elsewhere);
        good(site, incoming, &endpoint, &no_post())
    }),
    older("sse-across-scheme-less", "names another origin without a scheme", FORBIDDEN, |s, i| {
        let endpoint = format!("event: endpoint\ndata: //{}/messages\n\n", s.elsewhere);
        good(s, i, &endpoint, &no_post())
    }),
    older("sse-to-file", "names a file as its address", FORBIDDEN, |site, incoming| {
        good(site, incoming, "event: endpoint\ndata: file:///messages\n\n", &no_post())
    }),
    older("sse-nowhere", "names an empty address", NOT_CONNECTED, |site, incoming| {
        good(site, incoming, "event: endpoint\ndata: \n\n", &no_post())
    }),
    older(
        "sse-json-endpoint",
        "names its address inside of JSON, where nobody looks for it",
        Expect::ConnectFails { because: Failure::Refused },
        |site, incoming| {
            let endpoint = "event: endpoint\ndata: {\"uri\":\"/messages?sessionId=berth-1\"}\n\n";
            good(site, incoming, endpoint, &no_post())
        },
    ),
    older("sse-late", "names its address after 300 ms", WORKS, |site, incoming| {
        if !incoming.is("GET") {
            return good(site, incoming, ENDPOINT, &no_post());
        }
        let follow = Step::Follow(site.open_stream());
        let wait = Step::Wait(site.delay(300));
        vec![send(stream_head()), wait, send(chunk(ENDPOINT)), follow]
    })
    .tagged(&[Tag::Waits]),
    older(
        "sse-never",
        "never names its address",
        Expect::ConnectFails { because: Failure::TimedOut },
        |site, incoming| good(site, incoming, ": hello\n\n", &no_post()),
    ),
    older("sse-chatty", "sends comments and other events before its address", WORKS, |s, i| {
        let chat = "retry: 10\n\n: hello\n\nevent: ping\ndata: 1\n\nid: 0\nevent: endpoint\r\ndata:/messages?sessionId=berth-1\r\n\r\n";
        good(s, i, chat, &no_post())
    }),
    older("sse-twice", "names two addresses; the first works", WORKS, |site, incoming| {
        let twice = format!("{ENDPOINT}event: endpoint\ndata: /nowhere\n\n");
        good(site, incoming, &twice, &no_post())
    }),
    older("sse-session-again", "names a session that the POST must carry", WORKS, |site, i| {
        if i.is("POST") && i.seen.path == "/messages" {
            return bad_session("400 Bad Request", -32000, "Missing sessionId");
        }
        good(site, i, ENDPOINT, &no_post())
    }),
    older("sse-200-text", "takes messages with 200 and a word", WORKS, |site, incoming| {
        at_messages(site, incoming, |_, _| vec![send(plain("200 OK", "Accepted"))])
    }),
    older("sse-200-empty", "takes messages with 200 and nothing", WORKS, |site, incoming| {
        at_messages(site, incoming, |_, _| vec![send(plain("200 OK", ""))])
    }),
    older("sse-204", "takes messages with 204", WORKS, |site, incoming| {
        at_messages(site, incoming, |_, _| vec![send("HTTP/1.1 204 No Content\r\n\r\n")])
    }),
    older("sse-reply-in-post", "answers in the POST as well as on the stream", WORKS, |site, i| {
        at_messages(site, i, |_, reply| vec![send(json("200 OK", reply))])
    }),
    older(
        "sse-reply-in-post-only",
        "answers in the POST and not on the stream",
        WORKS,
        |site, incoming| {
            if incoming.is("POST") && incoming.seen.path.starts_with("/messages") {
                return site.answered(incoming);
            }
            good(site, incoming, ENDPOINT, &no_post())
        },
    ),
    older(
        "sse-slow-post",
        "answers on the stream 100 ms before it takes the POST",
        WORKS,
        |s, i| {
            at_messages(s, i, |site, _| {
                let mut script = vec![Step::Wait(site.delay(100))];
                script.extend(accepted());
                script
            })
        },
    )
    .tagged(&[Tag::Waits]),
    older(
        "sse-post-hangs",
        "answers on the stream and never takes the POST",
        Expect::Works { tools: 2, warnings: true },
        |site, incoming| at_messages(site, incoming, |_, _| vec![Step::Hang]),
    ),
    older("sse-nameless", "sends messages without an event name", WORKS, |site, incoming| {
        if incoming.is("POST") && incoming.seen.path.starts_with("/messages") {
            if let Some(request) = incoming.request() {
                let reply = answers::reply(request.id(), &answers::answer(site.era, request));
                site.push(&format!(": x\n\ndata: {reply}\n\n"));
            }
            return accepted();
        }
        good(site, incoming, ENDPOINT, &no_post())
    }),
    older(
        "sse-call-refused",
        "refuses the POST of a call with 500",
        call_fails(Failure::Refused),
        |site, incoming| match incoming.call() {
            Some(_) => vec![send(plain("500 Internal Server Error", "no"))],
            None => good(site, incoming, ENDPOINT, &no_post()),
        },
    ),
    older(
        "sse-drops-in-call",
        "closes its stream in the middle of a call",
        call_fails(Failure::Ended),
        |site, incoming| {
            if incoming.call().is_some() {
                site.push_raw(Push::Cut);
                return accepted();
            }
            good(site, incoming, ENDPOINT, &no_post())
        },
    ),
    older(
        "sse-ends-in-call",
        "ends its stream in the middle of a call, as it should be ended",
        call_fails(Failure::Ended),
        |site, incoming| {
            if incoming.call().is_some() {
                site.push_raw(Push::Finish);
                return accepted();
            }
            good(site, incoming, ENDPOINT, &no_post())
        },
    ),
    older("sse-asks", "pings on its stream before it answers a call", WORKS, |site, incoming| {
        if incoming.call().is_some() {
            site.push(&event(r#"{"jsonrpc":"2.0","id":"question","method":"ping"}"#));
        }
        good(site, incoming, ENDPOINT, &no_post())
    }),
    older(
        "sse-page",
        "answers GET with a page and POST with 404",
        Expect::ConnectFails { because: Failure::Any },
        |_, incoming| {
            let status = if incoming.is("GET") { "200 OK" } else { "404 Not Found" };
            vec![send(html(status))]
        },
    ),
];

/// How a good server of this kind refuses a POST to the address of its stream.
fn no_post() -> String {
    plain("405 Method Not Allowed", "Method Not Allowed")
}

/// Does what a good server of this kind does; `first` is what its stream starts with.
fn good(site: &mut Site, incoming: &Incoming, first: &str, no_post: &str) -> Script {
    if incoming.is("GET") {
        let follow = Step::Follow(site.open_stream());
        return vec![send(stream_head() + &chunk(first)), follow];
    }
    if !incoming.is("POST") || !incoming.seen.path.starts_with("/messages") {
        return vec![send(no_post.to_owned())];
    }
    taken(site, incoming)
}

/// Takes a message and answers it on the stream.
fn taken(site: &mut Site, incoming: &Incoming) -> Script {
    if let Some(request) = incoming.request() {
        let answer = answers::answer(site.era, request);
        site.push(&event(answers::reply(request.id(), &answer)));
    }
    accepted()
}

/// Takes a message like a good server, but answers the POST otherwise.
fn at_messages(site: &mut Site, incoming: &Incoming, respond: fn(&Site, &str) -> Script) -> Script {
    let script = good(site, incoming, ENDPOINT, &no_post());
    if !incoming.is("POST") || !incoming.seen.path.starts_with("/messages") {
        return script;
    }
    let reply = incoming.request().map_or_else(String::new, |request| {
        answers::reply(request.id(), &answers::answer(site.era, request))
    });
    respond(site, &reply)
}
