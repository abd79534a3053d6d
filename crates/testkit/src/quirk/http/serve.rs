//! Accepts connections and plays the scripts of a site on them.

use std::io;
use std::net::TcpListener as StdListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Seen;
use super::script::{LAST_CHUNK, Push, Step};
use super::site::Site;
use super::wire;

struct Shared {
    site: Mutex<Site>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// Serves until the future is dropped, which also ends all connections.
pub(super) async fn serve(site: Site, listeners: [StdListener; 2], seen: Arc<Mutex<Vec<Seen>>>) {
    let shared = Arc::new(Shared { site: Mutex::new(site), seen });
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
                // A client may leave at any time.
                let _ignored = converse(socket, &shared, at_other_origin).await;
            });
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn converse(mut socket: TcpStream, shared: &Shared, at_other_origin: bool) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut rest = Vec::new();
    while let Some(incoming) = wire::read(&mut socket, &mut rest, at_other_origin).await? {
        let seen = incoming.seen.clone();
        shared.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        let script = shared.site.lock().unwrap_or_else(PoisonError::into_inner).script(&incoming);
        for step in script {
            if play(&mut socket, step).await? == After::Closed {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
enum After {
    Open,
    Closed,
}

async fn play(socket: &mut TcpStream, step: Step) -> io::Result<After> {
    match step {
        Step::Send(bytes) => socket.write_all(&bytes).await?,
        Step::Wait(time) => tokio::time::sleep(time).await,
        Step::Follow(mut pushes) => {
            let mut byte = [0];
            loop {
                let push = tokio::select! {
                    push = pushes.recv() => push,
                    // A client that leaves ends the stream; nothing else comes on it meanwhile.
                    _ = socket.read(&mut byte) => return Ok(After::Closed),
                };
                match push {
                    Some(Push::Bytes(bytes)) => socket.write_all(&bytes).await?,
                    Some(Push::Finish) | None => {
                        socket.write_all(LAST_CHUNK.as_bytes()).await?;
                        break;
                    }
                    Some(Push::Cut) => return Ok(After::Closed),
                }
            }
        }
        Step::Hang => {
            let mut buffer = [0; 64];
            while socket.read(&mut buffer).await? > 0 {}
            return Ok(After::Closed);
        }
        Step::Close => {
            socket.shutdown().await?;
            // Unread bytes would turn the close into a reset before the client has read.
            let mut buffer = [0; 1024];
            let drained = async { while socket.read(&mut buffer).await.is_ok_and(|n| n > 0) {} };
            let _ignored = tokio::time::timeout(Duration::from_millis(500), drained).await;
            return Ok(After::Closed);
        }
        Step::Reset => {
            socket.set_zero_linger()?;
            return Ok(After::Closed);
        }
    }
    Ok(After::Open)
}
