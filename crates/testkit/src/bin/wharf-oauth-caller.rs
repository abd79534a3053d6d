//! Calls a tool of a server with the credential in a folder: one of many processes that may have to
//! renew the same token.
//!
//! Arguments: the home folder, and the URL of the server. It fails if the call does.

#![expect(clippy::print_stderr, reason = "a failure is explained on stderr")]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use wharf::{AllowAll, Catalog, Env, FileCredentials, Http, Options, Platform, Runtime};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(home), Some(url)) = (arguments.next(), arguments.next()) else {
        return Err("usage: wharf-oauth-caller HOME URL".into());
    };
    let env = Env::new(Platform::HOST, &home).with_home(&home);
    let mut catalog = Catalog::new(&env);
    catalog.insert("server", Http::new(url));
    let credentials = Arc::new(FileCredentials::new(Arc::new(env.clone())));
    let approver = Some(Arc::new(AllowAll) as _);
    let options = Options { credentials, approver, ..Options::new(env) };
    let runtime = Runtime::start(&catalog, options);
    let outcome = runtime.call("server/add", json!({ "a": 1, "b": 2 })).await;
    runtime.shutdown().await;
    match outcome.error {
        None => Ok(()),
        Some(error) => Err(error.into()),
    }
}
