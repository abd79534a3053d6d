//! The workloads that are measured, and the bar of each: how much more than the bare client our
//! client may need.
//!
//! The call counts are chosen so that a run of a driver takes a few tenths of a second, long
//! compared with its start, and all cases together well under two minutes.

/// One workload.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) work: Workload,
    pub(crate) transport: Transport,
    pub(crate) cores: Cores,
    /// How many tools the server has.
    pub(crate) tools: usize,
    /// How often each driver runs.
    pub(crate) rounds: usize,
    pub(crate) unit: Unit,
    pub(crate) limit: Limit,
}

/// What a driver does.
#[derive(Clone, Copy)]
pub(crate) enum Workload {
    /// Runs this verb and reads this field of its output.
    Verb { words: &'static [&'static str], field: &'static str },
    /// Compares the memory of one connection with that of `servers` connections.
    Idle { servers: usize },
}

/// How the server is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// Where the driver and the server may run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cores {
    One,
    All,
}

/// The unit of the numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Microseconds,
    Milliseconds,
    Kib,
}

/// The highest value that is allowed.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// This many times what the bare client needs.
    Ratio(f64),
    /// This value, independent of the bare client.
    Absolute(f64),
}

impl Unit {
    pub(crate) fn render(self, number: f64) -> String {
        match self {
            Self::Microseconds if number < 1000.0 => format!("{number:.1} µs"),
            Self::Microseconds => format!("{:.2} ms", number / 1000.0),
            Self::Milliseconds => format!("{number:.1} ms"),
            Self::Kib => format!("{number:.0} KiB"),
        }
    }
}

impl Limit {
    pub(crate) fn render(self, unit: Unit) -> String {
        match self {
            Self::Ratio(ratio) => format!("{ratio:.1}"),
            Self::Absolute(number) => unit.render(number),
        }
    }
}

const CALLS: Case = Case {
    name: "",
    work: Workload::Verb { words: &[], field: "p50_us" },
    transport: Transport::Stdio,
    cores: Cores::One,
    tools: 20,
    rounds: 9,
    unit: Unit::Microseconds,
    limit: Limit::Ratio(1.0),
};

pub(crate) const CASES: [Case; 10] = [
    Case {
        name: "stdio, small call",
        work: Workload::Verb { words: &["bench", "20000", "1"], field: "p50_us" },
        limit: Limit::Ratio(1.5),
        ..CALLS
    },
    Case {
        name: "http, small call",
        work: Workload::Verb { words: &["bench", "10000", "1"], field: "p50_us" },
        transport: Transport::Http,
        limit: Limit::Ratio(2.2),
        ..CALLS
    },
    Case {
        name: "stdio, 64 at once",
        work: Workload::Verb { words: &["bench", "100000", "64"], field: "p50_us" },
        limit: Limit::Ratio(2.5),
        ..CALLS
    },
    Case {
        name: "http, 64 at once",
        work: Workload::Verb { words: &["bench", "10000", "64"], field: "p50_us" },
        transport: Transport::Http,
        limit: Limit::Ratio(2.0),
        ..CALLS
    },
    Case {
        name: "stdio, 1 MB result",
        work: Workload::Verb { words: &["blob", "200", "1000000"], field: "p50_us" },
        limit: Limit::Ratio(1.3),
        ..CALLS
    },
    Case {
        name: "http, 1 MB result",
        work: Workload::Verb { words: &["blob", "200", "1000000"], field: "p50_us" },
        transport: Transport::Http,
        limit: Limit::Ratio(3.5),
        ..CALLS
    },
    Case {
        name: "stdio, list 10 000 tools, time",
        work: Workload::Verb { words: &["list", "15"], field: "p50_us" },
        tools: 10_000,
        limit: Limit::Ratio(2.5),
        ..CALLS
    },
    Case {
        name: "stdio, list 10 000 tools, memory",
        work: Workload::Verb { words: &["list", "1"], field: "peak_kib" },
        tools: 10_000,
        rounds: 3,
        unit: Unit::Kib,
        limit: Limit::Ratio(3.0),
        ..CALLS
    },
    Case {
        name: "stdio, idle connection, memory",
        work: Workload::Idle { servers: 100 },
        cores: Cores::All,
        rounds: 3,
        unit: Unit::Kib,
        limit: Limit::Absolute(32.0),
        ..CALLS
    },
    Case {
        name: "stdio, connect and list 100 servers",
        work: Workload::Verb { words: &["connect", "100"], field: "ready_ms" },
        cores: Cores::All,
        rounds: 15,
        unit: Unit::Milliseconds,
        limit: Limit::Ratio(1.2),
        ..CALLS
    },
];
