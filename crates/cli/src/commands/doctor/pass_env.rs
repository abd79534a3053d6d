//! Suggests `passEnv` for programs that are known to need more variables than a child process gets.

use wharf_config::{Env, Server, Transport, shell};

use super::check::Check;

/// Programs, and words in arguments, that indicate which variable is needed.
const NEEDS: [Need; 4] = [
    Need { variable: "DOCKER_HOST", programs: &["docker", "podman"], words: &[] },
    Need { variable: "KUBECONFIG", programs: &["kubectl", "helm"], words: &["kubernetes"] },
    Need { variable: "SSH_AUTH_SOCK", programs: &["git", "ssh"], words: &["mcp-server-git"] },
    Need { variable: "DISPLAY", programs: &[], words: &["playwright", "puppeteer", "browser"] },
];

struct Need {
    variable: &'static str,
    programs: &'static [&'static str],
    words: &'static [&'static str],
}

/// Suggests the variables that are set here, that the server probably needs, and that it does not
/// get.
pub(super) fn check(server: &Server, env: &Env) -> Vec<Check> {
    let Some(spec) = &server.spec else { return Vec::new() };
    let Transport::Stdio(launch) = &spec.transport else { return Vec::new() };
    let fields = &server.definition.fields;
    let command = fields.command.as_ref().map_or("", |command| command.text.as_str());
    let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let program = program.trim_end_matches(".exe");
    let has_word = |word: &&str| fields.args.iter().any(|arg| arg.text.contains(*word));
    let needed = NEEDS.iter().filter(|need| {
        (need.programs.contains(&program) || need.words.iter().any(has_word))
            && env.nonempty_variable(need.variable).is_some()
            && !wharf::has_variable(launch, &spec.policy, need.variable, env.platform)
    });
    needed.map(|need| suggest(need.variable, server)).collect()
}

fn suggest(variable: &str, server: &Server) -> Check {
    let add = format!("add \"passEnv\": [\"{variable}\"]");
    let hint = match server.definition.source.provider {
        "wharf" | "env" => format!("if the server needs it, {add}"),
        // Another program's file, which may support neither `passEnv` nor placeholders.
        program => format!(
            "if the server needs it, copy it into Wharf's own file and {add} there: `wharf import {program} {}`",
            shell::quote(server.definition.name.as_str())
        ),
    };
    let message = format!("{variable} is set here, but this server will not see it");
    Check::note(server.definition.name.as_str(), message).hint(hint)
}
