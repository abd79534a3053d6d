//! The trust prompt of a host: asks about untrusted servers of a project, and saves the decisions.
//!
//! Until then nothing of such a server is expanded, started or sent; the host sees the entry as
//! written. A decision holds for exactly that entry, so a changed entry is asked about again. A
//! decision that cannot be saved counts for this runtime, and the host gets a problem.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use wharf_config::store::{LOCK_TIMEOUT, WriteLock};
use wharf_config::trust::{TrustStore, TrustSubject};
use wharf_config::{Catalog, Env, Problem, Server, ServerName, TrustReview};
use wharf_protocol::transport::BoxFuture;

/// Decides whether servers of a project may be used.
///
/// The project chooses the name of a server, so a name says nothing: a decider compares the entry as
/// written, or shows it to a person. A closure that takes a [`Server`] and returns a future is a
/// decider:
///
/// ```
/// use std::io::{BufRead, Write, stdin, stdout};
///
/// use wharf::config::text::clean;
/// use wharf::{Server, TrustDecision};
///
/// # fn takes(_: impl wharf::TrustDecider) {}
/// # takes(
/// async |server: Server| {
///     let asking = tokio::task::spawn_blocking(move || ask(&server));
///     asking.await.unwrap_or(TrustDecision::Skip)
/// }
/// # );
///
/// /// Shows what would be started or contacted, cleaned for the terminal, and reads the answer.
/// fn ask(server: &Server) -> TrustDecision {
///     let entry = &server.definition.fields;
///     let words = entry.command.iter().chain(&entry.args).chain(&entry.url);
///     let words: Vec<String> = words.map(|word| format!("`{}`", clean(&word.text))).collect();
///     println!("{} says:", server.definition.source.path.display());
///     println!("  {}: {}", clean(server.definition.name.as_str()), words.join(" "));
///     for (name, value) in entry.env.iter().chain(&entry.headers) {
///         println!("  with {}: {}", clean(name), clean(&value.text));
///     }
///     print!("trust it? [y]es, [n]ever, anything else for not now: ");
///     let mut line = String::new();
///     let read = stdout().flush().and_then(|()| stdin().lock().read_line(&mut line));
///     match (read, line.trim()) {
///         (Ok(_), "y") => TrustDecision::Trust,
///         (Ok(_), "n") => TrustDecision::Refuse,
///         _ => TrustDecision::Skip,
///     }
/// }
/// ```
pub trait TrustDecider: Send + Sync + 'static {
    /// Decides about one server; its `trust` has what changed since it was trusted before.
    fn decide(&self, server: Server) -> BoxFuture<'_, TrustDecision>;
}

impl<F, A> TrustDecider for F
where
    F: Fn(Server) -> A + Send + Sync + 'static,
    A: Future<Output = TrustDecision> + Send + 'static,
{
    fn decide(&self, server: Server) -> BoxFuture<'_, TrustDecision> {
        Box::pin(self(server))
    }
}

/// A decision about a server.
///
/// Who trusts any server of a project, remote or not, trusts its folder, as `wharf trust` does: the
/// user's own servers then run in that folder, not in the home folder, and programs such as `npx`
/// prefer files of the folder in which they run. [`TrustDecision::TrustOnce`] does so for this
/// runtime only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustDecision {
    /// It may be used, now and later, until its entry changes.
    Trust,
    /// It may be used by this runtime; the next start asks again.
    TrustOnce,
    /// It is not used; the next start asks again.
    Skip,
    /// It is not used, now and later, until its entry changes.
    Refuse,
}

