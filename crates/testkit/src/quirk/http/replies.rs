//! Quirks of a plain reply: content type, transfer, size, what is around the JSON.

use serde_json::Value;

use super::Entry;
use super::script::{
    LAST_CHUNK, Script, Step, chunk, event, html, json, plain, response, send, stream,
};
use super::site::{Act, Site, accepted};
use crate::quirk::answers;
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

/// Sends every reply like this.
const fn wraps(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    wrap: fn(&Site, &str, &str) -> Script,
) -> Entry {
    Entry::new(name, sentence, expect, Act::Wrap(wrap))
}

const NOT_CONNECTED: Expect = Expect::ConnectFails { because: Failure::Any };

pub(super) const QUIRKS: &[Entry] = &[
    Entry::new("json", "answers with JSON, as it should", WORKS, Act::Behave),
    wraps("chunked", "sends its JSON in one chunk", WORKS, |_, reply, headers| {
        let head = chunked_head(headers);
        vec![send(head + &chunk(reply) + LAST_CHUNK)]
    }),
    wraps(
        "chunked-oddly",
        "sends chunks of seven bytes with extensions and trailers",
        WORKS,
        |_, reply, headers| {
            let piece = |piece: &[u8]| {
                let size = format!("{:X};name=\"value\"\r\n", piece.len());
                [size.as_bytes(), piece, b"\r\n"].concat()
            };
            let body: Vec<u8> = reply.as_bytes().chunks(7).flat_map(piece).collect();
            vec![send([chunked_head(headers).as_bytes(), &body, b"0\r\nX-Sum: 1\r\n\r\n"].concat())]
        },
    ),
    wraps("until-close", "ends its body by closing the connection", WORKS, |_, reply, headers| {
        vec![send(with_head("HTTP/1.1 200 OK", headers, reply)), Step::Close]
    }),
    wraps("http-1-0", "answers with HTTP/1.0 and closes", WORKS, |_, reply, headers| {
        vec![send(with_head("HTTP/1.0 200 OK", headers, reply)), Step::Close]
    }),
    wraps("closes-each", "closes after every reply, and says so", WORKS, |_, reply, headers| {
        let headers = format!("Content-Type: application/json\r\n{headers}Connection: close\r\n");
        vec![send(response("200 OK", &headers, reply)), Step::Close]
    }),
    wraps("closes-silently", "closes after every reply, and does not say so", WORKS, |_, r, h| {
        let headers = format!("Content-Type: application/json\r\n{h}Connection: keep-alive\r\n");
        vec![send(response("200 OK", &headers, r)), Step::Close]
    }),
    wraps("no-reason", "leaves the words after the status out", WORKS, |_, reply, headers| {
        let length = format!("{headers}Content-Length: {}\r\n", reply.len());
        vec![send(with_head("HTTP/1.1 200", &length, reply))]
    }),
    wraps("early-hints", "sends 100 and 103 before its reply", WORKS, |_, reply, headers| {
        let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        let headers = format!("Content-Type: application/json\r\n{headers}");
        vec![send(early.to_owned() + &response("200 OK", &headers, reply))]
    }),
    wraps("headers-in-capitals", "shouts its headers and pads them", WORKS, |_, reply, headers| {
        let headers = format!("CONTENT-TYPE:   Application/JSON  \r\n{headers}");
        vec![send(response("200 OK", &headers, reply))]
    }),
    wraps("many-headers", "sends 90 headers that nobody needs", WORKS, |_, reply, headers| {
        let more = "X-Extra: 1\r\n".repeat(90);
        let headers = format!("Content-Type: application/json\r\n{headers}{more}");
        vec![send(response("200 OK", &headers, reply))]
    }),
    wraps(
        "huge-header",
        "sends a header of a megabyte, which is more than a client should take",
        Expect::ConnectFails { because: Failure::Any },
        |site, reply, headers| {
            let filler = "x".repeat(site.bytes(1 << 20));
            let headers =
                format!("Content-Type: application/json\r\n{headers}X-Huge: {filler}\r\n");
            vec![send(response("200 OK", &headers, reply))]
        },
    ),
    wraps("type-charset", "names the charset of its JSON", WORKS, |_, reply, headers| {
        typed("Content-Type: application/json; charset=utf-8\r\n", reply, headers)
    }),
    wraps("type-plain", "calls its JSON plain text", WARNS, |_, reply, headers| {
        typed("Content-Type: text/plain\r\n", reply, headers)
    }),
    wraps("type-missing", "does not say what it sends", WARNS, |_, reply, headers| {
        typed("", reply, headers)
    }),
    wraps("type-vendor", "calls its JSON `application/json-rpc`", WARNS, |_, reply, headers| {
        typed("Content-Type: application/json-rpc\r\n", reply, headers)
    }),
    wraps("type-html", "calls its JSON HTML", WARNS, |_, reply, headers| {
        typed("Content-Type: text/html\r\n", reply, headers)
    }),
    wraps(
        "type-says-stream",
        "calls its JSON an event stream, in which there is then no event",
        Expect::ConnectFails { because: Failure::Any },
        |_, reply, headers| typed("Content-Type: text/event-stream\r\n", reply, headers),
    ),
    wraps("type-says-json", "calls its event stream JSON", WARNS, |_, reply, headers| {
        typed("Content-Type: application/json\r\n", &event(reply), headers)
    }),
    wraps("page", "answers everything with a page of HTML", NOT_CONNECTED, |_, _, _| {
        vec![send(html("200 OK"))]
    }),
    wraps("empty", "answers everything with nothing", NOT_CONNECTED, |_, _, _| {
        vec![send(json("200 OK", ""))]
    }),
    wraps("status-202", "only says that it accepted a request", NOT_CONNECTED, |_, _, _| {
        accepted()
    }),
    wraps("status-204", "says that there is no content", NOT_CONNECTED, |_, _, _| {
        vec![send("HTTP/1.1 204 No Content\r\n\r\n")]
    }),
    wraps("not-http", "speaks something else than HTTP", NOT_CONNECTED, |_, _, _| {
        vec![send("SSH-2.0-harbour\r\n\r\n"), Step::Close]
    }),
    wraps("not-json", "answers with something that is no JSON", NOT_CONNECTED, |_, _, _| {
        vec![send(json("200 OK", "{'result': None}"))]
    }),
    wraps("json-bom", "puts a byte-order mark before its JSON", WARNS, |_, reply, headers| {
        typed("Content-Type: application/json\r\n", &format!("\u{feff}{reply}"), headers)
    }),
    wraps("json-lines", "spreads its JSON over lines, which is fine here", WORKS, |_, r, h| {
        let value: Value = serde_json::from_str(r).unwrap_or_default();
        typed("Content-Type: application/json\r\n", &format!("\r\n{value:#}\r\n"), h)
    }),
    wraps("json-array", "answers with an array of one reply", WORKS, |_, reply, headers| {
        typed("Content-Type: application/json\r\n", &format!("[{reply}]"), headers)
    }),
    wraps("json-and-junk", "adds text after its JSON", WARNS, |_, reply, headers| {
        typed("Content-Type: application/json\r\n", &format!("{reply}\n// done"), headers)
    }),
    Entry::new(
        "id-as-text",
        "answers calls with the id in quotes",
        WARNS,
        Act::Call(|_, r, j| {
            let id = format!("\"id\":{},", r.id());
            let text = format!("\"id\":\"{}\",", r.id().trim_matches('"'));
            vec![send(json("200 OK", &j.replacen(&id, &text, 1)))]
        }),
    ),
    Entry::new(
        "id-wrong",
        "answers calls with an id that nobody used",
        call_fails(Failure::BadResult),
        Act::Call(|_, request, reply| {
            let id = format!("\"id\":{},", request.id());
            vec![send(json("200 OK", &reply.replacen(&id, "\"id\":987654321,", 1)))]
        }),
    ),
    Entry::new(
        "call-202",
        "only says that it accepted a call",
        call_fails(Failure::Any),
        Act::Call(|_, _, _| accepted()),
    ),
    Entry::new(
        "call-text",
        "answers a call with a word",
        call_fails(Failure::BadResult),
        Act::Call(|_, _, _| vec![send(plain("200 OK", "done"))]),
    ),
    Entry::new(
        "status-200-error",
        "refuses a call with an error and the status 200",
        call_fails(Failure::Refused),
        Act::Call(|_, request, _| refusal(request.id(), "200 OK")),
    ),
    Entry::new(
        "status-500-error",
        "refuses a call with an error and the status 500",
        call_fails(Failure::Refused),
        Act::Call(|_, request, _| refusal(request.id(), "500 Internal Server Error")),
    ),
    wraps("drip", "sends its replies in small pieces with pauses (2 ms)", WORKS, |site, r, h| {
        let headers = format!("Content-Type: application/json\r\n{h}");
        let whole = response("200 OK", &headers, r);
        let delay = site.delay(2);
        whole.as_bytes().chunks(11).flat_map(|piece| [send(piece), Step::Wait(delay)]).collect()
    })
    .tagged(&[Tag::Waits]),
    Entry::new(
        "giant",
        "answers a call with 70 MB",
        call_fails(Failure::TooLarge),
        Act::Call(|site, request, _| {
            vec![send(json("200 OK", &with_filler(request, site.bytes(70 << 20))))]
        }),
    )
    .tagged(&[Tag::Heavy]),
    Entry::new(
        "giant-stream",
        "answers a call with an event of 70 MB",
        call_fails(Failure::TooLarge),
        Act::Call(|site, request, _| stream(&event(with_filler(request, site.bytes(70 << 20))))),
    )
    .tagged(&[Tag::Heavy]),
    Entry::new(
        "large",
        "answers a call with 17 MB",
        WORKS,
        Act::Call(|site, request, _| {
            vec![send(json("200 OK", &with_filler(request, site.bytes(17 << 20))))]
        }),
    )
    .tagged(&[Tag::Heavy]),
    Entry::new(
        "giant-promise",
        "promises a terabyte and sends a little",
        call_fails(Failure::Any),
        Act::Call(|_, _, reply| {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1099511627776\r\n\r\n";
            vec![send(format!("{head}{reply}")), Step::Close]
        }),
    ),
];

fn chunked_head(headers: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
    )
}

/// A body without a length.
fn with_head(first_line: &str, headers: &str, body: &str) -> String {
    format!("{first_line}\r\nContent-Type: application/json\r\n{headers}\r\n{body}")
}

fn typed(content_type: &str, body: &str, headers: &str) -> Script {
    vec![send(response("200 OK", &format!("{content_type}{headers}"), body))]
}

fn refusal(id: &str, status: &str) -> Script {
    let refusal = answers::Refusal::new(-32603, "the crane broke");
    vec![send(json(status, &answers::reply(id, &Err(refusal))))]
}

fn with_filler(request: &answers::Request, size: usize) -> String {
    let filler = "x".repeat(size);
    let result = answers::fill(
        r#"{"resultType":"complete","content":[{"type":"text","text":$TEXT},{"type":"text","text":"$FILLER"}]}"#,
        request,
    );
    answers::reply(request.id(), &Ok(result.replace("$FILLER", &filler)))
}
