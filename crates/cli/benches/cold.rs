//! Measures cold starts: `wharf tools` and `wharf call` as whole processes, compared with
//! `wharf-bare`, a minimal client on std alone that makes the same exchange.
//!
//! Both run alternately with the same servers and without a cache, as in a first run. One more case
//! has a server that needs five seconds and cached tools: the tools must be printed 60 ms after the
//! startup gate. A server that one is signed in to may cost no more than the same server without
//! sign-in. The other programs come from `wharf-benches` and the testkit; `cargo xtask bench`
//! builds them and runs this. Exits with 1 if a limit is exceeded.
//!
//! Times are measured with copies of the programs, like installed programs. The linker writes a
//! file in small pieces, which the page cache keeps, so that every start of a large program takes
//! about a millisecond longer. Memory is measured with the linker's file: of a copy the kernel maps
//! more pages at once, which count as memory of the process although all processes share them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench starts programs, prints its numbers and stops where that fails"
)]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};

use wharf_testkit::oauth::{OAuthServer, OAuthServerOptions};

/// One comparison and its limit.
struct Case {
    name: &'static str,
    servers: usize,
    rounds: usize,
    verb: &'static [&'static str],
    most: f64,
}

const CASES: &[Case] = &[
    Case { name: "tools, 1 server", servers: 1, rounds: 60, verb: &["tools"], most: 2.5 },
    Case {
        name: "call, 1 server",
        servers: 1,
        rounds: 60,
        verb: &["call", "a/echo", "text=hello"],
        most: 2.5,
    },
    Case { name: "tools, 10 servers", servers: 10, rounds: 30, verb: &["tools"], most: 1.5 },
    Case { name: "tools, 100 servers", servers: 100, rounds: 9, verb: &["tools"], most: 1.3 },
];

/// The number of runs with a server that needs five seconds.
const SLOW_ROUNDS: usize = 15;

/// The time until all tools must be printed nevertheless: the gate, and 60 ms.
const SLOW_MOST: Duration = Duration::from_millis(250 + 60);

/// The number of runs with and without a sign-in, and the ratio that counts as equal.
const SIGNED_IN_ROUNDS: usize = 60;
const SIGNED_IN_MOST: f64 = 1.05;

/// The memory limit of `wharf tools` in KiB, by the number of servers.
const MEMORY: [(usize, u64); 2] = [(1, 12 * 1024), (100, 20 * 1024)];

