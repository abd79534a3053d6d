//! The trust prompt of a host: asks about untrusted servers of a project, and saves the decisions.
//!
//! Until then nothing of such a server is expanded, started or sent; the host sees the entry as
//! written. A decision holds for exactly that entry, so a changed entry is asked about again.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use wharf_config::store::{LOCK_TIMEOUT, WriteLock};
use wharf_config::trust::{Trust, TrustStore, TrustSubject};
use wharf_config::{Catalog, DefinitionState, Env, LoadOptions, Server, load};
use wharf_protocol::transport::BoxFuture;

/// Decides whether servers of a project may be used.
pub trait TrustDecider: Send + Sync + 'static {
    /// Decides about one server; its `trust` has what changed since it was trusted before.
    fn decide<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, TrustDecision>;
}

/// A decision about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustDecision {
    /// It may be used, now and later, until its entry changes.
    Trust,
    /// It is not used; the next start asks again.
    Skip,
    /// It is not used, now and later, until its entry changes.
    Refuse,
}

/// Asks about every untrusted server of a catalog; returns the catalog with the decisions applied.
pub(crate) async fn ask_about_untrusted(
    catalog: Catalog,
    decider: &dyn TrustDecider,
    env: &Arc<Env>,
    load_options: LoadOptions,
) -> Catalog {
    let mut decisions = Vec::new();
    let is_open =
        |it: &&Server| it.state == DefinitionState::Untrusted && it.trust != Trust::Refused;
    for server in catalog.winners().into_iter().filter(is_open) {
        // Files may change while the host decides; the decision is about the entry as shown.
        let subject = TrustSubject::of(&server.definition, env);
        // A panic is not a decision.
        let answer = AssertUnwindSafe(async { decider.decide(server).await });
        match answer.catch_unwind().await {
            Ok(TrustDecision::Skip) | Err(_) => {}
            Ok(decision) => decisions.push((subject, decision)),
        }
    }
    if decisions.is_empty() {
        return catalog;
    }
    let env = Arc::clone(env);
    let saving = tokio::task::spawn_blocking(move || {
        save_decisions(&decisions, &env, load_options).unwrap_or(catalog)
    });
    match saving.await {
        Ok(catalog) => catalog,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Saves the decisions and loads the catalog again; `None` if that fails.
fn save_decisions(
    decisions: &[(TrustSubject, TrustDecision)],
    env: &Env,
    load_options: LoadOptions,
) -> Option<Catalog> {
    let home = env.wharf_home()?;
    let _lock = WriteLock::acquire(&home.join("run"), LOCK_TIMEOUT).ok()?;
    let (mut record, problem) = TrustStore::load(env);
    if problem.is_some() {
        tracing::warn!("the trust file cannot be read, so no decision is saved");
        return None;
    }
    for (subject, decision) in decisions {
        match decision {
            TrustDecision::Trust => record.accept(subject),
            TrustDecision::Refuse => record.refuse(subject),
            TrustDecision::Skip => {}
        }
    }
    if let Err(error) = record.save() {
        tracing::warn!(%error, "the trust decisions cannot be saved");
        return None;
    }
    load(env, load_options).ok()
}

#[cfg(test)]
mod tests {
    use wharf_config::Platform;

    use super::*;

    /// Trusts the server of one name.
    struct TrustOnly(&'static str);

    impl TrustDecider for TrustOnly {
        fn decide<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, TrustDecision> {
            let is_meant = server.definition.name.as_str() == self.0;
            let decision = if is_meant { TrustDecision::Trust } else { TrustDecision::Skip };
            Box::pin(std::future::ready(decision))
        }
    }

    #[tokio::test]
    async fn a_server_that_the_host_trusts_stays_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(home.join(".wharf")).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let servers = r#"{"mcpServers":{"yes":{"command":"a"},"no":{"command":"b"}}}"#;
        wharf_config::store::write(&project.join(".mcp.json"), servers).unwrap();
        let env = Arc::new(Env::new(Platform::HOST, &project).with_home(&home));
        let load_options = LoadOptions::default();
        let states = |catalog: &Catalog| {
            ["yes", "no"].map(|name| catalog.winner(name).map(|server| server.state))
        };
        let before = load(&env, load_options).unwrap();
        assert_eq!(states(&before), [Some(DefinitionState::Untrusted); 2]);
        let after = ask_about_untrusted(before, &TrustOnly("yes"), &env, load_options).await;
        let expected = [Some(DefinitionState::Enabled), Some(DefinitionState::Untrusted)];
        assert_eq!(states(&after), expected);
        assert_eq!(states(&load(&env, load_options).unwrap()), expected, "the decision is saved");
    }

    /// Refuses every server, and counts the prompts.
    #[derive(Default)]
    struct RefuseAll(std::sync::atomic::AtomicUsize);

    impl TrustDecider for RefuseAll {
        fn decide<'a>(&'a self, _: &'a Server) -> BoxFuture<'a, TrustDecision> {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Box::pin(std::future::ready(TrustDecision::Refuse))
        }
    }

    #[tokio::test]
    async fn a_refused_server_is_not_asked_about_again() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(home.join(".wharf")).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let servers = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
        wharf_config::store::write(&project.join(".mcp.json"), servers).unwrap();
        let env = Arc::new(Env::new(Platform::HOST, &project).with_home(&home));
        let (load_options, refuse_all) = (LoadOptions::default(), RefuseAll::default());
        for _ in 0..2 {
            let catalog = ask_about_untrusted(
                load(&env, load_options).unwrap(),
                &refuse_all,
                &env,
                load_options,
            )
            .await;
            assert_eq!(catalog.winner("a").unwrap().trust, Trust::Refused);
        }
        assert_eq!(refuse_all.0.into_inner(), 1);
    }
}
