//! Records the spans and events of a thread, one line each.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Scope};

/// With only one dispatcher, `tracing` caches a call site as disabled if another thread without a
/// subscriber reaches it first. A second dispatcher prevents this.
static ANOTHER: LazyLock<Dispatch> =
    LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

/// The recorded lines.
#[derive(Clone, Default)]
pub(super) struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    /// Records this thread until the guard is dropped.
    pub(super) fn listen(&self) -> DefaultGuard {
        LazyLock::force(&ANOTHER);
        tracing::subscriber::set_default(tracing_subscriber::registry().with(self.clone()))
    }

    /// Returns the lines that contain a text, each as `LEVEL span{fields}: message fields`.
    pub(super) fn lines(&self, about: &str) -> String {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|line| line.contains(about)).cloned().collect::<Vec<_>>().join("\n")
    }
}

/// The fields of a span or an event.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let space = if self.0.is_empty() { "" } else { " " };
        match field.name() {
            "message" => write!(self.0, "{space}{value:?}").unwrap(),
            name => write!(self.0, "{space}{name}={value:?}").unwrap(),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        values.record(span.extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = event.metadata().level().to_string();
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            let extensions = span.extensions();
            let within = &extensions.get::<Fields>().unwrap().0;
            write!(line, " {}{{{within}}}", span.name()).unwrap();
        }
        self.0.lock().unwrap().push(format!("{line}: {}", fields.0));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let within = &span.extensions().get::<Fields>().unwrap().0.clone();
        self.0.lock().unwrap().push(format!("CLOSED {}{{{within}}}", span.name()));
    }
}
