//! `wharf credentials`: shows what is stored, never the secrets, and moves it between the keychain
//! and the file.

use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use wharf::{CredentialStorage, CredentialStore, UserCredentials};
use wharf_config::text::clean;
use wharf_config::time::{moment, rfc3339};
use wharf_config::{Catalog, CredentialSummary, Settings};

use super::server_credential::ServerCredentials;
use super::{Exit, Failure, Invocation};
use crate::ui::{Cell, Column, Table, phrase, print_json, style, time_ago};

/// Show the stored credentials, or move them
///
/// Shows for which address a credential is stored, which servers use it, until when it is valid,
/// and whether its secrets are in the keychain of the system or in the file `credentials.json`. No
/// secret is shown. `wharf logout NAME` removes a credential.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf credentials list
  wharf credentials list --json | jq '.credentials[] | select(.store == \"file\")'
  wharf credentials move --to keychain          all of them
  wharf credentials move --to file github       those of one server
  wharf config set credentials.store keychain   for new credentials")]
pub(crate) struct CredentialsArgs {
    #[command(subcommand)]
    action: CredentialsAction,
}

#[derive(Debug, Subcommand)]
enum CredentialsAction {
    /// Show the stored credentials
    List,
    /// Move the secrets into the keychain of the system, or into the file
    Move {
        /// Where to
        #[arg(long, value_name = "STORE")]
        to: StoreArg,
        /// Only the credentials of these servers
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreArg {
    /// The keychain of the system
    Keychain,
    /// The file credentials.json, which only you can read
    File,
}

#[derive(Serialize)]
struct CredentialListJson {
    credentials: Vec<CredentialJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CredentialJson {
    id: String,
    resource: String,
    /// The servers that use it.
    servers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    kind: &'static str,
    renewable: bool,
    /// In UTC, in the format of RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    scopes: Vec<String>,
    store: &'static str,
}

#[derive(Serialize)]
struct CredentialMoveJson {
    ok: bool,
    moved: Vec<String>,
    message: String,
}

/// Shows or moves the credentials.
pub(crate) fn run(args: &CredentialsArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = invocation.load()?;
    let store = store(&catalog, invocation);
    let stored = store.list().map_err(Failure::CredentialStore)?;
    match &args.action {
        CredentialsAction::List => list(&stored, &catalog, invocation),
        CredentialsAction::Move { to, servers } => {
            let wanted = of_servers(stored, servers, &catalog)?;
            relocate(&wanted, *to, &store, invocation)
        }
    }
}

/// Returns the store of the person.
pub(super) fn store(catalog: &Catalog, invocation: &Invocation) -> UserCredentials {
    store_with(&catalog.settings, invocation)
}

/// Returns the store of the person, for a verb that does not load the catalog.
pub(super) fn store_of_settings(invocation: &Invocation) -> UserCredentials {
    let (settings, _) = Settings::load_from(&invocation.env, invocation.settings_files());
    store_with(&settings, invocation)
}

fn store_with(settings: &Settings, invocation: &Invocation) -> UserCredentials {
    UserCredentials::new(Arc::new(invocation.env.clone()), CredentialStorage::of(settings))
}

fn list(
    stored: &[CredentialSummary],
    catalog: &Catalog,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    if invocation.ui.json {
        let credentials = stored.iter().map(|one| CredentialJson::of(one, catalog)).collect();
        print_json(&CredentialListJson { credentials })?;
        return Ok(Exit::Success);
    }
    if stored.is_empty() {
        invocation.ui.notice("No credentials are stored (`wharf login NAME`).");
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&[
        Column::text("SERVERS"),
        Column::text("ACCOUNT").droppable_at(1),
        Column::text("KIND"),
        Column::text("EXPIRES"),
        Column::text("STORE"),
        Column::text("FOR").shrinking_first_to(24).droppable_at(0),
    ]);
    let now = SystemTime::now();
    for one in stored {
        let servers: Vec<String> =
            servers_of(one, catalog).iter().map(|name| phrase::name(name)).collect();
        table.row(vec![
            Cell::painted(servers.join(", "), style::strong),
            Cell::plain(clean(one.account.as_deref().unwrap_or_default())),
            Cell::plain(kind(one)),
            Cell::plain(expiry(one, now)),
            Cell::plain(place(one)),
            Cell::painted(clean(&one.render_resource()), style::faint),
        ]);
    }
    invocation.ui.table(table)?;
    Ok(Exit::Success)
}

/// Says until when a credential is valid.
fn expiry(one: &CredentialSummary, now: SystemTime) -> String {
    match one.expires_at.map(moment) {
        _ if one.is_renewable => "renewed automatically".to_owned(),
        None => "not known".to_owned(),
        Some(at) if at <= now => "expired".to_owned(),
        Some(at) => time_ago::time_left(at, now),
    }
}

fn kind(one: &CredentialSummary) -> &'static str {
    if one.is_oauth { "oauth" } else { "bearer" }
}

fn place(one: &CredentialSummary) -> &'static str {
    if one.is_in_keychain { "keychain" } else { "file" }
}

impl CredentialJson {
    fn of(one: &CredentialSummary, catalog: &Catalog) -> Self {
        Self {
            id: one.id.clone(),
            resource: one.render_resource(),
            servers: servers_of(one, catalog),
            issuer: one.issuer.clone(),
            account: one.account.clone(),
            kind: kind(one),
            renewable: one.is_renewable,
            expires_at: one.expires_at.map(|at| rfc3339(moment(at))),
            scopes: one.scopes.clone(),
            store: place(one),
        }
    }
}

/// Returns the names of the servers that use a credential.
fn servers_of(one: &CredentialSummary, catalog: &Catalog) -> Vec<String> {
    let all = ServerCredentials::of(vec![one.clone()]);
    let used = catalog.winners().into_iter().filter(|server| all.find(server).is_some());
    used.map(|server| server.definition.name.as_str().to_owned()).collect()
}

/// Keeps the credentials of these servers; all without a name.
fn of_servers(
    stored: Vec<CredentialSummary>,
    names: &[String],
    catalog: &Catalog,
) -> Result<Vec<CredentialSummary>, Failure> {
    if let Some(unknown) = names.iter().find(|name| catalog.winner(name).is_none()) {
        return Err(Failure::not_found(unknown, catalog));
    }
    let is_wanted = |one: &CredentialSummary| {
        names.is_empty() || servers_of(one, catalog).iter().any(|name| names.contains(name))
    };
    Ok(stored.into_iter().filter(is_wanted).collect())
}

fn relocate(
    wanted: &[CredentialSummary],
    to: StoreArg,
    store: &UserCredentials,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let (target, place) = match to {
        StoreArg::Keychain => (CredentialStorage::Keychain, "the keychain"),
        StoreArg::File => (CredentialStorage::File, "the file"),
    };
    let mut moved = Vec::new();
    for one in wanted {
        if store.relocate(&one.id, target).map_err(Failure::CredentialStore)? {
            moved.push(one.id.clone());
        }
    }
    let number = phrase::count(moved.len(), "credential");
    let message = format!("Moved {number} into {place}");
    if invocation.ui.json {
        print_json(&CredentialMoveJson { ok: true, moved, message })?;
    } else {
        invocation.ui.sentences(&format!("{message}\n"))?;
    }
    Ok(Exit::Success)
}
