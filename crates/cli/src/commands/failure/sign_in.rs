//! The texts, hints and exit codes of sign-ins that failed.

use std::error::Error;

use wharf::auth::SignInError;

use super::Exit;
use crate::ui::phrase;

/// Returns why a sign-in failed.
pub(super) fn text(name: &str, error: &SignInError) -> String {
    let name = phrase::quoted(name);
    match error {
        SignInError::TimedOut { .. } => "OAuth flow timed out. Please try again.".to_owned(),
        SignInError::NotDiscovered { .. } => format!(
            "Authentication required for {name}, but OAuth endpoints could not be discovered."
        ),
        SignInError::NotHttp => format!("Server {name} is a local program, which has no sign-in"),
        SignInError::NotUsed => format!("Server {name} has its own \"Authorization\" header"),
        SignInError::NotSignedIn => format!("Nobody is signed in to {name}"),
        error => format!("OAuth authentication failed: {}", reason(error)),
    }
}

/// Returns the error with its causes, on one line.
fn reason(error: &SignInError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}

/// Returns what to do about it.
pub(super) fn hint(name: &str, error: &SignInError) -> Option<String> {
    let word = phrase::word(name);
    Some(match error {
        SignInError::NotDiscovered { tried } => {
            let tried: Vec<String> = tried.iter().map(ToString::to_string).collect();
            let token = format!("if it takes a token: `wharf add {word} --token -`");
            if tried.is_empty() {
                return Some(token);
            }
            format!("tried {}; {token}", tried.join(", "))
        }
        SignInError::NotHttp => format!("to store a token for it: `wharf add {word} --token -`"),
        SignInError::NotUsed => format!("correct the header in its entry (`wharf get {word}`)"),
        SignInError::NotSignedIn => "`wharf credentials list` shows what is stored".to_owned(),
        SignInError::UnconfirmedIssuer { .. } => {
            "if the secret of the client is for it, set \"issuer\" in \"oauth\" of the entry to it"
                .to_owned()
        }
        SignInError::ClientIdNeeded { .. } | SignInError::OtherIssuer { .. } => {
            "register a client on the website of the service, and set \"oauth\": { \"clientId\": … \
             } in the entry"
                .to_owned()
        }
        SignInError::Callback { .. } => {
            "close the program that uses the port, or set another \"callbackPort\" in \"oauth\""
                .to_owned()
        }
        SignInError::NobodyAnswers => {
            format!("run it on a terminal, or with a code: `wharf login {word} --device`")
        }
        SignInError::Unsupported { .. } => format!("`wharf login {word}` without other flags"),
        SignInError::Store(_) => "`wharf doctor` checks the credential store".to_owned(),
        error if error.is_transient() => format!("try again later: `wharf login {word}`"),
        _ => return None,
    })
}

/// Returns the exit code.
pub(super) fn exit(error: &SignInError) -> Exit {
    match error {
        SignInError::TimedOut { .. } => Exit::TimedOut,
        SignInError::Untrusted => Exit::Untrusted,
        SignInError::UnknownServer
        | SignInError::NotHttp
        | SignInError::NotUsed
        | SignInError::NotSignedIn
        | SignInError::Store(_) => Exit::Negative,
        _ => Exit::SignIn,
    }
}
