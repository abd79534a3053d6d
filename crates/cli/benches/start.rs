//! Measures a listing relative to an empty run: `wharf list` compared with `wharf --version`.
//!
//! Both run alternately in the same folders, so that a noisy machine slows both. The limits: 30
//! files with 200 servers in at most 3 times the time of `--version`, and 10 000 servers in one
//! file in under a second. Run by `cargo xtask bench`; exits with 1 if a limit is exceeded.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench starts the binary, prints its numbers and stops where that fails"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let many = folder.path().join("many");
    let files = fill(&many);
    let (list, version) = medians(&many, &["list"], &["--version"]);
    let (json, _) = medians(&many, &["list", "--json", "--all"], &["--version"]);
    let ratio = list.as_secs_f64() / version.as_secs_f64();
    println!("wharf --version                      {version:>10.1?}");
    println!(
        "wharf list, {files} files, 200 servers    {list:>10.1?}   {ratio:.2} times (at most 3)"
    );
    println!("wharf list --json --all              {json:>10.1?}");

    let large = folder.path().join("large");
    put(&large.join("home/.cursor/mcp.json"), &servers(0..10_000));
    fs::create_dir_all(large.join("project")).expect("a folder");
    let started = Instant::now();
    run(&large, &["list", "--json"]);
    let elapsed = started.elapsed();
    println!("wharf list --json, 10 000 servers    {elapsed:>10.1?}   (at most 1 s)");

    let is_fine = ratio <= 3.0 && elapsed < Duration::from_secs(1);
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs two commands alternately and returns the median time of each.
fn medians(world: &Path, one: &[&str], other: &[&str]) -> (Duration, Duration) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (arguments, list) in [(one, &mut times.0), (other, &mut times.1)] {
            let started = Instant::now();
            run(world, arguments);
            list.push(started.elapsed());
        }
    }
    let median = |mut list: Vec<Duration>| {
        list.sort_unstable();
        list[list.len() / 2]
    };
    (median(times.0), median(times.1))
}

fn run(world: &Path, arguments: &[&str]) {
    let status = Command::new(env!("CARGO_BIN_EXE_wharf"))
        .args(arguments)
        .current_dir(world.join("project"))
        .env_clear()
        .env("HOME", world.join("home"))
        .env("WHARF_SYSTEM_ROOT", world.join("system"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("wharf runs");
    assert!(status.success(), "wharf {arguments:?} failed");
}

/// Writes 200 servers to the files of many programs; returns the number of files.
fn fill(world: &Path) -> usize {
    let home = [
        ".wharf/mcp.json",
        ".omp/agent/mcp.json",
        ".omp/mcp.json",
        ".pisces/mcp.json",
        ".xcsh/mcp.json",
        ".claude.json",
        ".claude/mcp.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".cursor/mcp.json",
        ".codeium/windsurf/mcp_config.json",
        ".codeium/mcp_config.json",
        ".copilot/mcp-config.json",
        ".cline/data/settings/cline_mcp_settings.json",
        ".kiro/settings/mcp.json",
        ".junie/mcp/mcp.json",
        ".lmstudio/mcp.json",
        ".aws/amazonq/mcp.json",
        ".warp/.mcp.json",
        ".factory/mcp.json",
        ".gemini/antigravity/mcp_config.json",
        ".config/Claude/claude_desktop_config.json",
        ".config/mcp/mcp.json",
        ".agents/mcp.json",
        ".kimi/mcp.json",
        ".pi/agent/mcp.json",
    ];
    let project = [".mcp.json", ".cursor/mcp.json", ".kiro/settings/mcp.json", ".roo/mcp.json"];
    let home = home.iter().map(|file| world.join("home").join(file));
    let files: Vec<_> =
        home.chain(project.iter().map(|file| world.join("project").join(file))).collect();
    fs::create_dir_all(world.join("project/.git")).expect("a folder");
    for (index, file) in files.iter().enumerate() {
        let (start, end) = (200 * index / files.len(), 200 * (index + 1) / files.len());
        put(file, &servers(start..end));
    }
    files.len()
}

fn servers(numbers: std::ops::Range<usize>) -> String {
    let mut text = "{\n  \"mcpServers\": {".to_owned();
    for (index, number) in numbers.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(
            text,
            "{comma}\n    \"server-{number}\": {{\n      \"command\": \"npx\",\n      \
             \"args\": [\"-y\", \"@example/server-{number}\", \"${{HOME}}/data\"],\n      \
             \"env\": {{ \"API_KEY\": \"${{KEY_{number}:-none}}\", \"LEVEL\": \"debug\" }}\n    }}"
        )
        .expect("text");
    }
    text.push_str("\n  }\n}\n");
    text
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}