fn main() -> ExitCode {
    let programs = Path::new(env!("CARGO_BIN_EXE_wharf")).parent().map(Path::to_path_buf);
    let programs = programs.expect("a binary is in a folder");
    let [bare, echo, actor] =
        ["wharf-bare", "wharf-echo", "wharf-actor"].map(|name| programs.join(name));
    if ![&bare, &echo, &actor].into_iter().all(|program| program.is_file()) {
        println!("skipped: `cargo xtask bench` builds the programs that this needs");
        return ExitCode::SUCCESS;
    }
    let world = World::new(&bare, &echo);
    let mut is_fine = true;
    println!("{:<24} {:>10} {:>10} {:>7} {:>6}", "", "bare", "ours", "ratio", "bar");
    for case in CASES {
        // A second run, because another process may have disturbed the first.
        is_fine &= world.compare(case) || world.compare(case);
    }
    is_fine &= world.slow(&actor) || world.slow(&actor);
    is_fine &= world.signed_in() || world.signed_in();
    for (servers, most) in MEMORY {
        let peak = world.peak(servers);
        let name = format!("memory, {servers} servers");
        println!("{name:<24} {:>10} {peak:>6} KiB {:>7} {most:>6}", "", "");
        is_fine &= peak <= most;
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct World {
    folder: tempfile::TempDir,
    wharf: PathBuf,
    bare: PathBuf,
    echo: PathBuf,
}

impl World {
    fn new(bare: &Path, echo: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(folder.path().join("project")).expect("a folder");
        let install = |program: &Path| {
            let copy = folder.path().join(program.file_name().expect("a program has a name"));
            fs::copy(program, &copy).expect("a program can be copied");
            copy
        };
        let wharf = install(Path::new(env!("CARGO_BIN_EXE_wharf")));
        let (bare, echo) = (install(bare), install(echo));
        Self { folder, wharf, bare, echo }
    }

    fn compare(&self, case: &Case) -> bool {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..case.rounds {
            bare.push(timed(&mut self.bare(case)));
            ours.push(timed(&mut self.wharf_run(case.servers, case.verb)));
        }
        let (ours, bare) = (median(ours), median(bare));
        let ratio = ours.as_secs_f64() / bare.as_secs_f64();
        let (name, most) = (case.name, case.most);
        println!("{name:<24} {bare:>10.2?} {ours:>10.2?} {ratio:>7.2} {most:>6.1}");
        ratio <= most
    }

    /// Lists the cached tools of a server that needs five seconds to initialize.
    fn slow(&self, actor: &Path) -> bool {
        let actor_folder = self.folder.path().join("actor");
        let write_script = |delay: u32| {
            let script = format!(r#"{{"tools":["one","two","three"],"helloDelayMs":{delay}}}"#);
            fs::create_dir_all(&actor_folder).expect("a folder");
            fs::write(actor_folder.join("script.json"), script).expect("a script");
        };
        let entry = format!(
            r#"{{"slow":{{"command":"{}","args":["{}"]}}}}"#,
            actor.display(),
            actor_folder.display()
        );
        let warm = || {
            let mut command = Command::new(&self.wharf);
            self.set_environment(command.arg("tools"));
            command.env("WHARF_MCP_SERVERS", &entry).stdout(Stdio::piped());
            command
        };
        write_script(0);
        self.clear_home();
        let (expected, _) = printed(&mut warm());
        assert_eq!(expected.matches("mcp_slow_").count(), 3, "{expected}");
        write_script(5000);
        let times = (0..SLOW_ROUNDS).map(|_| {
            let (rendered, took) = printed(&mut warm());
            assert_eq!(rendered, expected);
            took
        });
        let ours = median(times.collect());
        println!(
            "{:<24} {:>10} {ours:>10.2?} {:>7} {SLOW_MOST:>6.0?}",
            "tools, slow server", "", ""
        );
        ours <= SLOW_MOST
    }

    /// Lists the tools of a server that needs no sign-in, and of one with a stored token.
    fn signed_in(&self) -> bool {
        let start = |demands_token| {
            let options = OAuthServerOptions { demands_token, ..OAuthServerOptions::default() };
            OAuthServer::start(options).expect("a server starts")
        };
        let (open, protected) = (start(false), start(true));
        let run = |server: &OAuthServer| {
            let mut command = Command::new(&self.wharf);
            self.set_environment(command.arg("tools"));
            let entry = format!(r#"{{"web":{{"url":"{}"}}}}"#, server.url());
            command.env("WHARF_MCP_SERVERS", entry);
            command
        };
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..SIGNED_IN_ROUNDS {
            self.clear_home();
            without.push(timed(&mut run(&open)));
            self.clear_home();
            self.store_token(&protected);
            with.push(timed(&mut run(&protected)));
        }
        let (without, with) = (median(without), median(with));
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        let name = "tools, signed in";
        println!("{name:<24} {without:>10.2?} {with:>10.2?} {ratio:>7.2} {SIGNED_IN_MOST:>6.2}");
        ratio <= SIGNED_IN_MOST
    }

    /// Stores a valid token for a server.
    fn store_token(&self, server: &OAuthServer) {
        let tokens = server.issue_tokens("bench", "");
        let now = UNIX_EPOCH.elapsed().expect("the clock is right").as_secs();
        let stored = serde_json::json!({ "version": 1, "credentials": { "web": {
            "type": "oauth",
            "resource": server.url(),
            "issuer": server.issuer(),
            "token": tokens["access_token"],
            "oauth": {
                "grant": "authorization_code",
                "expiresAt": now + 3600,
                "refreshToken": tokens["refresh_token"],
                "tokenEndpoint": format!("{}/token", server.issuer()),
                "client": { "id": "bench", "origin": "registered" },
            },
        } } });
        let home = self.folder.path().join("home/.wharf");
        fs::create_dir_all(&home).expect("a folder");
        fs::write(home.join("credentials.json"), stored.to_string()).expect("a credential");
    }

    fn bare(&self, case: &Case) -> Command {
        let mut command = Command::new(&self.bare);
        match case.verb {
            ["call", ..] => command.args(["bench", "1", "1"]),
            _ => command.args(["connect", &case.servers.to_string()]),
        };
        command.arg(&self.echo);
        self.set_environment(&mut command);
        command
    }

    /// Deletes the cache.
    fn clear_home(&self) {
        let home = self.folder.path().join("home");
        if home.exists() {
            fs::remove_dir_all(&home).expect("an old home can be removed");
        }
        fs::create_dir_all(&home).expect("a home");
    }

    /// Returns the command of a run without a cache.
    fn wharf_run(&self, servers: usize, verb: &[&str]) -> Command {
        self.run_of(&self.wharf, servers, verb)
    }

    fn run_of(&self, wharf: &Path, servers: usize, verb: &[&str]) -> Command {
        self.clear_home();
        let mut command = Command::new(wharf);
        command.args(verb);
        self.set_environment(&mut command);
        command.env("WHARF_MCP_SERVERS", self.definitions(servers));
        command
    }

    fn set_environment(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path().join("project"))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("WHARF_SYSTEM_ROOT", self.folder.path().join("system"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }

    fn definitions(&self, servers: usize) -> String {
        let name = |at: usize| -> String {
            at.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
        };
        let entry = |at| {
            // A different variable for each, because equal servers count as duplicates.
            let command = self.echo.display();
            format!(r#""{}":{{"command":"{command}","env":{{"AT":"{at}"}}}}"#, name(at))
        };
        let entries: Vec<String> = (0..servers).map(entry).collect();
        format!("{{{}}}", entries.join(","))
    }

    /// Returns the peak memory of a run in KiB.
    fn peak(&self, servers: usize) -> u64 {
        let linked = Path::new(env!("CARGO_BIN_EXE_wharf"));
        let mut child = self.run_of(linked, servers, &["tools"]).spawn().expect("wharf runs");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        while child.try_wait().expect("a child can be waited for").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
            peak = peak.max(now.unwrap_or_default());
        }
        peak
    }
}

fn timed(command: &mut Command) -> Duration {
    let began = Instant::now();
    let status = command.status().expect("a program runs");
    let took = began.elapsed();
    assert!(status.success(), "{command:?} failed");
    took
}

/// Runs a program; returns its output and the time until the last byte.
fn printed(command: &mut Command) -> (String, Duration) {
    let began = Instant::now();
    let mut child = command.spawn().expect("a program runs");
    let mut stdout = child.stdout.take().expect("its output is read");
    let (mut text, mut buffer, mut last) = (Vec::new(), [0; 4096], Duration::ZERO);
    loop {
        let read = stdout.read(&mut buffer).expect("a pipe can be read");
        if read == 0 {
            break;
        }
        last = began.elapsed();
        text.extend_from_slice(&buffer[..read]);
    }
    let status = child.wait().expect("a child can be waited for");
    assert!(status.success(), "{command:?} failed");
    (String::from_utf8_lossy(&text).into_owned(), last)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
