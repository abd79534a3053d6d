//! One connection, over pipes or a socket: sends requests and waits for their responses.

use std::io;

use crate::http::Socket;
use crate::message::{Request, next_cursor};
use crate::read_buffer::ReadBuffer;
use crate::stdio::Pipes;
use wharf_benches::BenchTarget;

/// A connection and the id of its last request.
pub(crate) struct Connection {
    pub(crate) link: Link,
    id: u64,
}

/// The transport of a connection.
pub(crate) enum Link {
    Pipes(Pipes),
    Socket(Socket),
}

impl Connection {
    /// Opens a connection without sending anything.
    pub(crate) fn open(target: &BenchTarget) -> io::Result<Self> {
        let link = match target {
            BenchTarget::Command(command) => Link::Pipes(Pipes::open(command)?),
            BenchTarget::Http { host, path } => Link::Socket(Socket::open(host, path)?),
        };
        Ok(Self { link, id: 0 })
    }

    /// Opens a connection and sends `server/discover`.
    pub(crate) fn open_and_discover(target: &BenchTarget) -> io::Result<Self> {
        let mut connection = Self::open(target)?;
        connection.call(&Request::discover())?;
        Ok(connection)
    }

    pub(crate) fn send(&mut self, request: &Request) -> io::Result<()> {
        self.id += 1;
        match &mut self.link {
            Link::Pipes(pipes) => {
                pipes.queue(request, self.id)?;
                pipes.flush()
            }
            Link::Socket(socket) => socket.send(request, self.id),
        }
    }

    /// Waits for the response to the last request and returns its length.
    pub(crate) fn receive(&mut self) -> io::Result<usize> {
        let length = self.wait()?;
        self.read_buffer().consume(length);
        Ok(length)
    }

    /// Sends a request and waits for its response.
    pub(crate) fn call(&mut self, request: &Request) -> io::Result<usize> {
        self.send(request)?;
        self.receive()
    }

    /// Waits for the first page of tools, which was requested before, and requests the others.
    pub(crate) fn pages(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut pages = Vec::new();
        loop {
            let length = self.wait()?;
            let page = self.read_buffer().take_owned(length);
            let next = next_cursor(&page).map(|cursor| Request::list(Some(cursor)));
            pages.push(page);
            match next {
                Some(next) => self.send(&next)?,
                None => return Ok(pages),
            }
        }
    }

    fn wait(&mut self) -> io::Result<usize> {
        match &mut self.link {
            Link::Pipes(pipes) => pipes.wait(self.id),
            Link::Socket(socket) => socket.wait(),
        }
    }

    fn read_buffer(&mut self) -> &mut ReadBuffer {
        match &mut self.link {
            Link::Pipes(pipes) => pipes.read_buffer(),
            Link::Socket(socket) => socket.read_buffer(),
        }
    }
}
