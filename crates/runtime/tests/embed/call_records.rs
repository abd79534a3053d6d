//! Call records: a sink gets every one, whatever happens to the call and to observers of events.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::StreamExt as _;
use wharf::config::Approval;
use wharf::{CallContext, CallErrorReason, MissedEvents, Runtime};

use super::world::{CallCount, LIMIT, notes};

type Seen = Arc<Mutex<Vec<String>>>;

/// Starts a runtime whose sink writes down the tool, who called it, and how the call ended.
async fn start(approval: Approval) -> (Runtime, Seen) {
    let seen = Seen::default();
    let sink = Arc::clone(&seen);
    let builder = Runtime::builder()
        .server("notes", notes(&CallCount::default()).approval(approval))
        .on_call(move |record| {
            let tool = &record.details.mcp_tool_name;
            let caller = record.context.as_ref().map_or("nobody", |context| context.id());
            let end = record.reason.map_or("done", |reason| reason.word());
            sink.lock().unwrap().push(format!("{tool} by {caller}: {end}"));
        });
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    (runtime, seen)
}

#[tokio::test]
async fn a_sink_gets_every_record_while_an_observer_of_events_misses_some() {
    let (runtime, seen) = start(Approval::Never).await;
    let events = runtime.events();
    for _ in 0..1100 {
        assert!(runtime.call("notes/read_note", ()).await.ok());
    }
    runtime.shutdown().await;
    assert_eq!(seen.lock().unwrap().len(), 1100);
    let missed: Vec<u64> = events
        .filter_map(async |event| event.err().map(|MissedEvents(count)| count))
        .collect()
        .await;
    assert!(missed.iter().sum::<u64>() >= 76, "{missed:?}");
}

#[tokio::test]
async fn calls_that_fail_are_denied_or_are_dropped_have_a_record_too() {
    let (runtime, seen) = start(Approval::Ask).await;
    let context = || CallContext::new("agent-7", "research");
    assert!(runtime.call("notes/read_note", ()).context(context()).await.is_error);
    assert!(runtime.call("notes/no_such_tool", ()).await.is_error);
    let by_person = wharf::CallOrigin::Person;
    let hanging = runtime.call("notes/hang", ()).caller(by_person).into_future();
    assert!(tokio::time::timeout(Duration::from_millis(50), hanging).await.is_err());
    let short = Duration::from_millis(50);
    let late = runtime.call("notes/hang", ()).caller(by_person).deadline(short).await;
    assert_eq!(late.error.unwrap().reason, CallErrorReason::TimedOut);
    runtime.shutdown().await;
    assert!(runtime.call("notes/read_note", ()).await.is_error);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "read_note by agent-7: denied",
            "no_such_tool by nobody: not-found",
            "hang by nobody: cancelled",
            "hang by nobody: timeout",
            "read_note by nobody: not-connected",
        ]
    );
}

#[tokio::test]
async fn a_panic_of_the_sink_costs_its_record_alone() {
    let builder = Runtime::builder()
        .server("notes", notes(&CallCount::default()).approval(Approval::Never))
        .on_call(|_| panic!("on purpose"));
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    let mut events = runtime.events();
    assert!(runtime.call("notes/read_note", ()).await.ok());
    let hanging = runtime.call("notes/hang", ()).into_future();
    assert!(tokio::time::timeout(Duration::from_millis(50), hanging).await.is_err());
    assert!(runtime.call("notes/write_note", ()).await.ok());
    let mut called = 0;
    let counting = async {
        while called < 3 {
            called += usize::from(matches!(events.next().await, Some(wharf::Event::Called(_))));
        }
    };
    tokio::time::timeout(LIMIT, counting).await.expect("observers get all three records");
    runtime.shutdown().await;
}

#[tokio::test]
async fn events_and_records_have_a_time() {
    let before = SystemTime::now();
    let times = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&times);
    let builder = Runtime::builder()
        .server("notes", notes(&CallCount::default()).approval(Approval::Never))
        .on_call(move |record| sink.lock().unwrap().push(record.ended_at));
    let events = builder.events();
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/read_note", ()).await.ok());
    runtime.shutdown().await;
    let after = SystemTime::now();
    let of_events: Vec<SystemTime> = events.map(|event| event.unwrap().time).collect().await;
    assert!(of_events.is_sorted() && of_events.len() >= 4, "{of_events:?}");
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 1);
    assert!(times.iter().chain(&of_events).all(|time| (before..=after).contains(time)));
}
