//! Quirks of servers that fail: broken connections, stalls, statuses, redirects.

use super::Entry;
use super::script::{Script, Step, chunk, event, html, plain, response, send, stream_head};
use super::site::{Act, Site};
use super::wire::Incoming;
use crate::quirk::mode::{Expect, Failure, Tag, WORKS, call_fails};

/// Does this to a call.
const fn on_call(
    name: &'static str,
    sentence: &'static str,
    because: Failure,
    script: fn(&str) -> Script,
) -> Entry {
    Entry::new(name, sentence, call_fails(because), Act::Fail(script))
}

/// Does this to every request, unless it returns nothing.
const fn always(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Site, &Incoming) -> Option<Script>,
) -> Entry {
    Entry::new(name, sentence, expect, Act::Code(act))
}

const fn not_connected(because: Failure) -> Expect {
    Expect::ConnectFails { because }
}

const BEARER: &str = "WWW-Authenticate: Bearer resource_metadata=\"http://127.0.0.1:9/.well-known/oauth-protected-resource\"\r\n";

pub(super) const QUIRKS: &[Entry] = &[
    on_call("drops-before-head", "closes without a word when it is called", Failure::Ended, |_| {
        vec![Step::Close]
    }),
    on_call("drops-in-head", "closes in the middle of the headers", Failure::Ended, |_| {
        vec![send("HTTP/1.1 200 OK\r\nContent-Ty"), Step::Close]
    }),
    on_call("drops-after-head", "closes after the headers", Failure::Ended, |reply| {
        vec![send(promised(reply)), Step::Close]
    }),
    on_call("drops-in-body", "closes in the middle of the body", Failure::Ended, |reply| {
        vec![send(promised(reply) + &reply[..reply.len() / 2]), Step::Close]
    }),
    on_call("drops-in-chunk", "closes in the middle of a chunk", Failure::Ended, |reply| {
        let chunk = chunk(reply);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        vec![send(format!("{head}{}", &chunk[..chunk.len() / 2])), Step::Close]
    }),
    on_call("resets", "breaks the connection when it is called", Failure::Ended, |_| {
        vec![Step::Reset]
    }),
    on_call(
        "resets-in-body",
        "breaks the connection in the middle of the body",
        Failure::Ended,
        |reply| vec![send(promised(reply) + &reply[..reply.len() / 2]), Step::Reset],
    ),
    on_call("stalls-before-head", "never answers a call", Failure::TimedOut, |_| vec![Step::Hang]),
    on_call("stalls-in-head", "stops in the middle of the headers", Failure::TimedOut, |_| {
        vec![send("HTTP/1.1 200 OK\r\nContent-Ty"), Step::Hang]
    }),
    on_call("stalls-in-body", "stops in the middle of the body", Failure::TimedOut, |reply| {
        vec![send(promised(reply) + &reply[..reply.len() / 2]), Step::Hang]
    }),
    on_call("stalls-in-event", "stops in the middle of an event", Failure::TimedOut, |reply| {
        let event = event(reply);
        vec![send(stream_head() + &chunk(&event[..event.len() / 2])), Step::Hang]
    }),
    on_call("bad-chunks", "sends chunks whose sizes are no numbers", Failure::Any, |reply| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        vec![send(format!("{head}many\r\n{reply}\r\n0\r\n\r\n")), Step::Close]
    }),
    on_call("status-401-on-call", "wants a sign-in for a call", Failure::NeedsAuth, |_| {
        vec![send(response("401 Unauthorized", BEARER, ""))]
    }),
    on_call("status-403-on-call", "wants more scope for a call", Failure::NeedsAuth, |_| {
        let challenge =
            "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"crane:lift\"\r\n";
        vec![send(response("403 Forbidden", challenge, ""))]
    }),
    on_call("status-413", "says that a call is too large", Failure::Refused, |_| {
        vec![send(plain("413 Content Too Large", "too large"))]
    }),
    always(
        "drops-always",
        "closes every connection without a word",
        not_connected(Failure::Ended),
        |_, _| Some(vec![Step::Close]),
    ),
    always("stalls-always", "never answers", not_connected(Failure::TimedOut), |_, _| {
        Some(vec![Step::Hang])
    }),
    always("status-500", "answers 500 for ever", not_connected(Failure::Refused), |_, _| {
        Some(vec![send(plain("500 Internal Server Error", "the crane broke"))])
    }),
    always(
        "status-502",
        "answers 502 and a page for ever",
        not_connected(Failure::Refused),
        |_, _| Some(vec![send(html("502 Bad Gateway"))]),
    ),
    always("status-503-once", "answers its first request with 503", WORKS, |site, _| {
        let busy = response("503 Service Unavailable", "Retry-After: 0\r\n", "");
        (site.times("POST") == 1).then(|| vec![send(busy)])
    }),
    Entry::new(
        "status-503-call-once",
        "answers its first call with 503; a call is not repeated after that",
        call_fails(Failure::Refused),
        Act::Code(|site, incoming| {
            incoming.call()?;
            let busy = response("503 Service Unavailable", "Retry-After: 0\r\n", "");
            (site.times("tools/call") == 1).then(|| vec![send(busy)])
        }),
    ),
    always("status-429", "always asks for patience", not_connected(Failure::Refused), |_, _| {
        let patience = response("429 Too Many Requests", "Retry-After: 3600\r\n", "slow down");
        Some(vec![send(patience)])
    }),
    always(
        "status-429-once",
        "asks for a second of patience once, and does not insist",
        WORKS,
        |site, _| {
            let patience = response("429 Too Many Requests", "Retry-After: 1\r\n", "slow down");
            (site.times("POST") == 1).then(|| vec![send(patience)])
        },
    )
    .tagged(&[Tag::Waits]),
    always(
        "status-401",
        "wants a sign-in, and says where",
        not_connected(Failure::NeedsAuth),
        |_, _| {
            Some(vec![send(response("401 Unauthorized", BEARER, r#"{"error":"invalid_token"}"#))])
        },
    ),
    always(
        "status-401-bare",
        "wants a sign-in, and does not say where",
        not_connected(Failure::NeedsAuth),
        |_, _| Some(vec![send(plain("401 Unauthorized", "sign in"))]),
    ),
    always("status-401-basic", "wants a password", not_connected(Failure::NeedsAuth), |_, _| {
        let challenge =
            "WWW-Authenticate: Basic realm=\"harbour\"\r\nWWW-Authenticate: Negotiate, Bearer\r\n";
        Some(vec![send(response("401 Unauthorized", challenge, ""))])
    }),
    always("status-403", "forbids everything", not_connected(Failure::Any), |_, _| {
        Some(vec![send(plain("403 Forbidden", "Invalid origin"))])
    }),
    always("status-404", "is not there", not_connected(Failure::Refused), |_, _| {
        Some(vec![send(html("404 Not Found"))])
    }),
    always("status-410", "is gone", not_connected(Failure::Refused), |_, _| {
        Some(vec![send(plain("410 Gone", "gone"))])
    }),
    always(
        "status-418",
        "answers with a status that nobody expects",
        not_connected(Failure::Refused),
        |_, _| Some(vec![send(plain("418 I'm a teapot", "short and stout"))]),
    ),
    always("redirect-307", "moved within its origin (307)", WORKS, |_, i| moved(i, "307")),
    always("redirect-308", "moved within its origin (308)", WORKS, |_, i| moved(i, "308")),
    always("redirect-301", "moved within its origin (301)", WORKS, |_, incoming| {
        moved(incoming, "301")
    }),
    always("redirect-302", "moved within its origin (302)", WORKS, |_, incoming| {
        moved(incoming, "302")
    }),
    always(
        "redirect-303",
        "sends every request elsewhere by GET (303)",
        not_connected(Failure::Any),
        |_, incoming| {
            if incoming.seen.path == "/moved" {
                return Some(vec![send(html("200 OK"))]);
            }
            moved(incoming, "303")
        },
    ),
    always(
        "redirect-across",
        "moved to another origin (307), which must not get the credentials",
        Expect::ConnectFails { because: Failure::Forbidden },
        |site, incoming| {
            let elsewhere = format!("http://{}/mcp", site.elsewhere);
            (!incoming.seen.at_other_origin).then(|| redirected("307", &elsewhere))
        },
    ),
    always(
        "redirect-in-circles",
        "moves in circles",
        not_connected(Failure::Any),
        |_, incoming| {
            let next = if incoming.seen.path == "/mcp" { "/moved" } else { "/mcp" };
            Some(redirected("307", next))
        },
    ),
    always("redirect-endless", "moves on and on", not_connected(Failure::Any), |site, _| {
        Some(redirected("307", &format!("/moved-{}", site.times("POST"))))
    }),
    always(
        "redirect-nowhere",
        "moved, and does not say where",
        not_connected(Failure::Any),
        |_, _| Some(vec![send(response("307 Temporary Redirect", "", ""))]),
    ),
    always("redirect-to-file", "moved to a file", not_connected(Failure::Forbidden), |_, _| {
        Some(redirected("307", "file:///etc/hostname"))
    }),
    Entry::new(
        "redirect-call-across",
        "sends calls to another origin (307), where a call must not be sent again",
        call_fails(Failure::Refused),
        Act::Code(|site, incoming| {
            incoming.call()?;
            let elsewhere = format!("http://{}/mcp", site.elsewhere);
            (!incoming.seen.at_other_origin).then(|| redirected("307", &elsewhere))
        }),
    ),
];

/// Headers that promise the whole body.
fn promised(reply: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        reply.len()
    )
}

/// Sends requests for `/mcp` to `/moved`, which works.
fn moved(incoming: &Incoming, status: &str) -> Option<Script> {
    (incoming.seen.path == "/mcp").then(|| redirected(status, "/moved"))
}

fn redirected(status: &str, location: &str) -> Script {
    vec![send(response(&format!("{status} Moved"), &format!("Location: {location}\r\n"), ""))]
}
