//! A host whose credential store panics: one server fails, the others keep working.
//!
//! `cargo xtask test` runs it in the release profile (without optimization, which takes long and
//! makes no difference), because tests always unwind, whatever the panic setting of the profile:
//!
//! ```text
//! cargo run --profile release-check -p wharf --example panic
//! ```

use std::error::Error;
use std::sync::Arc;

use wharf::config::load;
use wharf::{
    CredentialQuery, CredentialStore, CredentialStoreError, Env, Json, LoadOptions, Options,
    Platform, Runtime, Status, StoredCredential,
};

/// The program starts itself as the servers, with this argument.
const SERVE: &str = "serve";

/// The tool of the built-in server.
const TOOL: &str = "good/sequentialthinking";

struct BrokenStore;

impl CredentialStore for BrokenStore {
    fn find(
        &self,
        _: &CredentialQuery<'_>,
    ) -> Result<Option<StoredCredential>, CredentialStoreError> {
        panic!("a credential store that panics on purpose");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some(SERVE) {
        return Ok(wharf::thinking::serve(tokio::io::stdin(), tokio::io::stdout()).await?);
    }
    let folder = tempfile::tempdir()?;
    let program = std::env::current_exe()?.to_string_lossy().into_owned();
    // Servers with the same command and arguments would count as one.
    let entry = |name: &str, auth: &str| {
        let args = format!(r#"["{SERVE}","{name}"]"#);
        format!(r#""{name}":{{"command":{program:?},"args":{args},"approval":"never"{auth}}}"#)
    };
    let bad = entry("bad", r#","auth":{"type":"bearer","credentialId":"any"}"#);
    let servers = format!("{{{},{bad}}}", entry("good", ""));
    let env = Env::new(Platform::HOST, folder.path())
        .with_home(folder.path())
        .with_variable("WHARF_MCP_SERVERS", servers);
    let catalog = load(&env, LoadOptions::default())?;
    let options = Options { credentials: Arc::new(BrokenStore), ..Options::new(env) };
    let runtime = Runtime::start(&catalog, options);
    runtime.settled().await;
    let states = ["good", "bad"].map(|name| runtime.status(name));
    assert_eq!(states, [Some(Status::Connected), Some(Status::Failed)]);
    let thought: Json =
        r#"{"thought":"go on","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}"#
            .parse()?;
    let outcome = runtime.call(TOOL, &thought).await;
    assert!(outcome.ok(), "{}", outcome.text);
    runtime.shutdown().await;
    Ok(())
}