/// Asks about every untrusted server of a catalog, and applies the decisions to it. Returns a
/// problem for each decision that could not be saved, or whose server changed meanwhile.
pub(crate) async fn ask_about_untrusted(
    catalog: &mut Catalog,
    decider: &dyn TrustDecider,
    env: &Arc<Env>,
) -> Vec<Problem> {
    let mut decisions = Vec::new();
    for server in catalog.undecided() {
        // Files may change while the host decides; the decision is about the entry as shown.
        let review = TrustReview::of(&server.definition, env);
        // A panic is not a decision.
        let answer = AssertUnwindSafe(async { decider.decide(server.clone()).await });
        match answer.catch_unwind().await {
            Ok(TrustDecision::Skip) | Err(_) => {}
            Ok(decision) => decisions.push((review, decision)),
        }
    }
    let mut unsaved = Vec::new();
    let mut problems = Vec::new();
    for (review, decision) in decisions {
        match decision {
            // What changed since it was shown stays untrusted, and nothing is saved about it.
            TrustDecision::Trust | TrustDecision::TrustOnce => {
                if !catalog.trust(&review, env) {
                    problems.push(changed_meanwhile(&review.into_parts().0));
                    continue;
                }
            }
            TrustDecision::Refuse => catalog.refuse(&review),
            TrustDecision::Skip => {}
        }
        if matches!(decision, TrustDecision::Trust | TrustDecision::Refuse) {
            let (server, subject) = review.into_parts();
            unsaved.push(UnsavedDecision { server, subject, decision });
        }
    }
    if unsaved.is_empty() {
        return problems;
    }
    let env = Arc::clone(env);
    let saving = tokio::task::spawn_blocking(move || save_decisions(unsaved, &env));
    // The task is never aborted; it only fails while the program ends.
    problems.extend(saving.await.unwrap_or_default());
    problems
}

/// Makes the problem of a server that is not the one that was shown.
fn changed_meanwhile(server: &ServerName) -> Problem {
    let message = "it changed while you decided, so it is still not trusted";
    let problem = Problem::warning("changed-while-deciding", message);
    problem.hint("decide again about the changed entry").of_server(server.as_str())
}

/// A decision that is to count in later runs, too.
struct UnsavedDecision {
    server: ServerName,
    subject: TrustSubject,
    decision: TrustDecision,
}

/// Saves the decisions; returns a problem for each one if that fails.
fn save_decisions(decisions: Vec<UnsavedDecision>, env: &Env) -> Vec<Problem> {
    let Err(why) = try_save(&decisions, env) else { return Vec::new() };
    let problem = |unsaved: UnsavedDecision| {
        let message = format!("the trust decision counts for this run only: {why}");
        let problem = Problem::warning("trust-not-stored", message);
        problem.of_server(unsaved.server.as_str())
    };
    decisions.into_iter().map(problem).collect()
}

