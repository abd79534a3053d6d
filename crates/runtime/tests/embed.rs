//! Embeds the runtime as a program would: servers from code, views, approvals, calls, events. All
//! servers run in this process, unless a test is about another process.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod embed {
    mod apply_trust;
    mod approvals;
    mod builder;
    mod call_records;
    mod calls;
    mod events;
    mod limits;
    mod names;
    mod own_transports;
    mod tool_service;
    mod view_approvals;
    mod view_requests;
    mod views;
    mod world;
}
