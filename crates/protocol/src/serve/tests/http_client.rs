//! A minimal HTTP client, over loopback or directly on the routes.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower_service::Service;

use super::sample::{TestServer, initialize_params, legacy};
use crate::serve::{HttpServerOptions, McpServer};

pub(super) struct HttpTestClient {
    route: HttpRoute,
    host: String,
    /// Headers for every request.
    pub(super) headers: Vec<(&'static str, String)>,
    _serving: JoinSet<()>,
}

enum HttpRoute {
    Loopback(Box<Client<HttpConnector, Body>>),
    Direct(Router),
}

impl HttpTestClient {
    /// Serves on loopback.
    pub(super) async fn serve(server: &McpServer, options: HttpServerOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let server = server.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move { server.serve_http(listener, options).await.unwrap() });
        let client = Client::builder(TokioExecutor::new()).build_http();
        let route = HttpRoute::Loopback(Box::new(client));
        Self { route, host, headers: Vec::new(), _serving: serving }
    }

    /// Uses the routes without a network, so that time can be paused.
    pub(super) fn direct(server: &McpServer, options: HttpServerOptions) -> Self {
        Self::routed(server.router(options))
    }

    /// Uses these routes.
    pub(super) fn routed(router: Router) -> Self {
        let route = HttpRoute::Direct(router);
        let host = "localhost".to_owned();
        Self { route, host, headers: Vec::new(), _serving: JoinSet::new() }
    }

    /// Returns a client with a session of this revision.
    pub(super) async fn session(mut self, version: &str) -> Self {
        let reply = self.post(&legacy(0, "initialize", &initialize_params(version)), &[]).await;
        assert_eq!(reply.status(), 200);
        self.headers = vec![
            ("mcp-session-id", reply.header("mcp-session-id").to_owned()),
            ("mcp-protocol-version", version.to_owned()),
        ];
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.post(initialized, &[]).await.status(), 202);
        self
    }

    pub(super) async fn post(&self, body: &str, headers: &[(&str, &str)]) -> TestReply {
        let mut all = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        self.send(Method::POST, body, &all).await
    }

    /// Sends a request; of headers with the same name the last counts; empty headers are left out.
    pub(super) async fn send(
        &self,
        method: Method,
        body: &str,
        headers: &[(&str, &str)],
    ) -> TestReply {
        let mut request = Request::builder().method(method);
        request = request.uri(format!("http://{}/mcp", self.host));
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let map = request.headers_mut().unwrap();
        for (name, value) in own.chain(headers.iter().copied()) {
            let name: http::HeaderName = name.parse().unwrap();
            if value.is_empty() {
                map.remove(name);
            } else {
                map.insert(name, value.parse().unwrap());
            }
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = match &self.route {
            HttpRoute::Loopback(client) => client.request(request).await.unwrap().map(Body::new),
            HttpRoute::Direct(router) => router.clone().call(request).await.unwrap(),
        };
        TestReply { response, rest: String::new() }
    }
}

pub(super) struct TestReply {
    response: Response<Body>,
    rest: String,
}

impl TestReply {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(super) fn is_stream(&self) -> bool {
        self.header("content-type") == "text/event-stream"
    }

    /// Reads to the end.
    pub(super) async fn text(mut self) -> String {
        let mut text = std::mem::take(&mut self.rest);
        while let Some(chunk) = self.chunk().await {
            text.push_str(&chunk);
        }
        text
    }

    /// Returns status and body on one line.
    pub(super) async fn status_and_text(self) -> String {
        format!("{} {}", self.status(), self.text().await)
    }

    /// Returns the next block of a stream, without its empty line; `None` at the end.
    pub(super) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.rest.split_once("\n\n") {
                let block = block.to_owned();
                self.rest = rest.to_owned();
                return Some(block);
            }
            let chunk = self.chunk().await?;
            self.rest.push_str(&chunk);
        }
    }

    /// Returns the id and the data of the next event that has data.
    pub(super) async fn event(&mut self) -> Option<(String, String)> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default()
            };
            let data = field("data: ");
            if !data.is_empty() {
                return Some((field("id: ").to_owned(), data.to_owned()));
            }
        }
    }

    async fn chunk(&mut self) -> Option<String> {
        let waiting = tokio::time::timeout(Duration::from_secs(30), self.response.frame());
        let frame = waiting.await.expect("no data within 30 s")?.ok()?;
        let data: Bytes = frame.into_data().ok()?;
        Some(String::from_utf8(data.to_vec()).unwrap())
    }
}

/// Returns a server on loopback and a legacy client with a session.
pub(super) async fn legacy_server(version: &str) -> (TestServer, HttpTestClient) {
    let test = TestServer::new();
    let web = HttpTestClient::serve(&test.server, HttpServerOptions::default())
        .await
        .session(version)
        .await;
    (test, web)
}
