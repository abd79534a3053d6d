//! A server process whose descendants are hard to end, for the tests of the process tree.
//!
//! The arguments are commands that it executes in order. A process that has a `name` prints it with
//! its process id on stdout once it is ready, so that a test knows when to kill. No process lives
//! longer than two minutes, so a failed test leaves nothing running for long.

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    commands::execute(std::env::args().skip(1).collect())
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod commands {
    use std::ffi::OsString;
    use std::io::{self, BufRead as _, Read as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    use std::sync::Arc;
    use std::time::Duration;
    use std::{env, process, thread};

    use wharf_protocol::transport::process::{
        GracePeriod, LogSink, Process, ProcessLaunch, TaskTracker, adopt_orphans, end_orphans,
    };

    const LIFETIME: Duration = Duration::from_secs(120);

    /// Executes the commands in order, and exits after the last one.
    #[expect(clippy::exit, reason = "a test checks the exit code")]
    pub(crate) fn execute(commands: Vec<String>) -> io::Result<()> {
        let mut commands = commands.into_iter();
        while let Some(command) = commands.next() {
            let (name, value) = command.split_once('=').unwrap_or((&command, ""));
            match name {
                // Ignores SIGTERM from here on; processes that are started later inherit that.
                "deaf" => return Err(restart_ignoring_sigterm(commands)),
                // Starts a child in the same process group, which keeps stdout and stderr open.
                "heir" => start(&["name=heir", "sleep"])?,
                // Starts a child that leaves the process group.
                "stray" => start(&["leave", "name=stray", "sleep"])?,
                // Starts a child that leaves the process group and keeps forking.
                "breeder" => start(&["leave", "name=breeder", "breed=400"])?,
                // Starts a daemon: without the process group, the environment and the parent.
                "daemon" => start(&["leave", "detach"])?,
                "detach" => start_without_environment(&["leave", "name=daemon", "sleep"])?,
                "leave" => drop(rustix::process::setsid()?),
                "name" => print_name(value)?,
                "breed" => keep_forking(value.parse().map_err(io::Error::other)?)?,
                // Copies stdin to stdout until stdin ends.
                "echo" => drop(io::copy(&mut io::stdin().lock(), &mut io::stdout().lock())?),
                // Reads nothing, so it ignores the end of stdin.
                "sleep" => thread::sleep(LIFETIME),
                "complain" => io::stderr().write_all(value.as_bytes())?,
                "flood" => flood_stderr(value.parse().map_err(io::Error::other)?)?,
                "exit" => process::exit(value.parse().map_err(io::Error::other)?),
                // Stops, like a background process that reads from a terminal.
                "stop" => rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::STOP,
                )?,
                // Becomes a subreaper: the parent of orphaned descendants.
                "adopt" => assert!(adopt_orphans(), "this system cannot adopt orphans"),
                // Starts a server through the library, which executes the remaining commands.
                "own" => return own_server(commands.collect()),
                _ => return Err(io::Error::other(format!("unknown command: {command}"))),
            }
        }
        Ok(())
    }

    fn print_name(name: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{name} {}", process::id())?;
        stdout.flush()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it starts processes without a process tree guard"
    )]
    fn start(commands: &[&str]) -> io::Result<()> {
        Command::new(env::current_exe()?).args(commands).stdin(Stdio::null()).spawn().map(drop)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it starts processes without a process tree guard"
    )]
    fn start_without_environment(commands: &[&str]) -> io::Result<()> {
        let mut command = Command::new(env::current_exe()?);
        command.args(commands).env_clear().stdin(Stdio::null()).spawn().map(drop)
    }

    /// Restarts this program so that it ignores SIGTERM. Without unsafe code, only a shell can set
    /// that up.
    #[expect(clippy::disallowed_methods, reason = "it starts no process, it replaces this one")]
    fn restart_ignoring_sigterm(rest: impl Iterator<Item = String>) -> io::Error {
        let Ok(program) = env::current_exe() else { return io::ErrorKind::NotFound.into() };
        let script = "trap '' TERM; exec \"$0\" \"$@\"";
        Command::new("/bin/sh").args(["-c", script]).arg(program).args(rest).exec()
    }

    /// Starts the next generation and exits, so that the process ids keep changing.
    fn keep_forking(generations: u32) -> io::Result<()> {
        thread::sleep(Duration::from_millis(5));
        if generations == 0 {
            return Ok(());
        }
        start(&["leave", &format!("breed={}", generations - 1)])
    }

    fn flood_stderr(megabytes: usize) -> io::Result<()> {
        let line = format!("{}\n", "all work and no play ".repeat(40));
        let chunk = line.repeat((1 << 20) / line.len() + 1);
        let mut stderr = io::stderr().lock();
        (0..megabytes).try_for_each(|_| stderr.write_all(&chunk.as_bytes()[..1 << 20]))
    }

    fn print_line(text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        stdout.flush()
    }

    /// Starts a server through the library, forwards its stdout, and waits until it is killed.
    fn own_server(commands: Vec<String>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let _entered = runtime.enter();
        let launch = ProcessLaunch {
            arguments: commands.into_iter().map(OsString::from).collect(),
            environment: env::vars_os().collect(),
            ..ProcessLaunch::new(env::current_exe()?)
        };
        let log: LogSink = Arc::new(|part| drop(io::stderr().write_all(part)));
        let tracker = TaskTracker::new();
        let started = runtime.block_on(Process::start(launch, &tracker, Some(log)));
        let mut server = started.map_err(io::Error::other)?;
        print_name("owner")?;
        let stdout = server.take_stdout().ok_or(io::ErrorKind::NotFound)?;
        let stdout = io::BufReader::new(stdout.into_blocking_fd().map(std::fs::File::from)?);
        thread::spawn(move || stdout.lines().try_for_each(|line| print_line(&line?)));
        // Unless it is killed, the owner ends when its stdin ends.
        io::stdin().lock().read_to_end(&mut Vec::new())?;
        let grace = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };
        runtime.block_on(async {
            server.end(grace).await;
            end_orphans().await;
        });
        Ok(())
    }
}
