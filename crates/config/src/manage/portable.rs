//! A definition that is copied from one program to another, with every placeholder translated to
//! the syntax of the target program.
//!
//! A server is not copied if the target program cannot replace a placeholder: the copy would fail,
//! or send the placeholder as a token.

use crate::env::Env;
use crate::expand::{self, ExpandContext, MissingReason, Piece, Placeholder};
use crate::named_files::NamedFiles;
use crate::server::{Definition, OAuth, Timeouts, TransportKind, WrittenText};
use crate::spec;

/// A definition with its texts in the syntax of another program.
pub(crate) struct PortableDefinition {
    /// Its transport.
    pub(crate) kind: TransportKind,
    /// The program.
    pub(crate) command: Option<String>,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Its environment variables.
    pub(crate) env: Vec<(String, String)>,
    /// The working folder of the program.
    pub(crate) cwd: Option<String>,
    /// The address.
    pub(crate) url: Option<String>,
    /// The headers.
    pub(crate) headers: Vec<(String, String)>,
    /// The timeouts.
    pub(crate) timeouts: Timeouts,
    /// OAuth options.
    pub(crate) oauth: Option<OAuth>,
    /// The tools to offer.
    pub(crate) include_tools: Option<Vec<String>>,
    /// The tools to leave out.
    pub(crate) exclude_tools: Vec<String>,
    /// Variables passed on by name.
    pub(crate) pass_env: Vec<String>,
    /// Whether it is switched off in its file.
    pub(crate) is_off: bool,
}

/// Writes a variable, with its default, in the syntax of a program; none if that is not possible.
pub(crate) type WriteVariable = fn(&str, Option<&str>) -> Option<String>;

/// Translates a definition, or returns why that is not possible.
pub(crate) fn translate(
    definition: &Definition,
    env: &Env,
    write_variable: WriteVariable,
) -> Result<PortableDefinition, String> {
    let kind = spec::check_transport(definition).map_err(|invalid| invalid.to_string())?;
    let translator = Translator { definition, env, write_variable };
    let fields = &definition.fields;
    if fields.custom.is_some() {
        return Err("it exists only in this program".to_owned());
    }
    if fields.headers_helper.is_some() {
        return Err("its headers come from a program".to_owned());
    }
    if fields.env_file.is_some() {
        return Err("its variables come from a file (\"envFile\")".to_owned());
    }
    let one =
        |text: &Option<WrittenText>| text.as_ref().map(|text| translator.text(text)).transpose();
    let all = |pairs: &[(String, WrittenText)]| {
        let value = |(name, text): &(String, WrittenText)| {
            Ok((name.clone(), translator.value(name, text)?))
        };
        pairs.iter().map(value).collect::<Result<Vec<_>, String>>()
    };
    let mut args = Vec::new();
    for arg in &fields.args {
        args.push(translator.text(arg)?);
    }
    let is_stdio = kind == TransportKind::Stdio;
    Ok(PortableDefinition {
        kind,
        command: if is_stdio { one(&fields.command)? } else { None },
        args: if is_stdio { args } else { Vec::new() },
        env: if is_stdio { all(&fields.env)? } else { Vec::new() },
        cwd: one(&fields.cwd)?,
        url: if is_stdio { None } else { one(&fields.url)? },
        headers: if is_stdio { Vec::new() } else { all(&fields.headers)? },
        timeouts: fields.timeouts,
        oauth: fields.oauth.clone(),
        include_tools: fields.policy.include_tools.clone(),
        exclude_tools: fields.policy.exclude_tools.clone(),
        pass_env: fields.policy.pass_env.clone(),
        is_off: definition.off.is_some(),
    })
}

struct Translator<'a> {
    definition: &'a Definition,
    env: &'a Env,
    write_variable: WriteVariable,
}

impl Translator<'_> {
    /// Translates an environment or header value, which may be a command or the name of a variable.
    fn value(&self, name: &str, written: &WrittenText) -> Result<String, String> {
        let resolved = written.syntax.contains(expand::Syntax::RESOLVED);
        if resolved && written.text.starts_with('!') {
            return Err(format!("\"{name}\" comes from a command"));
        }
        let is_name = resolved && self.env.nonempty_variable(&written.text).is_some();
        if is_name {
            let variable = (self.write_variable)(&written.text, None);
            return variable.ok_or_else(|| Self::unsupported_variable(&written.text));
        }
        self.text(written)
    }

    fn text(&self, written: &WrittenText) -> Result<String, String> {
        let files = NamedFiles::default();
        let context = ExpandContext::of(self.definition, self.env, &files);
        let mut translated = String::new();
        for piece in expand::pieces(written, context) {
            match piece {
                Piece::Text(text) => translated.push_str(text),
                Piece::Placeholder(_, placeholder) => {
                    translated.push_str(&self.placeholder(&placeholder)?);
                }
            }
        }
        Ok(translated)
    }

    fn placeholder(&self, placeholder: &Placeholder<'_>) -> Result<String, String> {
        match placeholder {
            Placeholder::Variable { name, default } => (self.write_variable)(name, *default)
                .ok_or_else(|| Self::unsupported_variable(name)),
            Placeholder::Predefined { value, .. } => Ok(value.clone()),
            Placeholder::File(path) => Err(format!("a value comes from the file {path}")),
            Placeholder::Unknown { name, why: MissingReason::Input } => {
                Err(format!("it needs the answer to input \"{name}\""))
            }
            Placeholder::Unknown { name, .. } => {
                Err(format!("it uses {name}, which only its own program can replace"))
            }
        }
    }

    fn unsupported_variable(variable: &str) -> String {
        format!("it uses the variable {variable}, which cannot be written there")
    }
}
