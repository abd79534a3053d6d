//! The usual mistakes in commands on Windows: quotes and arguments inside of "command", scripts that
//! the system does not start, and the execution policy of PowerShell.

use std::path::{Path, PathBuf};

use wharf_config::{Env, Platform, Server, Transport};

use super::check::Check;

/// The extensions of programs, in front of which arguments may follow by mistake.
const PROGRAMS: [&str; 4] = [".exe ", ".cmd ", ".bat ", ".com "];

/// Returns what to do about a command that was not found, if it is one of the usual mistakes.
pub(super) fn missing_program_hint(command: &str, env: &Env) -> Option<String> {
    if env.platform != Platform::Windows {
        return None;
    }
    if command.starts_with('"') {
        return Some(
            "remove the quotes inside of \"command\"; a path with spaces needs none".into(),
        );
    }
    let lower = command.to_ascii_lowercase();
    if PROGRAMS.iter().any(|program| lower.contains(program)) {
        return Some("\"command\" is the program alone; put its arguments into \"args\"".into());
    }
    if let Some(script) = in_path(&format!("{command}.ps1"), env) {
        let script = script.display();
        return Some(format!(
            "`{command}` is the PowerShell script {script}; use the command `powershell` with \
             the arguments `-ExecutionPolicy Bypass -File {script}`"
        ));
    }
    let script = in_path(command, env)?;
    Some(format!(
        "{} is a script for Unix shells; install `{command}` for Windows, where it is \
         `{command}.cmd` or `{command}.exe`",
        script.display()
    ))
}

/// Notes that PowerShell refuses scripts, if the entry starts one and does not say otherwise.
pub(super) fn execution_policy(server: &Server, env: &Env) -> Option<Check> {
    let Transport::Stdio(launch) = &server.spec.as_ref()?.transport else { return None };
    let is_windows = env.platform == Platform::Windows;
    let arguments = launch.args.iter().map(|argument| argument.expose().to_ascii_lowercase());
    let arguments: Vec<String> = arguments.collect();
    (is_windows && is_refused_script(launch.command.expose(), &arguments)).then(|| {
        Check::note(
            server.definition.name.as_str(),
            "starts a PowerShell script, which the usual execution policy refuses",
        )
        .hint("put `-ExecutionPolicy` and `Bypass` before `-File` in \"args\"")
    })
}

fn is_refused_script(command: &str, arguments: &[String]) -> bool {
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    let is_shell = ["powershell", "powershell.exe", "pwsh", "pwsh.exe"].contains(&&*program);
    let has = |names: [&str; 3]| arguments.iter().any(|argument| names.contains(&&**argument));
    is_shell && has(["-file", "-f", "/file"]) && !has(["-executionpolicy", "-ep", "-ex"])
}

/// Finds a file in the folders of PATH.
fn in_path(name: &str, env: &Env) -> Option<PathBuf> {
    let is_name = !name.contains(['/', '\\', ':']);
    let folders = env.nonempty_variable("PATH").filter(|_| is_name)?.split(';');
    folders.map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(platform: Platform, folder: &Path) -> Env {
        Env::new(platform, folder).with_variable("Path", folder.display().to_string())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test prepares files")]
    fn the_usual_mistakes_have_their_own_hint() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tool", "other.ps1"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let hint = |command: &str| {
            let hint = missing_program_hint(command, &env(Platform::Windows, folder.path()));
            let hint =
                hint.unwrap_or_default().replace(&folder.path().display().to_string(), "[bin]");
            hint.replace('\\', "/")
        };
        insta::assert_snapshot!(hint(r#""C:\Program Files\a.exe""#), @r#"remove the quotes inside of "command"; a path with spaces needs none"#);
        insta::assert_snapshot!(hint(r"C:\Program Files\node.exe server.js"), @r#""command" is the program alone; put its arguments into "args""#);
        insta::assert_snapshot!(hint("tool"), @"[bin]/tool is a script for Unix shells; install `tool` for Windows, where it is `tool.cmd` or `tool.exe`");
        insta::assert_snapshot!(hint("other"), @"`other` is the PowerShell script [bin]/other.ps1; use the command `powershell` with the arguments `-ExecutionPolicy Bypass -File [bin]/other.ps1`");
        assert_eq!(hint("nothing"), "");
        assert_eq!(missing_program_hint("tool", &env(Platform::Linux, folder.path())), None);
    }

    #[test]
    fn a_script_is_refused_unless_the_policy_is_named() {
        let check = |command: &str, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
            is_refused_script(command, &arguments)
        };
        assert!(check(r"C:\Windows\PowerShell.exe", &["-noprofile", "-file", "a.ps1"]));
        assert!(!check("pwsh", &["-executionpolicy", "bypass", "-file", "a.ps1"]));
        assert!(!check("powershell", &["-command", "get-date"]));
        assert!(!check("node", &["-file", "a"]));
    }
}
