//! A panic in a callback of the host costs what it was called for; the session goes on.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::scripted_pipe::{DEADLINE, ScriptedOpener, ServerSide, call, options};
use crate::envelope::Notification;
use crate::peer::{ClientHandler, HandlerFuture, ProgressMode, RequestCause, RequestOptions};
use crate::transport::{TraceEvent, Tracer};
use crate::{ConnectOptions, Json, connect_pipe};

fn result() -> Value {
    json!({ "content": [], "resultType": "complete" })
}

/// Waits for two calls, sends progress of both, and answers both.
async fn answer_two_calls(mut side: ServerSide) {
    side.greet().await;
    let (Some(one), Some(other)) = (side.next().await, side.next().await) else { return };
    for call in [&one, &other] {
        let token = &call["params"]["_meta"]["progressToken"];
        let params = json!({ "progressToken": token, "progress": 1 });
        let method = "notifications/progress";
        let progress = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        side.write(&format!("{progress}\n")).await.unwrap();
    }
    for call in [&one, &other] {
        side.answer(call, &result()).await;
    }
    side.answer_calls().await;
}

#[tokio::test]
async fn a_progress_listener_that_panics_affects_no_other_call() {
    let peer = ScriptedOpener::new(answer_two_calls).connect().await;
    let reports = Arc::<Mutex<Vec<String>>>::default();
    let listener = {
        let reports = Arc::clone(&reports);
        move |report: Json| {
            reports.lock().unwrap().push(report.get("progress").unwrap().as_str().to_owned());
        }
    };
    let with = |listener: Arc<dyn Fn(Json) + Send + Sync>| {
        let progress = ProgressMode::Listener(listener);
        RequestOptions { progress, ..RequestOptions::within(DEADLINE) }
    };
    let (broken, sound) = (with(Arc::new(|_| panic!("on purpose"))), with(Arc::new(listener)));
    let both =
        tokio::join!(peer.call_tool("load", None, &broken), peer.call_tool("load", None, &sound));
    assert!(both.0.is_ok() && both.1.is_ok(), "{both:?}");
    assert_eq!(*reports.lock().unwrap(), ["1"]);
    call(&peer).await.unwrap();
    peer.close().await;
}

/// Panics at everything.
struct BrokenHost;

impl ClientHandler for BrokenHost {
    fn on_notification(&self, _: Notification) {
        panic!("on purpose");
    }

    fn on_request(&self, _: &str, _: Option<Json>, _: Option<RequestCause>) -> HandlerFuture {
        panic!("on purpose");
    }
}

impl Tracer for BrokenHost {
    fn record(&self, _: TraceEvent<'_>) {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn a_handler_and_a_tracer_that_panic_cost_no_call() {
    let opener = ScriptedOpener::new(|mut side: ServerSide| async move {
        side.greet().await;
        let Some(request) = side.next().await else { return };
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} });
        side.write(&format!("{log}\n")).await.unwrap();
        side.answer(&request, &result()).await;
        side.answer_calls().await;
    });
    let options = ConnectOptions { tracer: Some(Arc::new(BrokenHost)), ..options() };
    let peer = connect_pipe(opener, &options, Arc::new(BrokenHost)).await.unwrap();
    for _ in 0..2 {
        call(&peer).await.unwrap();
    }
    peer.close().await;
}
