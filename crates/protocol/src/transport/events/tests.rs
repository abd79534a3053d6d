//! Event streams of servers and how they are parsed; the properties at the end hold for any stream.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;

use super::check::parse;
use super::event::EventTooLarge;
use super::{EventParser, SseEvent, check};

/// Parses a stream in all ways and compares the events, written as `id|name|data|retry`.
fn expect(stream: &str, expected: &[&str]) {
    check(stream.as_bytes());
    let (events, last, _) = parse(stream.as_bytes(), usize::MAX, []);
    let mut described: Vec<String> = events.iter().map(describe).collect();
    described.extend(last.iter().map(|event| format!("open {}", describe(event))));
    assert_eq!(described, expected);
}

fn describe(event: &SseEvent) -> String {
    let text = |value: &Option<bytestring::ByteString>| {
        value.as_ref().map_or("-".to_owned(), ToString::to_string)
    };
    let retry = event.retry.map_or("-".to_owned(), |retry| format!("{retry:?}"));
    let data = String::from_utf8_lossy(&event.data);
    format!("{}|{}|{}|{}", text(&event.id), text(&event.name), data, retry)
}

#[test]
fn every_kind_of_line_end_ends_a_line() {
    expect("data: a\n\ndata: b\r\rdata: c\r\n\r\n", &["-|-|a|-", "-|-|b|-", "-|-|c|-"]);
    expect("data: a\r\n\ndata: b\n\r\n", &["-|-|a|-", "-|-|b|-"]);
}

#[test]
fn data_lines_are_joined() {
    expect("data: a\ndata:b\ndata\ndata:  c\n\n", &["-|-|a\nb\n\n c|-"]);
    expect("data\n\n", &["-|-||-"]);
}

#[test]
fn all_fields_are_read_and_others_ignored() {
    expect("event: x\nid: 7\nretry: 250\nfoo: bar\ndata: a:b\n\n", &["7|x|a:b|250ms"]);
    expect("datax: 1\n data: 2\nDATA: 3\ndatum\ndata : 4\n\n", &[]);
}

#[test]
fn comments_and_empty_lines_are_ignored() {
    expect(": ping\n\n\n:\ndata: a\n: b\n\n:", &["-|-|a|-"]);
}

#[test]
fn an_event_without_data_is_returned_if_it_helps_to_resume() {
    expect("id: 1\n\n", &["1|-||-"]);
    expect("retry: 10\n\n", &["-|-||10ms"]);
    expect("event: x\n\ndata: y\n\n", &["-|-|y|-"]);
}

#[test]
fn a_retry_is_digits_and_an_id_has_no_nul() {
    expect("retry: -1\nretry: 1e3\nretry:\nretry: 99999999999999999999\ndata: a\n\n", &["-|-|a|-"]);
    expect("id: a\0b\ndata: a\n\n", &["-|-|a|-"]);
    expect("id\ndata: a\n\n", &["|-|a|-"]);
}

