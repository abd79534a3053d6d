//! Signing in and renewing tokens with a real authorization server, also one that misbehaves.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod oauth_client {
    mod bad_input;
    mod exactly_once;
    mod grants;
    mod parties;
    #[cfg(unix)]
    mod processes;
    mod renewal;
    mod sign_in;
    mod stored;
    mod world;
}
