//! Quirks of responses that are event streams: the format of events, other events, broken streams.

use super::HttpQuirk;
use super::server::{HttpBehavior, HttpServer};
use super::steps::{
    LAST_CHUNK, Step, Steps, chunk, event, event_stream, send, stream_head, stream_head_with,
};
use crate::quirk::mode::{ExpectedOutcome, FailureReason, ModeTag, WARNS, WORKS, call_fails};

const fn each_response(
    name: &'static str,
    description: &'static str,
    expect: ExpectedOutcome,
    wrap: fn(&HttpServer, &str, &str) -> Steps,
) -> HttpQuirk {
    HttpQuirk::new(name, description, expect, HttpBehavior::WrapResponse(wrap))
}

/// Sends each response as this event stream, in which `$REPLY` is the JSON.
macro_rules! event_text {
    ($name:literal, $description:literal, $expect:expr, $text:expr) => {
        each_response($name, $description, $expect, |_, response, headers| {
            complete_stream(&$text.replace("$REPLY", response), headers)
        })
    };
}

const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"h\u00e9llo é 🚢"}}"#;

pub(super) const QUIRKS: &[HttpQuirk] = &[
    event_text!(
        "stream",
        "answers with an event stream",
        WORKS,
        "event: message\ndata: $REPLY\n\n"
    ),
    each_response(
        "stream-notifies",
        "sends notifications before its response",
        WORKS,
        |_, response, headers| {
            complete_stream(&(event(LOG) + &event(LOG) + &event(response)), headers)
        },
    ),
    event_text!("event-without-name", "leaves out the names of events", WORKS, "data: $REPLY\n\n"),
    event_text!("event-without-blank", "writes no space after the colon", WORKS, "data:$REPLY\n\n"),
    event_text!(
        "event-other-name",
        "sends its responses as events with another name",
        WARNS,
        "event: response\ndata: $REPLY\n\n"
    ),
    event_text!(
        "event-others-between",
        "sends events with other names before its response",
        WORKS,
        "event: ping\ndata: 2026\n\nevent: heartbeat\n\ndata\n\nevent: message\ndata: $REPLY\n\n"
    ),
    event_text!(
        "event-cr",
        "ends its lines with a carriage return",
        WORKS,
        "event: message\rdata: $REPLY\r\r"
    ),
    event_text!(
        "event-crlf",
        "ends its lines with carriage return and line feed",
        WORKS,
        "event: message\r\ndata: $REPLY\r\n\r\n"
    ),
    event_text!(
        "event-mixed-ends",
        "mixes all three kinds of line ends",
        WORKS,
        ": hello\rid: 1\r\nevent: message\ndata: $REPLY\r\n\n"
    ),
    event_text!("event-bom", "starts with a byte-order mark", WORKS, "\u{feff}data: $REPLY\n\n"),
    event_text!(
        "event-comments",
        "sends comments before, in and after its response",
        WORKS,
        ": keep-alive\n\n:\n\nevent: message\n: in the middle\ndata: $REPLY\n:\n\n: bye\n\n"
    ),
    event_text!(
        "event-garbage",
        "sends lines that are not valid fields",
        WORKS,
        "garbage\nfoo: bar\n::\n\u{0}\nretry: soon\nid: a\u{0}b\ndata: $REPLY\n\n"
    ),
    event_text!(
        "event-without-end",
        "leaves out the empty line after the last event",
        WARNS,
        "data: $REPLY\n"
    ),
    event_text!(
        "event-without-line-end",
        "leaves out the last line end as well",
        WARNS,
        "event: message\ndata: $REPLY"
    ),
    event_text!(
        "event-empty-data",
        "sends events without data before its response",
        WORKS,
        "data\n\ndata:\n\ndata: \n\nid: 7\ndata: \n\ndata: $REPLY\n\n"
    ),
    event_text!(
        "event-no-json",
        "sends events whose data is not JSON before its response",
        WARNS,
        "data: connected\n\ndata: {\n\ndata: $REPLY\n\n"
    ),
    event_text!(
        "event-twice",
        "sends its response twice",
        WORKS,
        "data: $REPLY\n\ndata: $REPLY\n\n"
    ),
    event_text!(
        "event-batch",
        "sends its response in an array with a notification",
        WORKS,
        "data: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"},$REPLY]\n\n"
    ),
    each_response(
        "event-many-lines",
        "splits its JSON over several data lines",
        WORKS,
        |_, response, headers| {
            // A line end is allowed wherever JSON allows white space.
            let lines = response.replacen("\"id\"", "\ndata: \"id\"", 1).replacen(
                "\"result\":",
                "\"result\":\ndata:  ",
                1,
            );
            complete_stream(&format!("data: {lines}\n\n"), headers)
        },
    ),
    each_response(
        "event-bytewise",
        "sends its stream byte by byte",
        WORKS,
        |_, response, headers| {
            let events = event(LOG) + &event(response);
            let bytes =
                events.as_bytes().iter().flat_map(|&byte| [b'1', b'\r', b'\n', byte, b'\r', b'\n']);
            let mut body: Vec<u8> = stream_head_with(headers).into_bytes();
            body.extend(bytes);
            body.extend_from_slice(LAST_CHUNK.as_bytes());
            // The parts split chunks.
            body.chunks(5).map(send).collect()
        },
    ),
    each_response(
        "event-stays-open",
        "does not end its stream after the response",
        WORKS,
        |_, response, headers| {
            vec![send(stream_head_with(headers) + &chunk(&event(response))), Step::Hang]
        },
    ),
    each_response(
        "event-until-close",
        "ends its stream by closing the connection",
        WORKS,
        |_, response, headers| {
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{headers}\r\n");
            vec![send(head + &event(response)), Step::Close]
        },
    ),
    each_response(
        "event-type-charset",
        "adds a charset to the content type of its stream",
        WORKS,
        |_, response, headers| {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream;charset=UTF-8\r\n{headers}\r\n"
            );
            vec![send(head + &event(response)), Step::Close]
        },
    ),
    HttpQuirk::new(
        "event-waits",
        "sends comments five times, 100 ms apart, before it responds to a call",
        WORKS,
        HttpBehavior::RespondToCall(|server, _, response| {
            let mut steps = vec![send(stream_head())];
            for _ in 0..5 {
                steps.extend([send(chunk(": keep-alive\n\n")), Step::Wait(server.delay(100))]);
            }
            steps.push(send(chunk(&event(response)) + LAST_CHUNK));
            steps
        }),
    )
    .tagged(&[ModeTag::Waits]),
    HttpQuirk::new(
        "event-progress",
        "sends progress of a call before it responds",
        WORKS,
        HttpBehavior::RespondToCall(|_, request, response| {
            let token = request.progress_token().unwrap_or_else(|| "0".to_owned());
            let progress = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1,"total":2}}}}"#
            );
            event_stream(&(event(progress) + &event(response)))
        }),
    ),
    HttpQuirk::new(
        "event-wrong-id",
        "sends a response with an unknown id before the correct one",
        WORKS,
        HttpBehavior::RespondToCall(|_, _, response| {
            let other = r#"{"jsonrpc":"2.0","id":987654321,"result":{}}"#;
            event_stream(&(event(other) + &event(response)))
        }),
    ),
    HttpQuirk::new(
        "event-never",
        "ends the stream of a call without a response",
        call_fails(FailureReason::Ended),
        HttpBehavior::RespondToCall(|_, _, _| event_stream(&event(LOG))),
    ),
    HttpQuirk::new(
        "event-cut",
        "closes the connection in the middle of the event with the response",
        call_fails(FailureReason::Ended),
        HttpBehavior::RespondToCall(|_, _, response| {
            let half = &response[..response.len() / 2];
            vec![send(stream_head() + &chunk(&format!("data: {half}"))), Step::Close]
        }),
    ),
    HttpQuirk::new(
        "event-silent",
        "opens a stream for a call and sends nothing",
        call_fails(FailureReason::TimedOut),
        HttpBehavior::RespondToCall(|_, _, _| vec![send(stream_head()), Step::Hang]),
    ),
    HttpQuirk::new(
        "event-comment-flood",
        "sends 256 MB of comments before it responds to a call",
        WORKS,
        HttpBehavior::RespondToCall(|server, _, response| {
            let block = chunk(&": still lifting\n\n".repeat(4096));
            let times = server.bytes(256 << 20) / block.len();
            let mut steps = vec![send(stream_head())];
            steps.extend((0..times).map(|_| send(block.clone())));
            steps.push(send(chunk(&event(response)) + LAST_CHUNK));
            steps
        }),
    )
    .tagged(&[ModeTag::Heavy]),
];

fn complete_stream(events: &str, headers: &str) -> Steps {
    vec![send(stream_head_with(headers) + &chunk(events) + LAST_CHUNK)]
}
