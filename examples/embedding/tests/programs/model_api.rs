//! An OpenAI-compatible API on a loopback port that gives fixed responses and records the requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use serde_json::Value;

/// An API that gives one response to each request, in this order.
pub(crate) struct ModelApi {
    pub(crate) url: String,
    requests: JoinHandle<Vec<Value>>,
}

impl ModelApi {
    pub(crate) fn start(responses: Vec<Value>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let answer_all = move || {
            let answer = |response: Value| answer(listener.accept().unwrap().0, &response);
            responses.into_iter().map(answer).collect()
        };
        Self { url, requests: std::thread::spawn(answer_all) }
    }

    /// Returns the requests; each response must have been requested.
    pub(crate) fn into_requests(self) -> Vec<Value> {
        self.requests.join().unwrap()
    }
}

/// Reads a request, answers it and returns its body.
fn answer(stream: TcpStream, response: &Value) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let text = response.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(reader.get_mut(), "{head}Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    serde_json::from_slice(&body).unwrap()
}
