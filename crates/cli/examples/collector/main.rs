//! An OTLP collector that prints the spans that `wharf` exports to port 4318.
//!
//! ```text
//! cargo run -p wharf-cli --example collector
//! ```
//!
//! Then, in another terminal, with a `wharf` that is built with the feature `otel`:
//!
//! ```text
//! OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 wharf tools
//! ```

#![expect(clippy::unwrap_used, reason = "an example may stop at the first error")]
#![expect(clippy::print_stdout, reason = "printing is all that it does")]
#![expect(dead_code, reason = "the tests use more of the collector")]

mod collector;
mod protobuf;

use std::thread;
use std::time::Duration;

use collector::{Collector, CollectorBehavior};

fn main() {
    let collector = Collector::start(4318, CollectorBehavior::Answers);
    println!("collecting at {}", collector.endpoint());
    let mut printed = 0;
    loop {
        let spans = collector.spans();
        for span in &spans[printed..] {
            println!("\ntrace {}\n{}", span.trace, span.render());
        }
        printed = spans.len();
        thread::sleep(Duration::from_millis(200));
    }
}
