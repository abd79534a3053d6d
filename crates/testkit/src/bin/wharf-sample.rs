//! A server that keeps all rules, on our own server core: `wharf-sample` speaks on its pipes;
//! `wharf-sample --http 127.0.0.1:0` prints its URL as the first line and ends at the end of its
//! input. `--record FILE` in front, for the pipes, writes down every line of both sides.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to whoever started it")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tokio::io::{stdin, stdout};
use tokio::net::TcpListener;
use wharf_protocol::serve::{HttpServerOptions, McpServer};
use wharf_testkit::server::{Place, Recorder, Sample, input_ended};

/// How long calls under way may take at the end.
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
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let server = McpServer::new(Sample::default());
    if let ["--record", file] = words[..] {
        let recorder = Recorder::create(Path::new(file))?;
        let (input, output) = (recorder.received(stdin()), recorder.sent(stdout()));
        return Ok(server.serve_stdio(input, output).await?);
    }
    let Place::Http(address) = Place::of_words(&words)? else {
        return Ok(server.serve_stdio(stdin(), stdout()).await?);
    };
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
