//! `cargo xtask test`: all checks that must pass before a change is merged.
//!
//! All checks run even if one fails, so that one run shows all failures. The summary names every
//! skipped check.

use std::time::{Duration, Instant};

use crate::TaskOutcome;
use crate::cargo::{Cargo, MissingTools};
use crate::features::{self, PackageFeatures};
use crate::packages;
use crate::tools;

/// Runs all checks and prints the summary.
pub(crate) fn run(cargo: &Cargo) -> TaskOutcome {
    let started = Instant::now();
    let installed = |subcommand: &str| cargo.has(subcommand);
    let release = packages::last_release(cargo.root());
    let finished: Vec<FinishedCheck> = plan(&installed, cargo.missing_tools, release)
        .into_iter()
        .map(|check| {
            println!("\n=== {}: {}", check.name, check.describe());
            let started = Instant::now();
            let verdict = match check.step {
                CheckStep::Run { arguments, set } => verdict(cargo.run(arguments, set)),
                CheckStep::EachFeature(package) => verdict(package.check(cargo)),
                CheckStep::CountPackages { most } => {
                    verdict(features::check_package_count(cargo, most))
                }
                CheckStep::CompareApi { release } => {
                    verdict(packages::compare_api(cargo, &release))
                }
                CheckStep::Skip { why } => CheckVerdict::Skipped(why),
                CheckStep::Fail { why } => CheckVerdict::Failed(why.to_owned()),
            };
            FinishedCheck { name: check.name, verdict, took: started.elapsed() }
        })
        .collect();
    print!("\n{}", summary(&finished, started.elapsed()));
    print!("{}", other_tasks(tools::missing_node(), tools::missing_python()));
    if finished.iter().any(|check| matches!(check.verdict, CheckVerdict::Failed(_))) {
        TaskOutcome::Failed
    } else {
        TaskOutcome::Passed
    }
}

/// A check and how it is run on this machine.
#[derive(Debug, PartialEq)]
struct Check {
    name: &'static str,
    step: CheckStep,
}

#[derive(Debug, PartialEq)]
enum CheckStep {
    /// Run cargo, with these environment variables set.
    Run {
        arguments: &'static [&'static str],
        set: &'static [(&'static str, &'static str)],
    },
    /// Run clippy with each feature of a package alone.
    EachFeature(&'static PackageFeatures),
    /// Count the packages of the build that has only servers on stdio.
    CountPackages {
        most: usize,
    },
    /// Compare the API of the libraries with that of a release, which is a tag.
    CompareApi {
        release: String,
    },
    Skip {
        why: &'static str,
    },
    Fail {
        why: &'static str,
    },
}

struct FinishedCheck {
    name: &'static str,
    verdict: CheckVerdict,
    took: Duration,
}

enum CheckVerdict {
    Passed,
    Failed(String),
    Skipped(&'static str),
}

fn verdict(outcome: Result<(), String>) -> CheckVerdict {
    match outcome {
        Ok(()) => CheckVerdict::Passed,
        Err(why) => CheckVerdict::Failed(why),
    }
}

impl Check {
    fn run(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, step: CheckStep::Run { arguments, set: &[] } }
    }

    /// Describes the check in one line, as the command to type.
    fn describe(&self) -> String {
        match &self.step {
            CheckStep::Run { arguments, set } => {
                let set = set.iter().map(|(name, value)| format!("{name}=\"{value}\""));
                let arguments = arguments.iter().map(ToString::to_string);
                let words: Vec<String> = set.chain(["cargo".into()]).chain(arguments).collect();
                words.join(" ")
            }
            CheckStep::EachFeature(package) => package.describe(),
            CheckStep::CountPackages { most } => {
                format!("cargo {}: at most {most} packages", features::STDIO_PACKAGES.join(" "))
            }
            CheckStep::CompareApi { release } => packages::describe_comparison(release),
            CheckStep::Skip { why } => format!("skipped, {why}"),
            CheckStep::Fail { why } => format!("failed, {why}"),
        }
    }
}

