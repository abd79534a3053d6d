//! Quirks of event streams as replies: the format of events, and what comes besides the reply.

use super::Entry;
use super::script::{
    LAST_CHUNK, Script, Step, chunk, event, send, stream, stream_head, stream_head_with,
};
use super::site::{Act, Site};
use crate::quirk::mode::{Expect, Failure, Tag, WARNS, WORKS, call_fails};

const fn wraps(
    name: &'static str,
    sentence: &'static str,
    expect: Expect,
    wrap: fn(&Site, &str, &str) -> Script,
) -> Entry {
    Entry::new(name, sentence, expect, Act::Wrap(wrap))
}

/// Writes every reply as this text, in which `$REPLY` is the JSON.
macro_rules! writes {
    ($name:literal, $sentence:literal, $expect:expr, $text:expr) => {
        wraps($name, $sentence, $expect, |_, reply, headers| {
            whole(&$text.replace("$REPLY", reply), headers)
        })
    };
}

const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"h\u00e9llo é 🚢"}}"#;

pub(super) const QUIRKS: &[Entry] = &[
    writes!("stream", "answers with an event stream", WORKS, "event: message\ndata: $REPLY\n\n"),
    wraps("stream-notifies", "sends notifications before its reply", WORKS, |_, reply, headers| {
        whole(&(event(LOG) + &event(LOG) + &event(reply)), headers)
    }),
    writes!("event-without-name", "names no events", WORKS, "data: $REPLY\n\n"),
    writes!("event-without-blank", "puts no blank after the colon", WORKS, "data:$REPLY\n\n"),
    writes!(
        "event-other-name",
        "sends its replies as events of another name",
        WARNS,
        "event: response\ndata: $REPLY\n\n"
    ),
    writes!(
        "event-others-between",
        "sends events of other names before its reply",
        WORKS,
        "event: ping\ndata: 2026\n\nevent: heartbeat\n\ndata\n\nevent: message\ndata: $REPLY\n\n"
    ),
    writes!(
        "event-cr",
        "ends its lines with a carriage return",
        WORKS,
        "event: message\rdata: $REPLY\r\r"
    ),
    writes!(
        "event-crlf",
        "ends its lines with both",
        WORKS,
        "event: message\r\ndata: $REPLY\r\n\r\n"
    ),
    writes!(
        "event-mixed-ends",
        "ends its lines as it likes",
        WORKS,
        ": hello\rid: 1\r\nevent: message\ndata: $REPLY\r\n\n"
    ),
    writes!("event-bom", "starts with a byte-order mark", WORKS, "\u{feff}data: $REPLY\n\n"),
    writes!(
        "event-comments",
        "sends comments before, in and after its reply",
        WORKS,
        ": keep-alive\n\n:\n\nevent: message\n: in the middle\ndata: $REPLY\n:\n\n: bye\n\n"
    ),
    writes!(
        "event-garbage",
        "sends lines that mean nothing",
        WORKS,
        "garbage\nfoo: bar\n::\n\u{0}\nretry: soon\nid: a\u{0}b\ndata: $REPLY\n\n"
    ),
    writes!("event-without-end", "leaves the empty line at the end out", WARNS, "data: $REPLY\n"),
    writes!(
        "event-without-line-end",
        "leaves the last line end out as well",
        WARNS,
        "event: message\ndata: $REPLY"
    ),
    writes!(
        "event-empty-data",
        "sends events without data before its reply",
        WORKS,
        "data\n\ndata:\n\ndata: \n\nid: 7\ndata: \n\ndata: $REPLY\n\n"
    ),
    writes!(
        "event-no-json",
        "sends events whose data is no JSON before its reply",
        WARNS,
        "data: connected\n\ndata: {\n\ndata: $REPLY\n\n"
    ),
    writes!("event-twice", "sends its reply twice", WORKS, "data: $REPLY\n\ndata: $REPLY\n\n"),
    writes!(
        "event-batch",
        "sends its reply in an array with a notification",
        WORKS,
        "data: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"},$REPLY]\n\n"
    ),
    wraps("event-many-lines", "spreads its JSON over data lines", WORKS, |_, reply, headers| {
        // A line end may stand wherever JSON allows blanks.
        let lines = reply.replacen("\"id\"", "\ndata: \"id\"", 1).replacen(
            "\"result\":",
            "\"result\":\ndata:  ",
            1,
        );
        whole(&format!("data: {lines}\n\n"), headers)
    }),
    wraps("event-bytewise", "sends its stream byte by byte", WORKS, |_, reply, headers| {
        let events = event(LOG) + &event(reply);
        let bytes =
            events.as_bytes().iter().flat_map(|&byte| [b'1', b'\r', b'\n', byte, b'\r', b'\n']);
        let mut body: Vec<u8> = stream_head_with(headers).into_bytes();
        body.extend(bytes);
        body.extend_from_slice(LAST_CHUNK.as_bytes());
        // Pieces that cut chunks in two.
        body.chunks(5).map(send).collect()
    }),
    wraps("event-stays-open", "does not end its stream after the reply", WORKS, |_, reply, h| {
        vec![send(stream_head_with(h) + &chunk(&event(reply))), Step::Hang]
    }),
    wraps("event-until-close", "ends its stream by closing", WORKS, |_, reply, headers| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{headers}\r\n");
        vec![send(head + &event(reply)), Step::Close]
    }),
    wraps("event-type-charset", "names a charset for its stream", WORKS, |_, reply, headers| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream;charset=UTF-8\r\n{headers}\r\n"
        );
        vec![send(head + &event(reply)), Step::Close]
    }),
    Entry::new(
        "event-waits",
        "sends comments five times, 100 ms apart, before it answers a call",
        WORKS,
        Act::Call(|site, _, reply| {
            let mut script = vec![send(stream_head())];
            for _ in 0..5 {
                script.extend([send(chunk(": keep-alive\n\n")), Step::Wait(site.delay(100))]);
            }
            script.push(send(chunk(&event(reply)) + LAST_CHUNK));
            script
        }),
    )
    .tagged(&[Tag::Waits]),
    Entry::new(
        "event-progress",
        "tells the progress of a call before it answers",
        WORKS,
        Act::Call(|_, request, reply| {
            let token = request.progress_token().unwrap_or_else(|| "0".to_owned());
            let progress = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1,"total":2}}}}"#
            );
            stream(&(event(progress) + &event(reply)))
        }),
    ),
    Entry::new(
        "event-wrong-id",
        "sends a reply to somebody else before the right one",
        WORKS,
        Act::Call(|_, _, reply| {
            let other = r#"{"jsonrpc":"2.0","id":987654321,"result":{}}"#;
            stream(&(event(other) + &event(reply)))
        }),
    ),
    Entry::new(
        "event-never",
        "ends the stream of a call without a reply",
        call_fails(Failure::Ended),
        Act::Call(|_, _, _| stream(&event(LOG))),
    ),
    Entry::new(
        "event-cut",
        "closes in the middle of the event that is the reply",
        call_fails(Failure::Ended),
        Act::Call(|_, _, reply| {
            let half = &reply[..reply.len() / 2];
            vec![send(stream_head() + &chunk(&format!("data: {half}"))), Step::Close]
        }),
    ),
    Entry::new(
        "event-silent",
        "opens a stream for a call and never sends anything",
        call_fails(Failure::TimedOut),
        Act::Call(|_, _, _| vec![send(stream_head()), Step::Hang]),
    ),
    Entry::new(
        "event-comment-flood",
        "sends 256 MB of comments before it answers a call",
        WORKS,
        Act::Call(|site, _, reply| {
            let block = chunk(&": still lifting\n\n".repeat(4096));
            let times = site.bytes(256 << 20) / block.len();
            let mut script = vec![send(stream_head())];
            script.extend((0..times).map(|_| send(block.clone())));
            script.push(send(chunk(&event(reply)) + LAST_CHUNK));
            script
        }),
    )
    .tagged(&[Tag::Heavy]),
];

fn whole(events: &str, headers: &str) -> Script {
    vec![send(stream_head_with(headers) + &chunk(events) + LAST_CHUNK)]
}
