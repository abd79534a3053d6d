//! Refuses to start code of an untrusted folder through an entry of the user.
//!
//! An entry such as `node ${workspaceFolder}/server.js` or `"cwd": "${workspaceFolder}"` would run
//! whatever a cloned repository contains. An argument or variable that is the folder itself is
//! allowed: servers for files and repositories get their root in this way.

use std::path::Path;

use crate::catalog::Server;
use crate::problem::Problem;
use crate::server::{LaunchCommand, Transport};
use crate::source::Level;

/// Placeholders and variables whose value is the working folder.
const WORKING_FOLDER: [&str; 5] =
    ["workspaceFolder", "workspaceRoot", "workspacePath", "CLAUDE_PROJECT_DIR", "PWD"];

/// Returns a problem if a server of the user starts in the untrusted `folder`, or is given a path
/// inside of it, through a placeholder.
pub(crate) fn check_use(server: &Server, folder: &Path) -> Option<Problem> {
    let definition = &server.definition;
    // Definitions of the project have their own trust; a plugin's entry refers to its own folder.
    if definition.source.level == Level::Project || **definition.folder != *folder {
        return None;
    }
    let Transport::Stdio(launch) = &server.spec.as_deref()?.transport else { return None };
    let used = server.uses.iter().find(|place| {
        WORKING_FOLDER.contains(&&*place.used.variable)
            && may_run_code(launch, &place.field, folder)
    })?;
    let (field, variable) = (&used.field, &used.used.variable);
    let message =
        format!("\"{field}\" uses code of this folder (${{{variable}}}), which is not trusted");
    let problem = Problem::error("untrusted-folder", message)
        .in_file(&definition.source.path)
        .on_line(definition.line)
        .of_server(definition.name.as_str())
        .of_field(field.clone());
    Some(problem.hint("trust this folder, or write the full path into the entry"))
}

/// Tells whether a field, which contains the path of the folder, can make the server run code of
/// the folder.
fn may_run_code(launch: &LaunchCommand, field: &str, folder: &Path) -> bool {
    let leads_inside = |value: &str| {
        let folder = folder.to_string_lossy();
        let mut rests = value.match_indices(&*folder).map(|(at, _)| &value[at + folder.len()..]);
        rests.any(|rest| rest.trim_start_matches(['/', '\\']).len() < rest.len())
    };
    if let Some(name) = field.strip_prefix("env.") {
        let mut values = launch.env.iter().filter(|(known, _)| known == name);
        return values.any(|(_, value)| leads_inside(value.text().expose()));
    }
    let index = field.strip_prefix("args[").and_then(|rest| rest.strip_suffix(']'));
    match index.and_then(|index| launch.args.get(index.parse::<usize>().ok()?)) {
        Some(argument) => leads_inside(argument.expose()),
        // `command` and `cwd`: programs such as `npx` prefer files in the folder they start in.
        None => true,
    }
}
