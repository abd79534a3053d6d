//! Form elicitation: asks field by field, until every answer is valid or the person declines.

use wharf::elicitation::{EmptyInput, Form, FormField};
use wharf::protocol::Json;
use wharf::protocol::view::send::ElicitationAnswer;

use super::dialog::Dialog;
use super::render;
use crate::ui::{Confirmation, phrase};

/// The result of asking a field.
enum FieldAnswer {
    /// A valid answer.
    Value(Json),
    /// An optional field was skipped.
    Skipped,
    /// The person declined the form.
    Declined,
}

/// Asks a form. The server's name is safe to print, the rest is untrusted.
pub(super) async fn ask(
    server: &str,
    message: &str,
    form: &Form,
    dialog: &mut Dialog<'_>,
) -> ElicitationAnswer {
    dialog.print(&format!("\n{server} requests information:\n{}", render::untrusted_text(message)));
    if form.fields.is_empty() {
        return match dialog.agrees("Agree?").await {
            Some(true) => ElicitationAnswer::Accept(Some(Form::content(&[]))),
            _ => ElicitationAnswer::Decline,
        };
    }
    dialog.print("The server sees what you answer. Type ! or press Ctrl-D to decline.\n");
    if !form.omitted.is_empty() {
        let names = phrase::quoted_list(form.omitted.iter().map(String::as_str));
        dialog.print(&format!("These fields are not supported and are skipped: {names}.\n"));
    }
    loop {
        let Some(answers) = fill(form, dialog).await else { return ElicitationAnswer::Decline };
        // A single answer needs no confirmation.
        let is_sent = form.fields.len() == 1 || {
            let question = format!("Send this to {server}? Enter sends it, n asks again: ");
            let Some(answer) = dialog.ask(&question).await else {
                return ElicitationAnswer::Decline;
            };
            answer.trim().is_empty() || Confirmation::from_line(&answer) == Confirmation::Yes
        };
        if is_sent {
            return ElicitationAnswer::Accept(Some(Form::content(&answers)));
        }
    }
}

/// Asks all fields; returns `None` if the person declines.
async fn fill(form: &Form, dialog: &mut Dialog<'_>) -> Option<Vec<(String, Json)>> {
    let mut answers = Vec::new();
    for field in &form.fields {
        dialog.print(&render::field(field));
        match enter(field, dialog).await {
            FieldAnswer::Value(value) => answers.push((field.name.clone(), value)),
            FieldAnswer::Skipped => {}
            FieldAnswer::Declined => return None,
        }
    }
    Some(answers)
}

/// Asks one field until the answer is valid.
async fn enter(field: &FormField, dialog: &mut Dialog<'_>) -> FieldAnswer {
    if field.asks_for_a_secret() {
        dialog.warn("this looks like a secret, and servers must not ask for one this way");
        match dialog.agrees("Answer it anyway?").await {
            Some(true) => {}
            Some(false) if !field.is_required => return FieldAnswer::Skipped,
            _ => return FieldAnswer::Declined,
        }
    }
    let prompt = render::prompt(field);
    loop {
        let Some(typed) = dialog.ask(&prompt).await else { return FieldAnswer::Declined };
        if typed.trim().is_empty() {
            match field.empty_input() {
                EmptyInput::Value(value) => return FieldAnswer::Value(value),
                EmptyInput::Omitted => return FieldAnswer::Skipped,
                EmptyInput::Missing => dialog.print("  an answer is required\n"),
            }
            continue;
        }
        match field.parse(&typed) {
            Ok(value) => return FieldAnswer::Value(value),
            Err(invalid) => dialog.print(&format!("  {invalid}\n")),
        }
    }
}
