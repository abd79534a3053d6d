//! The same test server on both transports and in both eras: a shell script, over stdio or HTTP.
//!
//! For HTTP, a bridge starts a process of the script for each session and forwards request bodies
//! to its stdin and its lines to response bodies. If the script ends without a response, the bridge
//! closes the connection.

#![expect(clippy::disallowed_methods, reason = "a test starts its own servers")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::http_server::{
    HttpRequest, HttpServer, INITIALIZE_RESULT, json_response, response, write_to,
};
use crate::world::World;

pub(crate) use crate::server_script::{Era, ServerScript};

impl Era {
    /// Returns the result of the first request, for an HTTP server with tools.
    pub(crate) fn first_result(self) -> &'static str {
        match self {
            Self::Legacy => INITIALIZE_RESULT,
            Self::Modern => {
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"3"}}"#
            }
        }
    }
}

/// The transport and the era of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerVariant {
    Stdio(Era),
    Http(Era),
}

impl ServerVariant {
    pub(crate) const ALL: [Self; 4] = [
        Self::Stdio(Era::Legacy),
        Self::Stdio(Era::Modern),
        Self::Http(Era::Legacy),
        Self::Http(Era::Modern),
    ];

    fn era(self) -> Era {
        match self {
            Self::Stdio(era) | Self::Http(era) => era,
        }
    }
}

/// Installs the server `name`; returns the start of its entry, and the HTTP server to keep alive.
pub(crate) fn install(
    world: World,
    variant: ServerVariant,
    name: &str,
    server_script: ServerScript<'_>,
) -> (World, String, Option<HttpServer>) {
    let script = server_script.for_era(variant.era());
    let world = world.script(name, &script);
    match variant {
        ServerVariant::Stdio(_) => (world, format!(r#""command": "{name}""#), None),
        ServerVariant::Http(era) => {
            let bridge = HttpBridge { program: world.path(&format!("bin/{name}")), era };
            let bridge = RunningBridge { bridge, process: Mutex::default() };
            let web = HttpServer::start(move |request, client| bridge.serve(request, client));
            (world, format!(r#""url": "{}""#, web.url("/mcp")), Some(web))
        }
    }
}

struct HttpBridge {
    program: PathBuf,
    era: Era,
}

/// The bridge and the process of the newest session.
struct RunningBridge {
    bridge: HttpBridge,
    process: Mutex<Option<Arc<Process>>>,
}

struct Process {
    child: Mutex<Child>,
    input: Mutex<ChildStdin>,
    /// Locked while a line is read; other requests can be written meanwhile.
    output: Mutex<ProcessOutput>,
}

struct ProcessOutput {
    lines: BufReader<ChildStdout>,
    /// How many requests wait for a response.
    waiting: usize,
    /// Responses to other requests than the one that read them.
    unclaimed: Vec<String>,
}

impl RunningBridge {
    fn serve(&self, request: &HttpRequest, client: &mut TcpStream) {
        let method = request.method();
        if request.verb != "POST" {
            return write_to(client, &response("405 Method Not Allowed", "", ""));
        }
        if method == "server/discover" && self.bridge.era == Era::Legacy {
            return write_to(client, &response("400 Bad Request", "", ""));
        }
        if method == self.bridge.era.first_method() {
            *self.process.lock().unwrap() = Some(Arc::new(self.bridge.start()));
        }
        let process = self.process.lock().unwrap().clone();
        let Some(process) = process else { return };
        if request.id().is_empty() {
            process.write(&request.body);
            return write_to(client, &response("202 Accepted", "", ""));
        }
        if let Some(line) = process.request(request) {
            write_to(client, &json_response("200 OK", line.trim_end()));
        }
    }
}

impl Process {
    /// Writes one message; returns whether that succeeded.
    fn write(&self, message: &str) -> bool {
        writeln!(self.input.lock().unwrap(), "{}", message.trim_end()).is_ok()
    }

    /// Writes a request and waits for its response; `None` if the process ends without one. A request
    /// that waits alone takes any line, because a script may answer with another id on purpose.
    fn request(&self, request: &HttpRequest) -> Option<String> {
        self.output.lock().unwrap().waiting += 1;
        let line = if self.write(&request.body) { self.response(request.id()) } else { None };
        self.output.lock().unwrap().waiting -= 1;
        line
    }

    fn response(&self, id: &str) -> Option<String> {
        let own = format!("\"id\":{id},");
        loop {
            let mut output = self.output.lock().unwrap();
            if let Some(index) = output.unclaimed.iter().position(|line| line.contains(&own)) {
                return Some(output.unclaimed.swap_remove(index));
            }
            let mut line = String::new();
            if !output.lines.read_line(&mut line).is_ok_and(|length| length > 0) {
                return None;
            }
            if output.waiting == 1 || line.contains(&own) {
                return Some(line);
            }
            output.unclaimed.push(line);
        }
    }
}

impl HttpBridge {
    fn start(&self) -> Process {
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Process {
            child: Mutex::new(child),
            input: Mutex::new(input),
            output: Mutex::new(ProcessOutput {
                lines: BufReader::new(output),
                waiting: 0,
                unclaimed: Vec::new(),
            }),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap();
        // The process may have ended already.
        drop(child.kill());
        drop(child.wait());
    }
}
