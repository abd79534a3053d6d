//! Words the steps of a sign-in. Texts from servers are cleaned before they are printed.

use wharf::auth::{BrowserState, PageAddress, SignInProgress};
use wharf_config::text::clean;

use crate::commands::connect::Progress;
use crate::ui::{Lines, Ui, phrase, style};

/// Shows a step. While the person signs in, there is no progress line.
pub(super) fn show(step: &SignInProgress, ui: &Ui, progress: &Progress<'_>) {
    match step {
        SignInProgress::OpenPage { page, browser, returns } => {
            progress.pause();
            ui.message(&open_page(page, browser, *returns, ui.is_stdin_terminal));
        }
        SignInProgress::EnterCode { page, code, page_with_code, expires_in } => {
            progress.pause();
            let minutes = expires_in.as_secs().div_ceil(60);
            ui.message(&enter_code(page, code, page_with_code.as_ref(), minutes));
        }
        SignInProgress::PasteRejected { reason } => {
            let label = style::warning("warning:");
            ui.message(&format!(
                "{label} {}; paste the whole address of the last page\n",
                clean(reason)
            ));
        }
        SignInProgress::CallbackIgnored { reason } => {
            ui.notice(&format!(
                "{} ignored a request to the callback address: {}",
                style::warning("warning:"),
                clean(reason)
            ));
        }
        SignInProgress::Warning(problem) => {
            let label = style::warning("warning:");
            ui.notice(&format!("{label} {}", clean(&problem.message)));
        }
        SignInProgress::RequestingToken => progress.resume(),
        _ => {}
    }
}

fn open_page(page: &PageAddress, browser: &BrowserState, returns: bool, can_paste: bool) -> String {
    let mut lines = Lines::default();
    lines.add(format!("Sign in at {}:\n\n  {}\n", style::strong(page.host()), page.as_str()));
    lines.add(match browser {
        BrowserState::Opened => "Your browser was asked to open this page.".to_owned(),
        BrowserState::Failed(error) => format!(
            "The browser could not be started ({}): open this page yourself.",
            clean(&error.to_string())
        ),
        _ => "Open this page in a browser.".to_owned(),
    });
    match (can_paste, returns) {
        (true, true) => lines.add(
            "If the browser is on another machine, paste the address of the page that it ends on \
             here, and press Enter. Ctrl-C cancels.",
        ),
        (true, false) => lines.add(
            "Then paste the address of the page that it ends on here, and press Enter. Ctrl-C \
             cancels.",
        ),
        (false, _) => lines.add("Waiting for the browser. Ctrl-C cancels."),
    }
    lines.into_text()
}

fn enter_code(
    page: &PageAddress,
    code: &str,
    page_with_code: Option<&PageAddress>,
    minutes: u64,
) -> String {
    let mut lines = Lines::default();
    lines.add(format!("Sign in at {}, on any device:\n", style::strong(page.host())));
    lines.labelled("open", page.as_str());
    lines.labelled("enter", &style::strong(&clean(code)));
    if let Some(page) = page_with_code {
        lines.labelled("or open", page.as_str());
    }
    let valid = phrase::count(usize::try_from(minutes).unwrap_or(usize::MAX), "minute");
    lines.add(format!("\nThe code is valid for {valid}. Ctrl-C cancels."));
    lines.into_text()
}
