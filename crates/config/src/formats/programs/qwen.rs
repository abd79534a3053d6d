//! Qwen Code, a fork of Gemini CLI with the same format. Source: another integrator.

use super::gemini;
use super::program::{Program, project, user};

pub(super) const PROGRAM: Program = Program {
    priority: 60,
    dialect: gemini::DIALECT,
    read_extra_fields: gemini::read_extra_fields,
    finish: gemini::apply_lists,
    files: &[project(".qwen/settings.json"), user("~/.qwen/settings.json")],
    export: Some(&gemini::STYLE),
    ..Program::new("qwen", "Qwen Code")
};