/// Decides how each check is run, depending on the installed tools.
fn plan(
    installed: &dyn Fn(&str) -> bool,
    missing: MissingTools,
    release: Option<String>,
) -> Vec<Check> {
    let component = |name, subcommand: &str, why, arguments| match missing {
        _ if installed(subcommand) => Check::run(name, arguments),
        MissingTools::Skip => Check { name, step: CheckStep::Skip { why } },
        MissingTools::Fail => Check { name, step: CheckStep::Fail { why } },
    };
    vec![
        component(
            "format",
            "fmt",
            "rustfmt is not installed (`rustup component add rustfmt`)",
            &["fmt", "--all", "--check"],
        ),
        component(
            "lints",
            "clippy",
            NO_CLIPPY,
            &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        ),
        tests(installed("nextest")),
        component("lints (otel)", "clippy", NO_CLIPPY, &OTEL_LINTS),
        Check::run("tests (otel)", &OTEL_TESTS),
        Check::run("doctests", &DOCTESTS),
        Check::run("a panic in the release profile", &PANIC),
        Check {
            name: "docs",
            step: CheckStep::Run { arguments: &DOCS, set: &[("RUSTDOCFLAGS", "-D warnings")] },
        },
        feature_lints(
            "features of the protocol",
            &features::PROTOCOL,
            installed("clippy"),
            missing,
        ),
        feature_lints("features of the runtime", &features::RUNTIME, installed("clippy"), missing),
        feature_lints(
            "features of the definitions",
            &features::CONFIG,
            installed("clippy"),
            missing,
        ),
        Check::run("tests without features", &features::STDIO_TESTS),
        Check::run("the example with rig", &RIG),
        Check {
            name: "packages without features",
            step: CheckStep::CountPackages { most: features::MOST_PACKAGES },
        },
        Check::run("packages", &packages::PACK),
        api_comparison(installed("semver-checks"), release),
        dependencies(installed("deny")),
    ]
}

fn feature_lints(
    name: &'static str,
    package: &'static PackageFeatures,
    has_clippy: bool,
    missing: MissingTools,
) -> Check {
    let step = match missing {
        _ if has_clippy => CheckStep::EachFeature(package),
        MissingTools::Skip => CheckStep::Skip { why: NO_CLIPPY },
        MissingTools::Fail => CheckStep::Fail { why: NO_CLIPPY },
    };
    Check { name, step }
}

const NO_CLIPPY: &str = "clippy is not installed (`rustup component add clippy`)";

/// The feature `otel` in all packages that have it; the other checks run without it.
///
/// It is used with the whole workspace: with fewer packages the dependencies would have other
/// features, and cargo could not reuse what the other checks built.
const OTEL: &str = "wharf/otel,wharf-cli/otel,wharf-testkit/otel";

const OTEL_LINTS: [&str; 9] = [
    "clippy",
    "--workspace",
    "--features",
    OTEL,
    "--all-targets",
    "--locked",
    "--",
    "-D",
    "warnings",
];

const OTEL_TESTS: [&str; 11] = [
    "test",
    "--workspace",
    "--features",
    OTEL,
    "--locked",
    "--no-fail-fast",
    "--lib",
    "--bin",
    "wharf",
    "--test",
    "otel",
];

/// The documentation is built with all features.
const DOCTESTS: [&str; 7] =
    ["test", "--doc", "--workspace", "--features", OTEL, "--locked", "--no-fail-fast"];

/// Tests always unwind, so the panic strategy of the release profile is tested with a program.
const PANIC: [&str; 8] =
    ["run", "--profile", "release-check", "--locked", "--package", "wharf", "--example", "panic"];

/// The example is a workspace of its own, because `rig` needs a newer Rust than Wharf.
const RIG: [&str; 6] = [
    "test",
    "--manifest-path",
    "examples/rig/Cargo.toml",
    "--locked",
    "--target-dir",
    "target/rig",
];

const DOCS: [&str; 6] = ["doc", "--workspace", "--features", OTEL, "--no-deps", "--locked"];

/// Runs the tests with cargo-nextest if it is installed; the heading names the runner.
fn tests(has_nextest: bool) -> Check {
    if has_nextest {
        return Check::run(
            "tests (cargo-nextest)",
            &["nextest", "run", "--workspace", "--locked", "--no-fail-fast"],
        );
    }
    Check::run(
        "tests (cargo test, cargo-nextest is not installed)",
        // Not `--all-targets`: that would run the benchmarks as tests.
        &[
            "test",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
            "--examples",
        ],
    )
}

