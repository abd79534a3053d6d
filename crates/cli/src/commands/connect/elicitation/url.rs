//! URL elicitation: asks whether the person will open a URL. Shows the full URL and never opens
//! it.

use wharf::elicitation::UrlElicitation;
use wharf::protocol::view::send::ElicitationAnswer;
use wharf_config::text::clean;

use super::dialog::Dialog;
use super::render;
use crate::ui::style;

/// Asks about a URL. The server's name is safe to print, the rest is untrusted.
pub(super) async fn ask(
    server: &str,
    message: &str,
    page: &UrlElicitation,
    dialog: &mut Dialog<'_>,
) -> ElicitationAnswer {
    let (before, host, after) = page.parts();
    let (before, host, after) = (clean(before), style::strong(&clean(host)), clean(after));
    dialog.print(&format!(
        "\n{server} requests that you open a URL on {host}:\n{}\n  {before}{host}{after}\n\n",
        render::untrusted_text(message),
    ));
    if page.has_punycode_host() {
        dialog.warn("its host name has letters that can be mistaken for other letters");
    }
    if page.is_unencrypted() {
        dialog.warn("the connection is not encrypted: others can read it");
    }
    dialog.print("Wharf does not open it: copy the URL into your browser if you trust it.\n");
    if dialog.agrees("Will you open it?").await == Some(true) {
        dialog.print(
            "The call continues when the server reports that you are done, or after two minutes. \
             Ctrl-C cancels the call.\n",
        );
        ElicitationAnswer::Accept(None)
    } else {
        ElicitationAnswer::Decline
    }
}
