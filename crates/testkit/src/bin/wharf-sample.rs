//! Runs a conforming server that is built on our own server core.
//!
//! `wharf-sample` serves on stdin and stdout; `--record FILE` records every line of both sides.
//! `wharf-sample --http 127.0.0.1:0` serves on HTTP, and `wharf-sample --socket PATH` on a Unix
//! socket: it prints its address as the first line, and ends when its stdin ends.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints its address and errors")]

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tokio::io::{stdin, stdout};
use tokio::net::TcpListener;
use wharf_protocol::serve::{HttpServerOptions, McpServer};
use wharf_testkit::server::{
    SampleService, ServeTransport, SocketServer, TrafficRecorder, input_ended,
};

/// The time that running calls get before the server closes.
const GRACE: Duration = Duration::from_secs(1);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = McpServer::new(SampleService::default());
    if let ["--record", file] = arguments[..] {
        let recorder = TrafficRecorder::create(Path::new(file))?;
        let (input, output) = (recorder.received(stdin()), recorder.sent(stdout()));
        return Ok(server.serve_stdio(input, output).await?);
    }
    match ServeTransport::from_arguments(&arguments)? {
        ServeTransport::Stdio => Ok(server.serve_stdio(stdin(), stdout()).await?),
        ServeTransport::Http(address) => serve_http(&server, address).await,
        ServeTransport::Socket(path) => {
            let socket = SocketServer::listen(&path)?;
            println!("{}", path.display());
            let serve = |stream| {
                let (input, output) = tokio::io::split(stream);
                let server = server.clone();
                // A client that closes its connection early is no error of the server.
                async move { drop(server.serve_stdio(input, output).await) }
            };
            Ok(socket.run(serve).await?)
        }
    }
}

async fn serve_http(server: &McpServer, address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    tokio::select! {
        outcome = server.serve_http(listener, HttpServerOptions::default()) => outcome?,
        ended = input_ended() => {
            ended?;
            server.close(GRACE).await;
        }
    }
    Ok(())
}
