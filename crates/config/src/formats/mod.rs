//! The programs that keep MCP servers in files, one per module, highest priority first.
//!
//! A program is a table of files plus the few things it does differently. Shared code is in
//! `program` (the table), `file_reader` (server maps), `entry_reader` and `scalars` (fields),
//! `plugin` (plugins and extensions), `export` (entries for other programs)
//! and `program_files` (lists of disabled servers).

mod entry_reader;
mod export;
mod file_reader;
mod plugin;
mod program;
mod program_files;
mod scalars;

mod abacus;
mod agent_plugins;
mod air;
mod amazonq;
mod amp;
mod antigravity;
mod claude;
mod claude_desktop;
mod claude_plugins;
mod cline;
mod co_cli;
mod codex;
mod continue_dev;
mod copilot;
mod copilot_jetbrains;
mod cortex;
mod crush;
mod cursor;
mod factory;
mod fx;
mod gemini;
mod gemini_extensions;
mod goose;
mod grok;
mod hermes;
mod junie;
mod kilo;
mod kimi;
mod kiro;
mod lmstudio;
mod mastra;
mod mcp_cli;
mod mcp_json;
mod mcphost;
mod mcporter;
mod omp;
mod opencode;
mod pi;
mod pisces;
mod qoder;
mod qwen;
mod roo;
mod sema4;
mod shared;
mod tabnine;
mod trae;
mod vibe;
mod vscode;
mod warp;
pub(crate) mod wharf;
mod windsurf;
mod xcsh;
mod zed;

pub(crate) use export::{ExportStyle, braced_variable};
pub(crate) use file_reader::FileReader;
pub(crate) use program::{ConfigFile, FileShape, PathTemplate, Program};

/// All programs. For equal priorities the order decides.
pub(crate) static PROGRAMS: [&Program; 55] = [
    &wharf::PROGRAM,
    &omp::PROGRAM,
    &pisces::PROGRAM,
    &xcsh::PROGRAM,
    &co_cli::PROGRAM,
    &claude::PROGRAM,
    &agent_plugins::PROGRAM,
    &claude_plugins::PROGRAM,
    &gemini_extensions::PROGRAM,
    &codex::PROGRAM,
    &gemini::PROGRAM,
    &qwen::PROGRAM,
    &opencode::PROGRAM,
    &cursor::PROGRAM,
    &windsurf::PROGRAM,
    &copilot::PROGRAM,
    &zed::PROGRAM,
    &cline::PROGRAM,
    &roo::PROGRAM,
    &kilo::PROGRAM,
    &goose::PROGRAM,
    &amp::PROGRAM,
    &kiro::PROGRAM,
    &crush::PROGRAM,
    &continue_dev::PROGRAM,
    &junie::PROGRAM,
    &lmstudio::PROGRAM,
    &amazonq::PROGRAM,
    &warp::PROGRAM,
    &factory::PROGRAM,
    &antigravity::PROGRAM,
    &claude_desktop::PROGRAM,
    &copilot_jetbrains::PROGRAM,
    &air::PROGRAM,
    &trae::PROGRAM,
    &qoder::PROGRAM,
    &kimi::PROGRAM,
    &vibe::PROGRAM,
    &grok::PROGRAM,
    &mastra::PROGRAM,
    &pi::PROGRAM,
    &fx::PROGRAM,
    &mcporter::PROGRAM,
    &mcp_cli::PROGRAM,
    &sema4::PROGRAM,
    &tabnine::PROGRAM,
    &cortex::PROGRAM,
    &abacus::PROGRAM,
    &mcphost::PROGRAM,
    &hermes::PROGRAM,
    &vscode::PROGRAM,
    &shared::PROGRAM,
    &mcp_json::PROGRAM,
    &wharf::VARIABLE_PROGRAM,
    &wharf::DEFAULTS_PROGRAM,
];

/// A variable whose value is the servers as JSON.
pub(crate) static VARIABLE: ConfigFile = program::variable("");

/// Servers given on the command line, which are not in a file.
pub(crate) static ONE_OFF_PROGRAM: &Program = &wharf::ONE_OFF_PROGRAM;

/// A file that the person named, of any program.
pub(crate) static ANY_FILE: ConfigFile = program::user("").any_key_or_root();

/// Finds a program by its short name.
pub(crate) fn program(id: &str) -> Option<&'static Program> {
    PROGRAMS.iter().copied().find(|program| program.id == id)
}

/// Finds a program by its short name, or by its name as one word: `claude-code`, `vs-code`.
pub(crate) fn program_by_name(word: &str) -> Option<&'static Program> {
    let is_name = |program: &&Program| program.name.to_ascii_lowercase().replace(' ', "-") == word;
    program(word).or_else(|| PROGRAMS.iter().copied().find(is_name))
}

/// Lists the programs that Wharf knows, as id and name.
pub fn providers() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROGRAMS.iter().map(|program| (program.id, program.name))
}