#[test]
fn a_byte_order_mark_is_dropped_once() {
    expect("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["-|-|a|-"]);
    check(b"\xEF\xBBdata: a\n\n");
    check(b"\xEF\xBB");
    check(b"\xEF\xBB\xBF");
}

#[test]
fn an_unterminated_event_is_returned_separately() {
    expect("data: a\n\ndata: b\n", &["-|-|a|-", "open -|-|b|-"]);
    expect("data: {}", &["open -|-|{}|-"]);
    expect("data: a\n\nevent: b", &["-|-|a|-"]);
}

#[test]
fn a_message_is_distinguished_from_other_events() {
    let named = |name: &'static str| SseEvent { name: Some(name.into()), ..SseEvent::default() };
    assert!(SseEvent::default().is_message());
    assert!(named("message").is_message());
    assert!(!named("endpoint").is_message());
}

#[test]
fn an_event_over_the_limit_is_an_error_that_names_it() {
    let mut parser = EventParser::new(10);
    parser.push("data: 1234\n\ndata: 12345\n\n".into());
    assert_eq!(parser.next_event().unwrap().unwrap().data, "1234");
    let error = parser.next_event().unwrap_err();
    assert_eq!(error, EventTooLarge { limit: 10 });
    assert_eq!(error.to_string(), "the server sent an event of more than 10 bytes");
    assert!(parser.finish().unwrap().is_none());
}

#[test]
fn many_short_lines_count_towards_one_limit() {
    let mut parser = EventParser::new(100);
    parser.push("data: x\n".repeat(60).into());
    assert_eq!(parser.next_event(), Err(EventTooLarge { limit: 100 }));
}

#[test]
fn an_endless_line_costs_bounded_memory() {
    let flood = Bytes::from(vec![b'x'; 64 * 1024]);
    let mut parser = EventParser::new(1024 * 1024);
    let pieces = (0..100).take_while(|_| {
        parser.push(flood.clone());
        parser.next_event().is_ok()
    });
    assert_eq!(pieces.count(), 16);
}

#[test]
fn an_endless_comment_is_not_kept() {
    let mut parser = EventParser::new(100);
    for _ in 0..1000 {
        parser.push(": still here, still here".into());
        assert_eq!(parser.next_event(), Ok(None));
    }
    parser.push("\ndata: a\n\n".into());
    assert_eq!(parser.next_event().unwrap().unwrap().data, "a");
}

#[test]
fn a_payload_within_one_piece_is_not_copied() {
    let piece = Bytes::from(format!("data: {}\n\n", "x".repeat(100_000)));
    let mut parser = EventParser::new(usize::MAX);
    parser.push(piece.clone());
    let event = parser.next_event().unwrap().unwrap();
    assert_eq!(event.data.as_ptr(), piece[6..].as_ptr());
}

#[test]
fn pieces_pushed_ahead_are_not_lost() {
    let mut parser = EventParser::new(100);
    parser.push("data: a\n\nda".into());
    parser.push("ta: b\n\n".into());
    assert_eq!(parser.next_event().unwrap().unwrap().data, "a");
    assert_eq!(parser.next_event().unwrap().unwrap().data, "b");
}

#[test]
fn the_fuzz_body_holds_for_mutated_streams() {
    let sample =
        b"\xEF\xBB\xBFid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n:c\nretry: 5\nevent: e\rdata\r\r";
    let until = Instant::now() + Duration::from_secs(1);
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 40).unwrap()
    };
    while Instant::now() < until {
        let mut bytes = BytesMut::from(&sample[..]);
        for _ in 0..random() % 8 {
            let at = random() % bytes.len();
            bytes[at] = match random() % 3 {
                0 => b"\r\n: \0"[random() % 5],
                1 => sample[random() % sample.len()],
                _ => u8::try_from(random() % 256).unwrap(),
            };
        }
        check(&bytes);
    }
}

fn stream() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        Just("data"),
        Just("id"),
        Just("event"),
        Just("retry"),
        Just(""),
        Just("x"),
        Just("data ")
    ];
    let value = prop_oneof!["[0-9]{0,6}", "\\PC{0,20}", Just("\0".to_owned())];
    let colon = prop_oneof![Just(": "), Just(":"), Just("")];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n"), Just("\r\n\r\n")];
    let line = (field, colon, value, end)
        .prop_map(|(field, colon, value, end)| format!("{field}{colon}{value}{end}"));
    proptest::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn any_chunking_matches_the_specification(text in stream()) {
        check(text.as_bytes());
    }

    #[test]
    fn any_chunking_gives_the_same_events(
        text in stream(),
        sizes in proptest::collection::vec(0_usize..40, 0..40),
        limit in prop_oneof![Just(usize::MAX), 0_usize..200],
    ) {
        let whole = parse(text.as_bytes(), limit, []);
        prop_assert_eq!(parse(text.as_bytes(), limit, sizes), whole);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }
}
