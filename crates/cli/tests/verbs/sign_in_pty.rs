//! Signing in on a real terminal: the browser, a pasted address, a code for a device, cancelling,
//! and verbs that offer the sign-in.

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect};
use wharf_testkit::oauth::{AuthorizationRedirect, visit};

use crate::connect_pty::on_terminal_with_columns;
use crate::sign_in_world::SignInWorld;

/// Starts a command line on a terminal that is wide enough that nothing is wrapped.
fn start(world: &SignInWorld, line: &str) -> OsSession {
    let words: Vec<&str> = line.split_whitespace().collect();
    on_terminal_with_columns(200, world.world.command(&words))
}

fn rest(mut session: OsSession) -> (String, WaitStatus) {
    let seen = session.expect(Eof).unwrap();
    let text = String::from_utf8_lossy(seen.as_bytes()).replace('\r', "");
    (text, session.get_process().wait().unwrap())
}

fn check_exit(status: WaitStatus, code: i32) {
    assert!(matches!(status, WaitStatus::Exited(_, found) if found == code), "{status:?}");
}

#[test]
fn on_a_pty_the_browser_signs_in() {
    let world = SignInWorld::new();
    let mut session = start(&world, "login web");
    session.expect("Sign in at 127.0.0.1:").unwrap();
    session.expect("Your browser was asked to open this page.\r\n").unwrap();
    session.expect("paste the address").unwrap();
    let page = visit(&world.opened()).unwrap();
    assert!(page.contains("terminal") || page.contains("close"), "{page}");
    session.expect("Signed in to \"web\"\r\n").unwrap();
    let (text, status) = rest(session);
    check_exit(status, 0);
    world.check_for_leaks(&[&text]);
}

#[test]
fn on_a_pty_the_address_of_the_last_page_is_pasted() {
    let world = SignInWorld::new();
    let mut session = start(&world, "login web --no-browser");
    let seen = session.expect("Open this page in a browser.").unwrap();
    let before = String::from_utf8_lossy(seen.before()).into_owned();
    let address = before.split_whitespace().find(|word| word.contains("/authorize?")).unwrap();
    let AuthorizationRedirect(last_page) = AuthorizationRedirect::of(address).unwrap();
    session.expect("press Enter").unwrap();
    session.send_line("https://elsewhere.example/").unwrap();
    session.expect("warning: ").unwrap();
    session.send_line(&last_page).unwrap();
    session.expect("Signed in to \"web\"").unwrap();
    check_exit(rest(session).1, 0);
    assert!(world.run("test web").starts_with("exit 0"));
}

#[test]
fn on_a_pty_a_code_is_shown_for_another_device() {
    let world = SignInWorld::new();
    let mut session = start(&world, "login web --device");
    session.expect("on any device").unwrap();
    session.expect("WDJB-MJHT").unwrap();
    session.expect("The code is valid for 10 minutes").unwrap();
    session.expect("Signed in to \"web\"").unwrap();
    check_exit(rest(session).1, 0);
}

#[test]
fn on_a_pty_ctrl_c_cancels_and_stores_nothing() {
    let world = SignInWorld::new();
    let mut session = start(&world, "login web");
    session.expect("Ctrl-C cancels.").unwrap();
    session.send(ControlCode::EndOfText).unwrap();
    session.expect("error: cancelled by a signal").unwrap();
    check_exit(rest(session).1, 130);
    assert_eq!(world.stored(), "");
}

#[test]
fn on_a_pty_a_sign_in_that_nobody_completes_times_out() {
    let world = SignInWorld::new();
    let mut session = start(&world, "login web --timeout 300ms");
    session.expect("error: OAuth flow timed out. Please try again.").unwrap();
    check_exit(rest(session).1, 5);
    assert_eq!(world.stored(), "");
}

#[test]
fn on_a_pty_verbs_offer_the_sign_in() {
    for (line, then) in [("test web", "Connected to \"web\""), ("call web/echo text=ahoy", "ahoy")]
    {
        let world = SignInWorld::new();
        let mut session = start(&world, line);
        session.expect("Server \"web\" asks you to sign in. Do it now? [y/N] ").unwrap();
        session.send_line("y").unwrap();
        session.expect("Sign in at 127.0.0.1:").unwrap();
        visit(&world.opened()).unwrap();
        session.expect("Signed in to \"web\"").unwrap();
        session.expect(then).unwrap_or_else(|error| panic!("{line}: {error}"));
        check_exit(rest(session).1, 0);
    }
}

#[test]
fn on_a_pty_a_new_server_is_signed_in_to() {
    let world = SignInWorld::defined_by(|world, _| world.with_probe());
    let url = world.server.url();
    let mut session = start(&world, &format!("add web --url {url}"));
    session.expect("asks you to sign in. Do it now? [y/N] ").unwrap();
    session.send_line("y").unwrap();
    visit(&world.opened()).unwrap();
    session.expect("Connected: wharf-sample").unwrap();
    check_exit(rest(session).1, 0);
    assert!(world.run("test web").starts_with("exit 0"));
}

#[test]
fn on_a_pty_a_refused_sign_in_names_the_command() {
    let world = SignInWorld::new();
    let mut session = start(&world, "test web");
    session.expect("Do it now? [y/N] ").unwrap();
    session.send_line("n").unwrap();
    let (text, status) = rest(session);
    assert!(text.contains("`wharf login web`"), "{text}");
    check_exit(status, 4);
    assert_eq!(world.server.requests_to("/authorize"), 0);
}
