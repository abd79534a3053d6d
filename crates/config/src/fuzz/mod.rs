//! The fuzz targets of this crate: each takes any bytes and panics if an invariant is violated.
//!
//! They are plain functions, so that `tests` can run each for a second on every change; the folder
//! `fuzz` at the root runs them for hours with libFuzzer, which sets `cfg(fuzzing)`. To add one,
//! write it in a file here and name it in [`FUZZ_TARGETS`] and in `fuzz/Cargo.toml`.

mod canary;
mod documents;
mod edit;
mod expand;
mod formats;
mod program_readers;
mod seeded_choice;
#[cfg(test)]
mod tests;
mod trust;

/// All fuzz targets.
pub const FUZZ_TARGETS: &[ConfigFuzzTarget] = &[
    ConfigFuzzTarget::new("json", documents::json, &JSON),
    ConfigFuzzTarget::new("toml", documents::toml, &TOML),
    ConfigFuzzTarget::new("yaml", documents::yaml, &YAML),
    ConfigFuzzTarget::new("formats", formats::formats, &ALL),
    ConfigFuzzTarget::new("expand", expand::expand, &TEXT),
    ConfigFuzzTarget::new("edit_json", edit::json, &JSON),
    ConfigFuzzTarget::new("edit_toml", edit::toml, &TOML),
    ConfigFuzzTarget::new("trust", trust::trust, &ALL),
];

/// Samples, and the extensions of the golden files to use as further samples.
type Corpus = (&'static [&'static str], &'static [&'static str]);

const JSON: Corpus = (&[SERVERS_JSON, COMMENTS_JSON, UNSAFE_JSON], &["json", "jsonc"]);
const TOML: Corpus = (&[SERVERS_TOML], &["toml"]);
const YAML: Corpus = (&[EXTENSIONS_YAML, ANCHORS_YAML, SERVERS_JSON], &["yaml", "yml"]);
const TEXT: Corpus = (&[PLACEHOLDERS], &[]);
const ALL: Corpus = (
    &[SERVERS_JSON, COMMENTS_JSON, UNSAFE_JSON, SERVERS_TOML, EXTENSIONS_YAML, ANCHORS_YAML],
    &["json", "jsonc", "toml", "yaml", "yml"],
);

const SERVERS_JSON: &str = include_str!("../../fuzz_samples/servers.json");
const COMMENTS_JSON: &str = include_str!("../../fuzz_samples/comments.json");
const UNSAFE_JSON: &str = include_str!("../../fuzz_samples/unsafe_names.json");
const SERVERS_TOML: &str = include_str!("../../fuzz_samples/servers.toml");
const EXTENSIONS_YAML: &str = include_str!("../../fuzz_samples/extensions.yaml");
const ANCHORS_YAML: &str = include_str!("../../fuzz_samples/anchors.yaml");
const PLACEHOLDERS: &str = include_str!("../../fuzz_samples/placeholders.txt");

/// The working folder of the targets, which does not exist.
pub const FOLDER: &str = "/nowhere/project";

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFuzzTarget {
    /// The name.
    pub name: &'static str,
    /// Runs the target once.
    pub run: fn(&[u8]),
    /// Inputs worth mutating.
    pub samples: &'static [&'static str],
    /// The extensions of the golden files to mutate, too.
    pub golden: &'static [&'static str],
}

impl ConfigFuzzTarget {
    const fn new(name: &'static str, run: fn(&[u8]), (samples, golden): &'static Corpus) -> Self {
        Self { name, run, samples, golden }
    }
}

/// Runs the target with a name.
///
/// # Panics
///
/// If an invariant is violated, or there is no target with that name.
pub fn run(name: &str, bytes: &[u8]) {
    let target = FUZZ_TARGETS.iter().find(|target| target.name == name);
    assert!(target.is_some(), "no fuzz target is called {name:?}");
    if let Some(target) = target {
        (target.run)(bytes);
    }
}
