//! Quirks of legacy sessions: lost, changed, odd, and what DELETE and notifications get.

use super::Entry;
use super::script::{Script, Step, html, json, plain, response, send};
use super::site::{Act, Site, accepted, bad_session};
use super::wire::Incoming;
use crate::quirk::answers;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

const fn legacy(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Site, &Incoming) -> Option<Script>,
) -> Entry {
    Entry::new(name, sentence, expect, Act::Code(act)).legacy()
}

const JSON: &str = "Content-Type: application/json\r\n";

pub(super) const QUIRKS: &[Entry] = &[
    legacy("session-none", "has no sessions", WORKS, |site, incoming| {
        if !incoming.is("POST") || incoming.method() == "server/discover" {
            return None;
        }
        Some(site.answered(incoming))
    }),
    legacy(
        "session-lost",
        "forgets the session at the first call (404), and takes a new one",
        WORKS,
        |site, incoming| {
            if incoming.method() == "tools/call" && site.times("tools/call") == 1 {
                site.session = Some("forgotten".to_owned());
            }
            None
        },
    ),
    legacy(
        "session-lost-400",
        "forgets the session at the first call and says so with 400, which proves nothing",
        call_fails(Failure::Refused),
        |site, incoming| {
            incoming.call()?;
            (site.times("tools/call") == 1).then(|| {
                site.session = None;
                let message = "Bad Request: No valid session ID provided";
                bad_session("400 Bad Request", -32000, message)
            })
        },
    ),
    legacy(
        "session-lost-page",
        "forgets the session at the first call and says so with a page (404)",
        WORKS,
        |site, incoming| {
            incoming.call()?;
            (site.times("tools/call") == 1).then(|| {
                site.session = None;
                vec![send(html("404 Not Found"))]
            })
        },
    ),
    legacy(
        "session-lost-on-list",
        "forgets the session at the first list (404)",
        WORKS,
        |site, incoming| {
            if incoming.method() == "tools/list" && site.times("tools/list") == 1 {
                site.session = Some("forgotten".to_owned());
            }
            None
        },
    ),
    legacy(
        "session-lost-for-ever",
        "knows no session after `initialize`",
        Expect::ListFails { because: Failure::Any },
        |site, incoming| {
            if incoming.method() == "tools/list" {
                site.session = Some("forgotten".to_owned());
            }
            None
        },
    ),
    legacy(
        "session-changes",
        "gives a new session with every answer and wants the newest",
        WORKS,
        |site, incoming| {
            let request = incoming.request()?;
            if request.method == "initialize" || site.without_session(incoming).is_some() {
                return None;
            }
            let reply = answers::reply(request.id(), &answers::answer(site.era, request));
            let session = site.new_session();
            let headers = format!("{JSON}Mcp-Session-Id: {session}\r\n");
            Some(vec![send(response("200 OK", &headers, &reply))])
        },
    ),
    legacy(
        "session-odd",
        "has a session with every sign that is allowed",
        WORKS,
        |site, incoming| named_session(site, incoming, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    ),
    legacy("session-long", "has a session of 4 000 characters", WORKS, |site, incoming| {
        named_session(site, incoming, &"b".repeat(4_000))
    }),
    legacy("session-empty", "has an empty session, which is none", WORKS, |site, incoming| {
        if !incoming.is("POST") || incoming.method() == "server/discover" {
            return None;
        }
        if incoming.method() == "initialize" {
            return Some(site.initialized(incoming, "Mcp-Session-Id: \r\n"));
        }
        Some(site.answered(incoming))
    }),
    legacy("session-lower-case", "writes its session header in lower case", WORKS, |site, i| {
        (i.method() == "initialize").then(|| {
            let session = site.new_session();
            site.initialized(i, &format!("mcp-session-id: {session}\r\n"))
        })
    }),
    legacy("delete-405", "does not let go of sessions (405)", WORKS, |_, incoming| {
        incoming.is("DELETE").then(|| vec![send(plain("405 Method Not Allowed", "no"))])
    }),
    legacy("delete-404", "does not know DELETE (404)", WORKS, |_, incoming| {
        incoming.is("DELETE").then(|| vec![send(html("404 Not Found"))])
    }),
    legacy("delete-500", "fails to let go of sessions (500)", WORKS, |_, incoming| {
        incoming.is("DELETE").then(|| vec![send(plain("500 Internal Server Error", "no"))])
    }),
    legacy("delete-hangs", "never answers DELETE", WORKS, |_, incoming| {
        incoming.is("DELETE").then(|| vec![Step::Hang])
    }),
    legacy("notification-200", "answers notifications with 200 and `{}`", WORKS, |_, incoming| {
        is_told(incoming).then(|| vec![send(json("200 OK", "{}"))])
    }),
    legacy("notification-204", "answers notifications with 204", WORKS, |_, incoming| {
        is_told(incoming).then(|| vec![send("HTTP/1.1 204 No Content\r\n\r\n")])
    }),
    legacy("notification-202-text", "answers notifications with 202 and a word", WORKS, |_, i| {
        is_told(i).then(|| vec![send(plain("202 Accepted", "Accepted"))])
    }),
    legacy("notification-refused", "refuses notifications (400)", WARNS, |_, incoming| {
        is_told(incoming).then(|| bad_session("400 Bad Request", -32601, "Method not found"))
    }),
    legacy("notification-hangs", "never answers notifications", WARNS, |_, incoming| {
        is_told(incoming).then(|| vec![Step::Hang])
    }),
    legacy("notification-slow", "answers notifications after 200 ms", WORKS, |site, incoming| {
        let mut script = vec![Step::Wait(site.delay(200))];
        script.extend(accepted());
        is_told(incoming).then_some(script)
    })
    .tagged(&[Tag::Waits]),
    legacy(
        "needs-initialized",
        "refuses everything until it got `notifications/initialized`",
        WORKS,
        |site, incoming| {
            let request = incoming.request()?;
            let early = site.times("notifications/initialized") == 0
                && !["initialize", "server/discover"].contains(&request.method.as_str());
            early.then(|| bad_session("400 Bad Request", -32002, "Server not initialized"))
        },
    ),
    legacy(
        "needs-version-header",
        "refuses every request after `initialize` without the right `MCP-Protocol-Version`",
        WORKS,
        |_, incoming| {
            let is_free = ["initialize", "server/discover"].contains(&incoming.method());
            let is_right = incoming.header("mcp-protocol-version") == Some(answers::LATEST_LEGACY);
            (!is_free && !is_right).then(|| {
                bad_session("400 Bad Request", -32000, "Bad Request: Unsupported protocol version")
            })
        },
    ),
    legacy(
        "needs-accept",
        "refuses requests that do not accept both kinds of replies (406)",
        WORKS,
        |_, incoming| {
            let accepts = incoming.header("accept").unwrap_or_default();
            let both =
                accepts.contains("application/json") && accepts.contains("text/event-stream");
            (incoming.is("POST") && !both)
                .then(|| bad_session("406 Not Acceptable", -32000, "Not Acceptable"))
        },
    ),
];

fn is_told(incoming: &Incoming) -> bool {
    incoming.asked.is_some() && incoming.request().is_none()
}

fn named_session(site: &mut Site, incoming: &Incoming, name: &str) -> Option<Script> {
    (incoming.method() == "initialize").then(|| {
        site.session = Some(name.to_owned());
        site.initialized(incoming, &format!("Mcp-Session-Id: {name}\r\n"))
    })
}
