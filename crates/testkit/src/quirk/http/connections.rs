//! Accepts connections, reads their requests, and executes the steps of the server's responses.

use std::io;
use std::net::TcpListener as StdListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::RecordedRequest;
use super::request;
use super::server::HttpServer;
use super::steps::{LAST_CHUNK, Step, StreamCommand};

struct Shared {
    server: Mutex<HttpServer>,
    received: Arc<Mutex<Vec<RecordedRequest>>>,
}

/// Serves until the future is dropped, which also ends all connections.
pub(super) async fn serve(
    server: HttpServer,
    listeners: [StdListener; 2],
    received: Arc<Mutex<Vec<RecordedRequest>>>,
) {
    let shared = Arc::new(Shared { server: Mutex::new(server), received });
    let [main, other] = listeners.map(TcpListener::from_std);
    let (Ok(main), Ok(other)) = (main, other) else { return };
    let mut connections = JoinSet::new();
    loop {
        let (accepted, at_other_origin) = tokio::select! {
            accepted = main.accept() => (accepted, false),
            accepted = other.accept() => (accepted, true),
        };
        if let Ok((socket, _)) = accepted {
            let shared = Arc::clone(&shared);
            connections.spawn(async move {
                // A client may disconnect at any time.
                let _ignored = handle_connection(socket, &shared, at_other_origin).await;
            });
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn handle_connection(
    mut socket: TcpStream,
    shared: &Shared,
    at_other_origin: bool,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut rest = Vec::new();
    while let Some(http_request) = request::read(&mut socket, &mut rest, at_other_origin).await? {
        let received = http_request.raw.clone();
        shared.received.lock().unwrap_or_else(PoisonError::into_inner).push(received);
        let steps =
            shared.server.lock().unwrap_or_else(PoisonError::into_inner).handle(&http_request);
        for step in steps {
            if execute(&mut socket, step).await? == ConnectionState::Closed {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
enum ConnectionState {
    Open,
    Closed,
}

async fn execute(socket: &mut TcpStream, step: Step) -> io::Result<ConnectionState> {
    match step {
        Step::Send(bytes) => socket.write_all(&bytes).await?,
        Step::Wait(time) => tokio::time::sleep(time).await,
        Step::StreamFrom(mut commands) => {
            let mut byte = [0];
            loop {
                let command = tokio::select! {
                    command = commands.recv() => command,
                    // A client that disconnects ends the stream; it sends nothing else meanwhile.
                    _ = socket.read(&mut byte) => return Ok(ConnectionState::Closed),
                };
                match command {
                    Some(StreamCommand::Write(bytes)) => socket.write_all(&bytes).await?,
                    Some(StreamCommand::EndBody) | None => {
                        socket.write_all(LAST_CHUNK.as_bytes()).await?;
                        break;
                    }
                    Some(StreamCommand::Disconnect) => return Ok(ConnectionState::Closed),
                }
            }
        }
        Step::Hang => {
            let mut buffer = [0; 64];
            while socket.read(&mut buffer).await? > 0 {}
            return Ok(ConnectionState::Closed);
        }
        Step::Close => {
            socket.shutdown().await?;
            // Closing with unread bytes would send a reset before the client has read the response.
            let mut buffer = [0; 1024];
            let drained = async { while socket.read(&mut buffer).await.is_ok_and(|n| n > 0) {} };
            let _ignored = tokio::time::timeout(Duration::from_millis(500), drained).await;
            return Ok(ConnectionState::Closed);
        }
        Step::Reset => {
            socket.set_zero_linger()?;
            return Ok(ConnectionState::Closed);
        }
    }
    Ok(ConnectionState::Open)
}
