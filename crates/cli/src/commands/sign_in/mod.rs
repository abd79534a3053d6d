//! Signing in with OAuth on the terminal: shows the address, opens the browser, and reads what is pasted.
//!
//! `terminal` is the host of a sign-in, as the runtime wants it; `steps` words its progress.
//! `attempt` signs in for the verb `login`, and for verbs whose server asks for it.

mod attempt;
mod steps;
mod terminal;

pub(crate) use attempt::SignIn;
pub(crate) use terminal::sign_in_queue;
