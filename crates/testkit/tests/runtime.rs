//! Tests the runtime with scripted servers, each test in its own home folder.

#![cfg(any(target_os = "linux", windows))]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at once")]

mod runtime {
    mod approvals;
    mod calls;
    mod changes;
    #[cfg(unix)]
    mod custom_transports;
    mod elicitation;
    mod exactly_once;
    mod fixture;
    mod host;
    mod lifecycle;
    mod log_levels;
    mod panics;
    mod recorder;
    mod remote;
    mod resource_subscriptions;
    mod resources_and_prompts;
    mod secrets;
    mod spans;
    mod subscriptions;
}