fn try_save(decisions: &[UnsavedDecision], env: &Env) -> Result<(), String> {
    let home = env.wharf_home().ok_or(wharf_config::NO_HOME)?;
    let lock = WriteLock::acquire(&home.join("run"), LOCK_TIMEOUT);
    let _lock = lock.map_err(|error| error.to_string())?;
    let (mut record, problem) = TrustStore::load(env);
    if let Some(problem) = problem {
        return Err(problem.message);
    }
    for UnsavedDecision { subject, decision, .. } in decisions {
        match decision {
            TrustDecision::Trust => record.accept(subject),
            TrustDecision::Refuse => record.refuse(subject),
            TrustDecision::TrustOnce | TrustDecision::Skip => {}
        }
    }
    record.save().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use wharf_config::trust::Trust;
    use wharf_config::{DefinitionState, LoadOptions, Platform, load};

    use super::*;

    /// Makes a project with the servers `yes` and `no`.
    fn project(folder: &Path) -> Arc<Env> {
        let (home, project) = (folder.join("home"), folder.join("project"));
        std::fs::create_dir_all(home.join(".wharf")).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let servers = r#"{"mcpServers":{"yes":{"command":"a"},"no":{"command":"b"}}}"#;
        wharf_config::store::write(&project.join(".wharf/mcp.json"), servers).unwrap();
        Arc::new(Env::new(Platform::HOST, &project).with_home(&home))
    }

    fn loaded(env: &Env) -> Catalog {
        load(env, LoadOptions::default()).unwrap()
    }

    fn states(catalog: &Catalog) -> [Option<DefinitionState>; 2] {
        ["yes", "no"].map(|name| catalog.winner(name).map(|server| server.state))
    }

    const UNTRUSTED: Option<DefinitionState> = Some(DefinitionState::Untrusted);
    const ENABLED: Option<DefinitionState> = Some(DefinitionState::Enabled);

    fn trust_one(decision: TrustDecision) -> impl TrustDecider {
        move |server: Server| {
            let is_wanted = server.definition.name == "yes";
            std::future::ready(if is_wanted { decision } else { TrustDecision::Skip })
        }
    }

    #[tokio::test]
    async fn a_decision_counts_now_and_in_later_runs() {
        let folder = tempfile::tempdir().unwrap();
        let env = project(folder.path());
        let mut catalog = loaded(&env);
        assert_eq!(states(&catalog), [UNTRUSTED; 2]);
        let decider = trust_one(TrustDecision::Trust);
        let problems = ask_about_untrusted(&mut catalog, &decider, &env).await;
        assert!(problems.is_empty() && catalog.is_folder_trusted);
        assert_eq!(states(&catalog), [ENABLED, UNTRUSTED]);
        assert_eq!(states(&loaded(&env)), [ENABLED, UNTRUSTED], "the decision is saved");
    }

    #[tokio::test]
    async fn a_decision_for_one_run_is_not_saved() {
        let folder = tempfile::tempdir().unwrap();
        let env = project(folder.path());
        let mut catalog = loaded(&env);
        let decider = trust_one(TrustDecision::TrustOnce);
        assert!(ask_about_untrusted(&mut catalog, &decider, &env).await.is_empty());
        assert_eq!(states(&catalog), [ENABLED, UNTRUSTED]);
        assert_eq!(states(&loaded(&env)), [UNTRUSTED; 2]);
    }

    #[tokio::test]
    async fn a_refused_server_is_not_asked_about_again() {
        let folder = tempfile::tempdir().unwrap();
        let env = project(folder.path());
        let asked = Arc::new(AtomicUsize::new(0));
        let refuse_all = {
            let asked = Arc::clone(&asked);
            move |_: Server| {
                asked.fetch_add(1, Ordering::Relaxed);
                std::future::ready(TrustDecision::Refuse)
            }
        };
        for _ in 0..2 {
            let mut catalog = loaded(&env);
            ask_about_untrusted(&mut catalog, &refuse_all, &env).await;
            assert_eq!(catalog.winner("yes").unwrap().trust, Trust::Refused);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2, "once for each server");
    }

    #[tokio::test]
    async fn a_decision_that_cannot_be_saved_counts_now_and_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let env = project(folder.path());
        let homeless = Arc::new(Env::new(Platform::HOST, &env.cwd));
        let mut catalog = loaded(&homeless);
        let decider = trust_one(TrustDecision::Trust);
        let problems = ask_about_untrusted(&mut catalog, &decider, &homeless).await;
        assert_eq!(states(&catalog), [ENABLED, UNTRUSTED]);
        assert_eq!(problems.len(), 1);
        assert_eq!(
            problems[0].message,
            "the trust decision counts for this run only: there is no home folder for Wharf's files"
        );
        assert_eq!(problems[0].server.as_deref(), Some("yes"));
    }

    #[tokio::test]
    async fn a_server_that_changes_while_the_host_decides_stays_untrusted_and_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let env = project(folder.path());
        let program = env.cwd.join(if cfg!(windows) { "a.exe" } else { "a" });
        let servers = r#"{"mcpServers":{"yes":{"command":"./a"},"no":{"command":"b"}}}"#;
        wharf_config::store::write(&env.cwd.join(".wharf/mcp.json"), servers).unwrap();
        let mut catalog = loaded(&env);
        // While the host decides, another program takes the place of the one that was shown.
        let decider = move |server: Server| {
            let is_wanted = server.definition.name == "yes";
            if is_wanted {
                make_program(&program);
            }
            let decision = if is_wanted { TrustDecision::Trust } else { TrustDecision::Skip };
            std::future::ready(decision)
        };
        let problems = ask_about_untrusted(&mut catalog, &decider, &env).await;
        assert_eq!(states(&catalog), [UNTRUSTED; 2]);
        let codes: Vec<_> = problems.iter().map(|it| (it.code, it.server.as_deref())).collect();
        assert_eq!(codes, [("changed-while-deciding", Some("yes"))]);
        assert_eq!(states(&loaded(&env)), [UNTRUSTED; 2], "nothing is saved");
    }

    fn make_program(path: &Path) {
        wharf_config::store::write(path, "#!/bin/sh\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
    }

    #[tokio::test]
    async fn a_decider_that_panics_has_not_decided() {
        let folder = tempfile::tempdir().unwrap();
        let env = project(folder.path());
        let mut catalog = loaded(&env);
        let decider = async |_: Server| -> TrustDecision { panic!("on purpose") };
        assert!(ask_about_untrusted(&mut catalog, &decider, &env).await.is_empty());
        assert_eq!(states(&catalog), [UNTRUSTED; 2]);
    }
}
