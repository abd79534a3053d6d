//! Quirks of modern servers on HTTP: headers, versions, required input, subscriptions.

use serde_json::Value;

use super::Entry;
use super::script::{
    LAST_CHUNK, Script, Step, chunk, event, html, json, response, send, stream, stream_head,
};
use super::site::{Act, Site, acknowledgement, refused};
use super::wire::Incoming;
use crate::quirk::answers::{self, Refusal, Request};
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

const fn modern(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    act: fn(&mut Site, &Incoming) -> Option<Script>,
) -> Entry {
    Entry::new(name, sentence, expect, Act::Code(act)).modern()
}

pub(super) const QUIRKS: &[Entry] = &[
    modern(
        "mismatch-once",
        "answers the first call with 400 and -32020 until the tools were listed again",
        WORKS,
        |site, incoming| {
            let request = incoming.call()?;
            (site.times("tools/list") < 2).then(|| {
                refused(request, "400 Bad Request", Refusal::new(-32020, "Header mismatch"))
            })
        },
    ),
    modern(
        "mismatch-for-ever",
        "answers every call with 400 and -32020",
        call_fails(Failure::Refused),
        |_, incoming| {
            let request = incoming.call()?;
            Some(refused(request, "400 Bad Request", Refusal::new(-32020, "Header mismatch")))
        },
    ),
    modern(
        "version-once",
        "answers the first request with 400 and -32022 although it supports the version",
        WORKS,
        |site, incoming| {
            let request = incoming.request()?;
            (site.times("POST") == 1).then(|| {
                let refusal = answers::unsupported_version(&[answers::MODERN_VERSION]);
                refused(request, "400 Bad Request", refusal)
            })
        },
    ),
    modern(
        "version-future",
        "supports a version of the far future only",
        Expect::ConnectFails { because: Failure::NoCommonVersion },
        |_, incoming| {
            let refusal = answers::unsupported_version(&["2099-01-01"]);
            Some(refused(incoming.request()?, "400 Bad Request", refusal))
        },
    ),
    modern("errors-with-200", "sends every error with the status 200", WORKS, |site, incoming| {
        let request = incoming.request()?;
        let answer = answers::answer(site.era, request);
        Some(vec![send(json("200 OK", &answers::reply(request.id(), &answer)))])
    }),
    modern("unknown-page", "answers unknown methods with 404 and a page", WORKS, |site, i| {
        let request = i.request()?;
        let unknown = answers::answer(site.era, request).is_err_and(|r| r.code == -32601);
        unknown.then(|| vec![send(html("404 Not Found"))])
    }),
    modern(
        "session-given",
        "gives a session, which modern servers do not have",
        WORKS,
        |site, i| {
            let request = i.request().filter(|request| request.method != "initialize")?;
            let reply = answers::reply(request.id(), &answers::answer(site.era, request));
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: berth-1\r\n";
            Some(vec![send(response("200 OK", headers, &reply))])
        },
    ),
    modern("tool-header", "wants the argument `text` in a header as well", WORKS, |_, incoming| {
        if let Some(request) = asked(incoming, "tools/list") {
            return Some(listed(request, ""));
        }
        let request = incoming.call()?;
        let text = request.params.pointer("/arguments/text").and_then(Value::as_str);
        let header = incoming.header("mcp-param-text");
        let is_encoded = header.is_some_and(|value| value.starts_with("=?base64?"));
        (header != text && !is_encoded).then(|| {
            refused(request, "400 Bad Request", Refusal::new(-32020, "Mcp-Param-Text is missing"))
        })
    }),
    modern(
        "tool-header-odd",
        "has tools whose `x-mcp-header` is not allowed; they must not be listed",
        WARNS,
        |_, incoming| {
            let odd = r#",{"name":"odd-object","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},{"name":"odd-name","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"bad name:"}}}},{"name":"odd-twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}}"#;
            asked(incoming, "tools/list").map(|request| listed(request, odd))
        },
    ),
    modern(
        "input-once",
        "only wants to be asked again, with its state",
        WORKS,
        |site, incoming| {
            let request = incoming.call()?;
            let state = " \u{1F6A2} \"state\" ";
            if site.held.replace(request.clone()).is_none() {
                let result = format!(
                    r#"{{"resultType":"input_required","requestState":{}}}"#,
                    Value::from(state)
                );
                return Some(vec![send(json(
                    "200 OK",
                    &answers::reply(request.id(), &Ok(result)),
                ))]);
            }
            let is_exact = request.params.get("requestState") == Some(&Value::from(state));
            (!is_exact)
                .then(|| refused(request, "200 OK", Refusal::new(-32602, "the state changed")))
        },
    ),
    modern(
        "lost-once",
        "loses its first call, which must not be sent again",
        call_fails(Failure::Ended),
        |site, incoming| {
            incoming.call()?;
            (site.times("tools/call") == 1).then(|| stream(": lost\n\n"))
        },
    ),
    listening("listen", "tells who listens that its tools changed", |_, request| {
        let changed = event(changed(request));
        vec![
            send(stream_head() + &chunk(&(event(acknowledgement(request)) + &changed))),
            Step::Hang,
        ]
    }),
    listening("listen-drops", "closes every subscription at once", |_, request| {
        stream(&event(acknowledgement(request)))
    }),
    listening("listen-resets", "breaks the connection of every subscription", |_, request| {
        vec![send(stream_head() + &chunk(&event(acknowledgement(request)))), Step::Reset]
    }),
    listening("listen-ends", "ends every subscription with a result", |_, request| {
        let id = request.id();
        let result = format!(
            r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#
        );
        let end = event(answers::reply(id, &Ok(result)));
        stream(&(event(acknowledgement(request)) + &end))
    }),
    listening("listen-json", "answers a subscription with JSON", |_, request| {
        vec![send(json("200 OK", &answers::reply(request.id(), &Ok("{}".to_owned()))))]
    }),
    listening("listen-404", "knows no subscriptions", |_, request| {
        refused(request, "404 Not Found", Refusal::new(-32601, "Method not found"))
    }),
    listening("listen-silent", "opens a subscription and never says so", |_, _| {
        vec![send(stream_head()), Step::Hang]
    }),
    listening("listen-empty", "ends a subscription before anything", |_, _| {
        vec![send(stream_head() + LAST_CHUNK)]
    }),
];

const fn listening(
    name: &'static str,
    sentence: &'static str,
    act: fn(&mut Site, &Request) -> Script,
) -> Entry {
    Entry::new(name, sentence, WORKS, Act::Listen(act)).modern().tagged(&[Tag::NeedsListening])
}

fn changed(request: &Request) -> String {
    let id = request.id();
    answers::notification(
        "notifications/tools/list_changed",
        &format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#),
    )
}

fn asked<'a>(incoming: &'a Incoming, method: &str) -> Option<&'a Request> {
    incoming.request().filter(|request| request.method == method)
}

/// A list whose tool `echo` wants its argument in a header.
fn listed(request: &Request, more: &str) -> Script {
    let echo = answers::ECHO.replacen(
        r#"{"type":"string"}"#,
        r#"{"type":"string","x-mcp-header":"Text"}"#,
        1,
    );
    let echo = if more.is_empty() { &echo } else { answers::ECHO };
    let result = format!(
        r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{echo},{}{more}]}}"#,
        answers::ADD
    );
    vec![send(json("200 OK", &answers::reply(request.id(), &Ok(result))))]
}