/// CI may skip it: it needs a release to compare with, and a tool that does not come with Rust.
fn api_comparison(has_semver_checks: bool, release: Option<String>) -> Check {
    let step = match release {
        Some(release) if has_semver_checks => CheckStep::CompareApi { release },
        Some(_) => CheckStep::Skip { why: "cargo-semver-checks is not installed" },
        None => CheckStep::Skip { why: "there is no release to compare the API with" },
    };
    Check { name: "compatibility of the API", step }
}

/// CI may skip it, too: it needs a tool that does not come with Rust.
fn dependencies(has_deny: bool) -> Check {
    if has_deny {
        // Advisories are left out, because fetching them needs the network.
        return Check::run("dependencies", &["deny", "check", "bans", "licenses", "sources"]);
    }
    let why = "cargo-deny is not installed: licences and sources were not checked";
    Check { name: "dependencies", step: CheckStep::Skip { why } }
}

fn summary(finished: &[FinishedCheck], took: Duration) -> String {
    use std::fmt::Write as _;

    let mut text = String::from("=== summary\n");
    let mut failed = 0;
    let mut skipped = 0;
    for check in finished {
        let (verdict, note) = match &check.verdict {
            CheckVerdict::Passed => ("ok", String::new()),
            CheckVerdict::Failed(why) => {
                failed += 1;
                ("FAILED", format!(": {why}"))
            }
            CheckVerdict::Skipped(why) => {
                skipped += 1;
                ("skipped", format!(": {why}"))
            }
        };
        let seconds = check.took.as_secs_f64();
        // Writing into a `String` cannot fail.
        let _ = writeln!(text, "{verdict:<7} {seconds:>7.1} s  {}{note}", check.name);
    }
    let passed = finished.len() - failed - skipped;
    let seconds = took.as_secs_f64();
    let _ = writeln!(text, "{passed} ok, {failed} failed, {skipped} skipped in {seconds:.1} s");
    text
}

