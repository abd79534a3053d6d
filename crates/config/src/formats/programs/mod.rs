//! The other programs that keep MCP servers in files, one per module, highest priority first.
//!
//! A program is a table of files plus the few things it does differently. Shared by several of them
//! are `plugin` (plugins and extensions), `program_files` (lists of disabled servers) and `export`
//! (entries for other programs).

mod export;
mod plugin;
mod program_files;

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
mod windsurf;
mod xcsh;
mod zed;

pub(crate) use export::{ExportStyle, braced_variable};

use super::{entry_reader, file_reader, program, scalars, wharf};

use program::Program;

/// All programs, Wharf among them. For equal priorities the order decides.
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
