//! Crush: `mcp` in its JSON files, timeouts in seconds, shell-like values.
//!
//! Source: its code. `$VAR` is replaced; `$(command)` is reported and never run; `crushrc` is a
//! Bash script, so its servers cannot be read.

use super::program::{Dialect, Program, project, user, user_on};
use crate::expand::Syntax;

const KEY: &[&str] = &["mcp"];
const SCRIPT_NOTICE: &str =
    "Crush runs this script for its settings; Wharf does not run it and does not see its servers";

pub(super) const PROGRAM: Program = Program {
    dialect: Dialect { needs_type: true, ..Dialect::STANDARD }
        .in_seconds()
        .with(Syntax::DOLLAR.union(Syntax::SHELL)),
    files: &[
        project(".crush.json").servers(KEY),
        project("crush.json").servers(KEY),
        project(".crushrc").unsupported(SCRIPT_NOTICE),
        project("crushrc").unsupported(SCRIPT_NOTICE),
        user("${CRUSH_GLOBAL_CONFIG:-{xdg}/crush}/crush.json").servers(KEY),
        user("${CRUSH_GLOBAL_CONFIG:-{xdg}/crush}/crushrc").unsupported(SCRIPT_NOTICE),
        user_on(
            "${CRUSH_GLOBAL_DATA:-{data}/crush}/crush.json",
            "${CRUSH_GLOBAL_DATA:-{data}/crush}/crush.json",
            "${CRUSH_GLOBAL_DATA:-{localappdata}/crush}/crush.json",
        )
        .servers(KEY),
    ],
    ..Program::new("crush", "Crush")
};
