//! Runs a server that is built on the `rmcp` package, as an independent peer for the client.
//!
//! `wharf-rmcp` serves on stdin and stdout. `wharf-rmcp --http 127.0.0.1:0` serves on HTTP, and
//! `wharf-rmcp --socket PATH` on a Unix socket: it prints its address as the first line, and ends
//! when its stdin ends.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints its address and errors")]

use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use tokio::net::TcpListener;
use wharf_testkit::server::{RmcpService, ServeTransport, SocketServer, input_ended};

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
    match ServeTransport::from_arguments(&arguments)? {
        ServeTransport::Stdio => {
            RmcpService.serve(stdio()).await?.waiting().await?;
            Ok(())
        }
        ServeTransport::Http(address) => serve_http(address).await,
        ServeTransport::Socket(path) => {
            let server = SocketServer::listen(&path)?;
            println!("{}", path.display());
            let serve = |stream| async move {
                // A client that closes its connection early is no error of the server.
                if let Ok(service) = RmcpService.serve(stream).await {
                    drop(service.waiting().await);
                }
            };
            Ok(server.run(serve).await?)
        }
    }
}

async fn serve_http(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let service = StreamableHttpService::new(
        || Ok(RmcpService),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    tokio::select! {
        served = axum::serve(listener, Router::new().nest_service("/mcp", service)) => served?,
        ended = input_ended() => ended?,
    }
    Ok(())
}
