//! Asks a form field by field, until every answer fits or the person declines.

use wharf::elicitation::{EmptyInput, Form, FormField};
use wharf::protocol::Json;
use wharf::protocol::view::send::ElicitationAnswer;

use super::shown;
use super::talk::Talk;
use crate::ui::phrase;

/// What came of a field.
enum Filled {
    /// An answer, or none where none is needed.
    With(Option<Json>),
    /// The person wants no part in the form.
    Declined,
}

/// Asks a form. The server's name is safe to show, the rest is not.
pub(super) async fn ask(
    server: &str,
    message: &str,
    form: &Form,
    talk: &mut Talk<'_>,
) -> ElicitationAnswer {
    talk.say(&format!("\n{server} asks:\n{}", shown::foreign(message)));
    if form.fields.is_empty() {
        return match talk.agrees("Agree?").await {
            Some(true) => ElicitationAnswer::Accept(Some(Form::content(&[]))),
            _ => ElicitationAnswer::Decline,
        };
    }
    talk.say("The server sees what you answer. Type ! or press Ctrl-D to decline.\n");
    if !form.omitted.is_empty() {
        let names = phrase::quoted_list(form.omitted.iter().map(String::as_str));
        talk.say(&format!("These fields are not supported and are skipped: {names}.\n"));
    }
    loop {
        let Some(answers) = fill(form, talk).await else { return ElicitationAnswer::Decline };
        // A single answer was looked at before it was entered.
        let is_sent = form.fields.len() == 1 || {
            let question = format!("Send this to {server}? Enter sends it, n asks again: ");
            let Some(said) = talk.ask(&question).await else { return ElicitationAnswer::Decline };
            ["", "y", "yes"].contains(&said.trim().to_ascii_lowercase().as_str())
        };
        if is_sent {
            return ElicitationAnswer::Accept(Some(Form::content(&answers)));
        }
    }
}

/// Asks all fields; none if the person declines.
async fn fill(form: &Form, talk: &mut Talk<'_>) -> Option<Vec<(String, Json)>> {
    let mut answers = Vec::new();
    for field in &form.fields {
        talk.say(&shown::field(field));
        match enter(field, talk).await {
            Filled::With(Some(value)) => answers.push((field.name.clone(), value)),
            Filled::With(None) => {}
            Filled::Declined => return None,
        }
    }
    Some(answers)
}

/// Asks one field until the answer fits.
async fn enter(field: &FormField, talk: &mut Talk<'_>) -> Filled {
    if field.asks_for_a_secret() {
        talk.warn("this looks like a secret, and servers must not ask for one this way");
        match talk.agrees("Answer it all the same?").await {
            Some(true) => {}
            Some(false) if !field.is_required => return Filled::With(None),
            _ => return Filled::Declined,
        }
    }
    let prompt = shown::prompt(field);
    loop {
        let Some(typed) = talk.ask(&prompt).await else { return Filled::Declined };
        if typed.trim().is_empty() {
            match field.empty_input() {
                EmptyInput::Value(value) => return Filled::With(Some(value)),
                EmptyInput::Omitted => return Filled::With(None),
                EmptyInput::Missing => talk.say("  an answer is required\n"),
            }
            continue;
        }
        match field.parse(&typed) {
            Ok(value) => return Filled::With(Some(value)),
            Err(invalid) => talk.say(&format!("  {invalid}\n")),
        }
    }
}
