//! Events: none is lost if the host subscribes before the start.

use wharf::config::Approval;
use wharf::{Event, Runtime, Status};

use super::world::{CallCount, notes};

#[tokio::test]
async fn a_host_that_subscribes_before_the_start_sees_the_first_connection() {
    let entry = notes(&CallCount::default()).approval(Approval::Never);
    let builder = Runtime::builder().server("notes", entry);
    let mut events = builder.events();
    let runtime = builder.start().await.unwrap();
    runtime.settled().await;
    assert!(runtime.call("notes/read_note", ()).await.ok());
    assert!(runtime.call("notes/fail", ()).await.is_error);
    runtime.shutdown().await;
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Status { status, .. } => seen.push(status.word().to_owned()),
            Event::ToolsChanged { .. } => seen.push("tools".to_owned()),
            Event::Called(record) => {
                seen.push(format!("called {} {}", record.details.mcp_tool_name, record.is_error));
            }
            other => panic!("unexpected: {other:?}"),
        }
    }
    assert_eq!(
        seen,
        [
            "connecting",
            "connected",
            "tools",
            "called read_note false",
            "called fail true",
            "disconnected"
        ]
    );
    assert_eq!(runtime.status("notes"), Some(Status::Disconnected));
}
