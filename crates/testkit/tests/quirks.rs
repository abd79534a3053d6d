//! Tests the client against every misbehaving server: it connects, lists and calls, or fails as
//! the table of modes expects. Afterwards no process is left.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]
#![expect(clippy::print_stdout, reason = "it prints how long each run takes")]

#[path = "quirks/handler.rs"]
mod handler;
#[path = "quirks/heavy.rs"]
mod heavy;
#[path = "quirks/limits.rs"]
mod limits;
#[path = "quirks/report.rs"]
mod report;
#[path = "quirks/run.rs"]
mod run;

use std::time::Instant;

use futures_util::{StreamExt as _, stream};
use wharf_testkit::quirk::{ModeTag, QuirkEra, QuirkMode, http_modes_of, stdio_modes_of};

/// How many servers run concurrently.
const AT_ONCE: usize = 8;

/// Runs the modes in all their eras and lists every one that deviates.
async fn check<Run: Future<Output = Option<String>>>(
    modes: Vec<QuirkMode>,
    at_once: usize,
    run: impl Fn(QuirkMode, QuirkEra) -> Run,
) {
    assert!(!modes.is_empty());
    let runs = modes.iter().flat_map(|mode| mode.eras.iter().map(move |era| (*mode, *era)));
    let runs = runs.map(|(mut mode, era)| {
        mode.expect = mode.expected_in(era);
        let began = Instant::now();
        let running = run(mode, era);
        async move {
            let deviation = running.await;
            println!("{} {} {:?}", mode.name, era.as_argument(), began.elapsed());
            deviation.map(|text| format!("{} ({}): {text}", mode.name, era.as_argument()))
        }
    });
    let found: Vec<_> = stream::iter(runs).buffer_unordered(at_once).collect().await;
    let deviations: Vec<_> = found.into_iter().flatten().collect();
    assert!(deviations.is_empty(), "{}:\n{}", deviations.len(), deviations.join("\n"));
}

fn light_modes(modes: Vec<QuirkMode>) -> Vec<QuirkMode> {
    modes.into_iter().filter(|mode| !mode.has(ModeTag::Heavy) && runs_here(mode)).collect()
}

fn runs_here(mode: &QuirkMode) -> bool {
    cfg!(unix) || !mode.has(ModeTag::UnixOnly)
}

async fn check_stdio(theme: &str) {
    let tag = format!("{}-{theme}", std::process::id());
    let modes = light_modes(stdio_modes_of(theme));
    check(modes, AT_ONCE, |mode, era| {
        let tag = format!("{tag}-{}-{}", mode.name, era.as_argument());
        async move { run::stdio(&mode, era, &tag).await }
    })
    .await;
    assert_eq!(left_running(&tag), [""; 0]);
}

async fn check_http(theme: &str) {
    check(light_modes(http_modes_of(theme)), AT_ONCE, |mode, era| async move {
        run::http(&mode, era).await
    })
    .await;
}

/// Returns the tags of running servers and their descendants.
#[cfg(target_os = "linux")]
fn left_running(tag: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    // An unreadable process is not our child, and a zombie has no environment.
    let environments = processes.filter_map(|it| std::fs::read(it.path().join("environ")).ok());
    let wanted = format!("QUIRK_TEST={tag}");
    let tag_in = |environment: Vec<u8>| {
        let mut variables = environment.split(|byte| *byte == 0);
        let found = variables.find(|it| it.starts_with(wanted.as_bytes()))?;
        Some(String::from_utf8_lossy(found).into_owned())
    };
    environments.filter_map(tag_in).collect()
}

#[cfg(not(target_os = "linux"))]
fn left_running(_: &str) -> Vec<String> {
    Vec::new()
}

/// Makes one test for each theme, and one that checks the list of themes.
macro_rules! themes {
    ($check:ident, $module:ident, $all:path, [$($theme:ident),+]) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $theme() {
                    super::$check(stringify!($theme)).await;
                }
            )+

            #[test]
            fn every_theme_is_covered() {
                let all: Vec<_> = $all().collect();
                assert_eq!(all, [$(stringify!($theme)),+]);
            }
        }
    };
}

themes!(
    check_stdio,
    stdio,
    wharf_testkit::quirk::stdio_themes,
    [
        framing,
        envelope,
        handshake,
        probe,
        tools,
        lists,
        content,
        calls,
        server_requests,
        floods,
        process,
        modern,
        tasks
    ]
);
themes!(
    check_http,
    http,
    wharf_testkit::quirk::http_themes,
    [
        json_responses,
        events,
        streams,
        failures,
        sessions,
        probe,
        modern,
        http_sse,
        requested_failures
    ]
);