/// Names the tasks that are not part of `test` because they install programs, and those that this
/// machine cannot run.
fn other_tasks(node: Option<String>, python: Option<String>) -> String {
    let tasks = [
        ("conformance", node.clone()),
        ("interop, servers on Node", node),
        ("interop, servers on Python", python),
    ];
    let (cannot, can): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|(_, why)| why.is_some());
    let mut text: String = cannot
        .iter()
        .flat_map(|(name, why)| ["skipped: ", name, ": ", why.as_deref().unwrap_or_default(), "\n"])
        .collect();
    if !can.is_empty() {
        let names: Vec<&str> = can.iter().map(|(name, _)| *name).collect();
        text.extend(["not part of `test`: ", &names.join("; "), "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(installed: &[&str], missing: MissingTools, release: Option<&str>, expected: &str) {
        let is_installed = |subcommand: &str| installed.contains(&subcommand);
        let plan = plan(&is_installed, missing, release.map(str::to_owned));
        let lines: Vec<String> =
            plan.iter().map(|check| format!("{}: {}", check.name, check.describe())).collect();
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn with_every_tool_every_check_runs() {
        check(
            &["fmt", "clippy", "nextest", "deny", "semver-checks"],
            MissingTools::Fail,
            Some("v0.1.0"),
            "\
format: cargo fmt --all --check
lints: cargo clippy --workspace --all-targets --locked -- -D warnings
tests (cargo-nextest): cargo nextest run --workspace --locked --no-fail-fast
lints (otel): cargo clippy --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --all-targets --locked -- -D warnings
tests (otel): cargo test --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --locked --no-fail-fast --lib --bin wharf --test otel
doctests: cargo test --doc --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --locked --no-fail-fast
a panic in the release profile: cargo run --profile release-check --locked --package wharf --example panic
docs: RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --no-deps --locked
features of the protocol: cargo clippy --package wharf-protocol --no-default-features, with none and with one each of http, tls, serve, serve-http, skills
features of the runtime: cargo clippy --package wharf --no-default-features, with none and with one each of discovery, http, tls, oauth, keychain, serve, thinking, schema-validation, otel
features of the definitions: cargo clippy --package wharf-config --no-default-features, with none and with one each of discovery, http
tests without features: cargo test --package wharf --package wharf-config --package wharf-protocol --no-default-features --locked --no-fail-fast --lib --test own_files --test without_http
the example with rig: cargo test --manifest-path examples/rig/Cargo.toml --locked --target-dir target/rig
packages without features: cargo tree --package wharf --no-default-features --edges normal --target x86_64-unknown-linux-gnu --prefix none --no-dedupe --locked: at most 80 packages
packages: cargo package --offline --no-verify --allow-dirty --package wharf-config --package wharf-protocol --package wharf --config patch.crates-io.wharf-config.path='crates/config' --config patch.crates-io.wharf-protocol.path='crates/protocol'
compatibility of the API: cargo semver-checks --package wharf-config --package wharf-protocol --package wharf --baseline-rev v0.1.0
dependencies: cargo deny check bans licenses sources",
        );
    }

    #[test]
    fn a_missing_tool_is_named_on_a_developers_machine() {
        check(
            &[],
            MissingTools::Skip,
            None,
            "\
format: skipped, rustfmt is not installed (`rustup component add rustfmt`)
lints: skipped, clippy is not installed (`rustup component add clippy`)
tests (cargo test, cargo-nextest is not installed): cargo test --workspace --locked --no-fail-fast --lib --bins --tests --examples
lints (otel): skipped, clippy is not installed (`rustup component add clippy`)
tests (otel): cargo test --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --locked --no-fail-fast --lib --bin wharf --test otel
doctests: cargo test --doc --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --locked --no-fail-fast
a panic in the release profile: cargo run --profile release-check --locked --package wharf --example panic
docs: RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --features wharf/otel,wharf-cli/otel,wharf-testkit/otel --no-deps --locked
features of the protocol: skipped, clippy is not installed (`rustup component add clippy`)
features of the runtime: skipped, clippy is not installed (`rustup component add clippy`)
features of the definitions: skipped, clippy is not installed (`rustup component add clippy`)
tests without features: cargo test --package wharf --package wharf-config --package wharf-protocol --no-default-features --locked --no-fail-fast --lib --test own_files --test without_http
the example with rig: cargo test --manifest-path examples/rig/Cargo.toml --locked --target-dir target/rig
packages without features: cargo tree --package wharf --no-default-features --edges normal --target x86_64-unknown-linux-gnu --prefix none --no-dedupe --locked: at most 80 packages
packages: cargo package --offline --no-verify --allow-dirty --package wharf-config --package wharf-protocol --package wharf --config patch.crates-io.wharf-config.path='crates/config' --config patch.crates-io.wharf-protocol.path='crates/protocol'
compatibility of the API: skipped, there is no release to compare the API with
dependencies: skipped, cargo-deny is not installed: licences and sources were not checked",
        );
    }

    #[test]
    fn on_ci_only_tools_that_are_not_part_of_rust_may_be_missing() {
        let steps: Vec<CheckStep> =
            plan(&|_| false, MissingTools::Fail, None).into_iter().map(|it| it.step).collect();
        let kinds: Vec<&str> = steps
            .iter()
            .map(|step| match step {
                CheckStep::Run { .. }
                | CheckStep::EachFeature(_)
                | CheckStep::CountPackages { .. }
                | CheckStep::CompareApi { .. } => "run",
                CheckStep::Skip { .. } => "skip",
                CheckStep::Fail { .. } => "fail",
            })
            .collect();
        assert_eq!(
            kinds,
            [
                "fail", "fail", "run", "fail", "run", "run", "run", "run", "fail", "fail", "fail",
                "run", "run", "run", "run", "skip", "skip"
            ]
        );
    }

    #[test]
    fn the_summary_names_what_failed_and_what_was_skipped() {
        let took = Duration::from_millis(1250);
        let finished = [
            FinishedCheck { name: "format", verdict: CheckVerdict::Passed, took },
            FinishedCheck {
                name: "lints",
                verdict: CheckVerdict::Failed("exit status: 101".into()),
                took,
            },
            FinishedCheck {
                name: "dependencies",
                verdict: CheckVerdict::Skipped("no cargo-deny"),
                took,
            },
        ];
        assert_eq!(
            summary(&finished, Duration::from_secs(4)),
            "\
=== summary
ok          1.2 s  format
FAILED      1.2 s  lints: exit status: 101
skipped     1.2 s  dependencies: no cargo-deny
1 ok, 1 failed, 1 skipped in 4.0 s
"
        );
    }

    #[test]
    fn tasks_that_need_other_programs_are_named_with_the_reason() {
        assert_eq!(
            other_tasks(None, Some("python3 is not installed".into())),
            "\
skipped: interop, servers on Python: python3 is not installed
not part of `test`: conformance; interop, servers on Node
"
        );
    }
}
