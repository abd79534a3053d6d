//! The `tracing` log on stderr, switched on by `WHARF_LOG`, or by `-vv` and `-vvv`.
//!
//! No subscriber is installed unless the log is requested. Only the wharf crates are logged,
//! because events of other crates may contain headers. `WHARF_LOG` is a level, or a comma-separated
//! list of `target=level`, and takes precedence over the flags.

use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt};

use crate::args::Flags;
use crate::host::Host;
use crate::ui::{LogLine, Ui, style};

/// The prefix of the targets of the wharf crates.
const CRATE_PREFIX: &str = "wharf";

/// Starts the log if it is requested.
pub(crate) fn init(flags: &Flags, host: &Host) {
    if let Some(lines) = layer(flags, host) {
        install(tracing_subscriber::registry().with(lines));
    }
}

/// Installs the global subscriber.
pub(crate) fn install(subscriber: impl Subscriber + Send + Sync) {
    // It fails only if a subscriber is already set, and only this function sets one.
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        tracing::debug!(version = env!("CARGO_PKG_VERSION"), "log begins");
    }
}

/// Returns the layer that writes the log, if the log is requested.
pub(crate) fn layer<S>(flags: &Flags, host: &Host) -> Option<impl Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let wanted = match host.env.nonempty_variable("WHARF_LOG") {
        Some(text) => text.parse::<Targets>().ok(),
        None => match flags.verbose {
            0 | 1 => return None,
            2 => Some(Targets::new().with_default(LevelFilter::INFO)),
            _ => Some(Targets::new().with_default(LevelFilter::DEBUG)),
        },
    };
    let Some(wanted) = wanted else {
        let ui = Ui::new(flags, host.terminal, &host.env);
        let warning = style::warning("warning:");
        ui.notice(&format!("{warning} WHARF_LOG is not a valid log filter, so nothing is logged"));
        ui.hint("use `error`, `warn`, `info`, `debug` or `trace`");
        return None;
    };
    let lines = fmt::layer().with_ansi(false).with_writer(|| LogLine);
    Some(lines.with_filter(only_wharf_targets(&wanted)))
}

/// Removes the targets of other crates from a filter.
fn only_wharf_targets(wanted: &Targets) -> Targets {
    let named = wanted.iter().filter(|(target, _)| target.starts_with(CRATE_PREFIX));
    let everything = wanted.default_level().unwrap_or(LevelFilter::OFF);
    Targets::new().with_target(CRATE_PREFIX, everything).with_targets(named)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[track_caller]
    fn check(text: &str, target: &str, level: Level, expected: bool) {
        let targets = only_wharf_targets(&text.parse().unwrap());
        assert_eq!(targets.would_enable(target, &level), expected, "{text}: {target} {level}");
    }

    #[test]
    fn a_level_applies_to_the_wharf_crates_only() {
        check("debug", "wharf", Level::DEBUG, true);
        check("debug", "wharf_protocol::peer", Level::DEBUG, true);
        check("debug", "wharf", Level::TRACE, false);
        check("trace", "h2::codec", Level::ERROR, false);
        check("off", "wharf", Level::ERROR, false);
    }

    #[test]
    fn one_crate_can_have_its_own_level() {
        check("info,wharf_protocol=trace", "wharf_protocol", Level::TRACE, true);
        check("info,wharf_protocol=trace", "wharf::execute", Level::DEBUG, false);
        check("wharf_protocol=trace", "wharf_config", Level::ERROR, false);
    }

    #[test]
    fn other_crates_cannot_be_enabled() {
        check("hyper=trace,h2=trace", "h2::codec", Level::ERROR, false);
    }
}
