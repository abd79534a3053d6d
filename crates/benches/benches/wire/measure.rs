//! Runs both drivers alternately and computes medians.
//!
//! The ratio is the median of the ratios of all rounds: the two runs of a round follow each other
//! directly, so a machine that is slow for a while slows both. A case above its bar is measured
//! a second time, and all rounds count together.

use crate::cases::{Case, Limit, Unit, Workload};
use crate::driver::{Drivers, PreparedServer, Process};

/// The result of a case.
pub(crate) enum CaseOutcome {
    Measured(Medians),
    /// This system does not report what the case measures.
    Skipped(&'static str),
    Failed(String),
}

/// The medians of all rounds.
pub(crate) struct Medians {
    pub(crate) bare: f64,
    pub(crate) ours: f64,
    pub(crate) ratio: f64,
    is_fine: bool,
}

impl CaseOutcome {
    pub(crate) fn is_fine(&self) -> bool {
        match self {
            Self::Measured(measured) => measured.is_fine,
            Self::Skipped(_) => true,
            Self::Failed(_) => false,
        }
    }
}

/// Measures a case, and a second time if it is above its bar.
pub(crate) fn run(case: &Case, drivers: &Drivers) -> CaseOutcome {
    if case.unit == Unit::Kib && !cfg!(target_os = "linux") {
        return CaseOutcome::Skipped("memory is read from /proc");
    }
    let mut rounds = Vec::new();
    for _ in 0..2 {
        if let Err(why) = measure(case, drivers, &mut rounds) {
            return CaseOutcome::Failed(why);
        }
        let measured = summarize(case.limit, &rounds);
        if measured.is_fine {
            return CaseOutcome::Measured(measured);
        }
    }
    CaseOutcome::Measured(summarize(case.limit, &rounds))
}

/// Adds the rounds of a case, each as the pair of the bare value and our value.
fn measure(case: &Case, drivers: &Drivers, rounds: &mut Vec<(f64, f64)>) -> Result<(), String> {
    let prepared = drivers.prepare(case.transport, case.cores, case.tools)?;
    for round in 0..case.rounds {
        let one = |driver: &str| run_once(drivers, driver, case.work, &prepared);
        // The order alternates, because the first run of a round may find cold caches.
        if round % 2 == 0 {
            let bare = one(&drivers.bare)?;
            rounds.push((bare, one(&drivers.ours)?));
        } else {
            let ours = one(&drivers.ours)?;
            rounds.push((one(&drivers.bare)?, ours));
        }
    }
    Ok(())
}

fn run_once(
    drivers: &Drivers,
    driver: &str,
    work: Workload,
    prepared: &PreparedServer,
) -> Result<f64, String> {
    let run = |verb: &[&str], read: &dyn Fn(&mut Process) -> Result<f64, String>| {
        let mut process = drivers.start(driver, verb, prepared)?;
        let number = read(&mut process)?;
        process.wait_for_end()?;
        Ok(number)
    };
    match work {
        Workload::Verb { words, field } => run(words, &|process| process.number(field)),
        Workload::Idle { servers } => {
            let memory = |process: &mut Process| {
                process.number("tools")?;
                process.resident_kib()
            };
            let one = run(&["connect", "1"], &memory)?;
            let many = run(&["connect", &servers.to_string()], &memory)?;
            #[expect(clippy::cast_precision_loss, reason = "the number is small")]
            let more = (servers - 1) as f64;
            Ok((many - one) / more)
        }
    }
    .map_err(|why: String| format!("{why} (`{driver}`)"))
}

fn summarize(limit: Limit, rounds: &[(f64, f64)]) -> Medians {
    let of = |pick: fn(&(f64, f64)) -> f64| median(rounds.iter().map(pick).collect());
    let (bare, ours, ratio) = (of(|round| round.0), of(|round| round.1), of(|(b, o)| o / b));
    let is_fine = match limit {
        Limit::Ratio(most) => ratio <= most,
        Limit::Absolute(most) => ours <= most,
    };
    Medians { bare, ours, ratio, is_fine }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
