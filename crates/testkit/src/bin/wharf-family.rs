//! A server process with relatives that are hard to get rid of.
//!
//! Its arguments are words that it follows in order. Whoever is settled says so on stdout, in one
//! line with its name and number, so that a test knows when to strike. Nobody lives longer than two
//! minutes, so a failed test leaves nothing for long.

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    family::follow(std::env::args().skip(1).collect())
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod family {
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

    /// Follows the words one after the other, and exits after the last one.
    #[expect(clippy::exit, reason = "an exit code is what a test wants to see")]
    pub(crate) fn follow(words: Vec<String>) -> io::Result<()> {
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (verb, value) = word.split_once('=').unwrap_or((&word, ""));
            match verb {
                // Ignores SIGTERM from here on, as do all that are started later.
                "deaf" => return Err(deaf(words)),
                // Starts a relative in the same group, which keeps stdout and stderr open.
                "heir" => start(&["name=heir", "sleep"])?,
                // Starts a relative that leaves the group.
                "stray" => start(&["leave", "name=stray", "sleep"])?,
                // Starts a relative that leaves the group and starts others all the time.
                "breeder" => start(&["leave", "name=breeder", "breed=400"])?,
                // Starts a relative that has neither the group nor the environment nor the parent.
                "daemon" => start(&["leave", "detach"])?,
                "detach" => start_without_environment(&["leave", "name=daemon", "sleep"])?,
                "leave" => drop(rustix::process::setsid()?),
                "name" => say(value)?,
                "breed" => breed(value.parse().map_err(io::Error::other)?)?,
                // Repeats its input until that ends.
                "echo" => drop(io::copy(&mut io::stdin().lock(), &mut io::stdout().lock())?),
                // Reads nothing, not even the end of input.
                "sleep" => thread::sleep(LIFETIME),
                "complain" => io::stderr().write_all(value.as_bytes())?,
                "flood" => flood(value.parse().map_err(io::Error::other)?)?,
                "exit" => process::exit(value.parse().map_err(io::Error::other)?),
                // Stops like a process in the background that reads from a terminal.
                "stop" => rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::STOP,
                )?,
                // Becomes the parent of all below that lose theirs.
                "adopt" => assert!(adopt_orphans(), "orphans are not adopted here"),
                // Becomes an owner of a server that follows the rest.
                "own" => return own(words.collect()),
                _ => return Err(io::Error::other(format!("no such word: {word}"))),
            }
        }
        Ok(())
    }

    fn say(name: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{name} {}", process::id())?;
        stdout.flush()
    }

    #[expect(clippy::disallowed_methods, reason = "it has to start relatives that nobody guards")]
    fn start(words: &[&str]) -> io::Result<()> {
        Command::new(env::current_exe()?).args(words).stdin(Stdio::null()).spawn().map(drop)
    }

    #[expect(clippy::disallowed_methods, reason = "it has to start relatives that nobody guards")]
    fn start_without_environment(words: &[&str]) -> io::Result<()> {
        let mut command = Command::new(env::current_exe()?);
        command.args(words).env_clear().stdin(Stdio::null()).spawn().map(drop)
    }

    /// Goes on as a program that ignores SIGTERM; only a shell can set that up without unsafe code.
    #[expect(clippy::disallowed_methods, reason = "it becomes another program")]
    fn deaf(rest: impl Iterator<Item = String>) -> io::Error {
        let Ok(program) = env::current_exe() else { return io::ErrorKind::NotFound.into() };
        let script = "trap '' TERM; exec \"$0\" \"$@\"";
        Command::new("/bin/sh").args(["-c", script]).arg(program).args(rest).exec()
    }

    /// Starts the next generation and ends itself, so that the family moves all the time.
    fn breed(generations: u32) -> io::Result<()> {
        thread::sleep(Duration::from_millis(5));
        if generations == 0 {
            return Ok(());
        }
        start(&["leave", &format!("breed={}", generations - 1)])
    }

    fn flood(megabytes: usize) -> io::Result<()> {
        let line = format!("{}\n", "all work and no play ".repeat(40));
        let chunk = line.repeat((1 << 20) / line.len() + 1);
        let mut stderr = io::stderr().lock();
        (0..megabytes).try_for_each(|_| stderr.write_all(&chunk.as_bytes()[..1 << 20]))
    }

    fn println(text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        stdout.flush()
    }

    /// Starts a server through the library, passes on what its family says, and waits to be killed.
    fn own(words: Vec<String>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let _entered = runtime.enter();
        let launch = ProcessLaunch {
            arguments: words.into_iter().map(OsString::from).collect(),
            environment: env::vars_os().collect(),
            ..ProcessLaunch::new(env::current_exe()?)
        };
        let log: LogSink = Arc::new(|piece| drop(io::stderr().write_all(piece)));
        let tracker = TaskTracker::new();
        let started = runtime.block_on(Process::start(launch, &tracker, Some(log)));
        let mut server = started.map_err(io::Error::other)?;
        say("owner")?;
        let stdout = server.take_stdout().ok_or(io::ErrorKind::NotFound)?;
        let stdout = io::BufReader::new(stdout.into_blocking_fd().map(std::fs::File::from)?);
        thread::spawn(move || stdout.lines().try_for_each(|line| println(&line?)));
        // The owner ends with its input, if nobody kills it.
        io::stdin().lock().read_to_end(&mut Vec::new())?;
        let grace = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };
        runtime.block_on(async {
            server.end(grace).await;
            end_orphans().await;
        });
        Ok(())
    }
}
