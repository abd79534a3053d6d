//! Asks the host about servers that came with a project, and remembers what was agreed to.
//!
//! Nothing of such a server is expanded, run or sent before; what is asked about is the entry as it
//! is written. An agreement is to exactly that, so a change asks again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use wharf_config::store::{LOCK_WAIT, Lock};
use wharf_config::trust::TrustStore;
use wharf_config::{Catalog, Env, LoadOptions, Server, ServerName, State, load};
use wharf_protocol::transport::Pending;

/// Decides whether servers of a project may be used.
pub trait TrustDecider: Send + Sync + 'static {
    /// Returns the answer for one server; its `trust` says what has changed since an earlier yes.
    fn decide<'a>(&'a self, server: &'a Server) -> Pending<'a, Decision>;
}

/// What was decided about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may be used, now and later, as long as it says what it says now.
    Trust,
    /// It is left alone; the next start asks again.
    Leave,
}

/// Asks about every untrusted server of a catalog; returns the catalog as it is after that.
pub(crate) async fn decide(
    catalog: Catalog,
    decider: &dyn TrustDecider,
    (env, look): (&Arc<Env>, LoadOptions),
) -> Catalog {
    let mut agreed = Vec::new();
    for server in catalog.winners().into_iter().filter(|it| it.state == State::Untrusted) {
        // Whoever panics over a server has not agreed to it.
        let asking = AssertUnwindSafe(async { decider.decide(server).await });
        if matches!(asking.catch_unwind().await, Ok(Decision::Trust)) {
            agreed.push(server.definition.name.clone());
        }
    }
    if agreed.is_empty() {
        return catalog;
    }
    let env = Arc::clone(env);
    let noting =
        tokio::task::spawn_blocking(move || note(&catalog, &agreed, &env, look).unwrap_or(catalog));
    match noting.await {
        Ok(catalog) => catalog,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Writes down what was agreed to and looks again; nothing if that is not possible.
fn note(catalog: &Catalog, agreed: &[ServerName], env: &Env, look: LoadOptions) -> Option<Catalog> {
    let home = env.wharf_home()?;
    let _lock = Lock::acquire(&home.join("run"), LOCK_WAIT).ok()?;
    let (mut record, problem) = TrustStore::load(env);
    if problem.is_some() {
        tracing::warn!("what is trusted cannot be read, so nothing more is");
        return None;
    }
    for name in agreed {
        record.accept(&catalog.winner(name.as_str())?.definition, env);
    }
    if let Err(error) = record.save() {
        tracing::warn!(%error, "what was agreed to cannot be written down");
        return None;
    }
    load(env, look).ok()
}

#[cfg(test)]
mod tests {
    use wharf_config::Platform;

    use super::*;

    /// Trusts servers of one name.
    struct Only(&'static str);

    impl TrustDecider for Only {
        fn decide<'a>(&'a self, server: &'a Server) -> Pending<'a, Decision> {
            let is_meant = server.definition.name.as_str() == self.0;
            let decision = if is_meant { Decision::Trust } else { Decision::Leave };
            Box::pin(std::future::ready(decision))
        }
    }

    #[tokio::test]
    async fn what_the_host_agrees_to_is_trusted_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(home.join(".wharf")).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let servers = r#"{"mcpServers":{"yes":{"command":"a"},"no":{"command":"b"}}}"#;
        wharf_config::store::write(&project.join(".mcp.json"), servers).unwrap();
        let env = Arc::new(Env::new(Platform::HOST, &project).with_home(&home));
        let look = LoadOptions::default();
        let states = |catalog: &Catalog| {
            ["yes", "no"].map(|name| catalog.winner(name).map(|server| server.state))
        };
        let before = load(&env, look).unwrap();
        assert_eq!(states(&before), [Some(State::Untrusted); 2]);
        let after = decide(before, &Only("yes"), (&env, look)).await;
        let expected = [Some(State::Enabled), Some(State::Untrusted)];
        assert_eq!(states(&after), expected);
        assert_eq!(states(&load(&env, look).unwrap()), expected, "it is remembered");
    }
}
