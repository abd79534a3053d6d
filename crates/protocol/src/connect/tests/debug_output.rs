//! The `Debug` output of the options, and of what carries credentials.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, StatusCode};
use insta::assert_snapshot;

use crate::connect::HttpSpec;
use crate::peer::{ProgressMode, RequestOptions};
use crate::transport::{FixedHeaders, HttpClient, HttpClientOptions, HttpTarget, TraceEvent};
use crate::{HttpTransport, Json};

fn headers() -> HeaderMap {
    HeaderMap::from_iter([(
        http::header::AUTHORIZATION,
        HeaderValue::from_static("Bearer hunter2"),
    )])
}

#[tokio::test]
async fn the_debug_output_of_an_http_server_shows_no_credentials() {
    let target: HttpTarget =
        "https://user:hunter2@harbour.example/mcp?key=hunter2".parse().unwrap();
    let authorizer = FixedHeaders(headers());
    assert_eq!(format!("{authorizer:?}"), r#"FixedHeaders(["authorization"])"#);
    let spec = HttpSpec {
        target: target.clone(),
        client: HttpClient::new(&HttpClientOptions::default()),
        authorizer: Arc::new(authorizer),
        http_transport: HttpTransport::Auto,
    };
    let headers = headers();
    let method = Method::POST;
    let events = [
        TraceEvent::Sent(b"hunter2"),
        TraceEvent::Received(b"hunter2"),
        TraceEvent::HttpRequest { method: &method, target: &target, headers: &headers },
        TraceEvent::HttpResponse { status: StatusCode::OK, headers: &headers },
    ];
    let rendered = format!("{spec:?} {events:?}");
    assert!(!rendered.contains("hunter2"), "{rendered}");
    assert!(rendered.contains("harbour.example"), "{rendered}");
}

#[test]
fn the_debug_output_of_request_options_shows_everything_but_code() {
    let options = RequestOptions {
        progress: ProgressMode::Listener(Arc::new(|_| {})),
        meta: vec![("a".into(), Json::null())],
        ..RequestOptions::default()
    };
    assert_snapshot!(
        format!("{options:?}"),
        @r#"RequestOptions { deadline: Deadline { idle: 60s, cap: 3600s }, progress: Listener(…), meta: [("a", null)], cause: None }"#
    );
}
