//! Renders addresses from their parsed form, with user, password and query redacted.
//!
//! Placeholders are shown everywhere in an address, because a person decides about which variable
//! is sent where. For parsing, a word substitutes each placeholder, so that the parser tells which
//! part of the address it belongs to.

use std::fmt;

use url::{Position, Url};

use super::error::check_characters;
use super::parse::{ServerLocation, ServerUrl, encode_socket_path};
use super::secrets::{SecretParts, may_contain_address};
use super::written::{BRACES, redact_default, with_pieces};
use crate::expand::Piece;
use crate::secret::REDACTED;
use crate::server::WrittenText;

/// Addresses with more pieces are rendered without parsing.
const MAX_PIECES: usize = 64;

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location() {
            ServerLocation::Network(url) => {
                f.write_str(&render_redacted(url, self.explicit_port(), url.path(), &[]))
            }
            ServerLocation::Socket { path, request } => {
                let query = if request.query().is_some() { "?•••" } else { "" };
                write!(f, "unix://{}#{}{query}", encode_socket_path(path), request.path())
            }
            ServerLocation::Incomplete { redacted, .. } => f.write_str(redacted),
        }
    }
}

/// Renders the `url` of an entry: the parsed form, or as written if it has placeholders.
pub(crate) fn render_written(written: &WrittenText) -> String {
    with_pieces(written, |pieces| match pieces {
        [Piece::Text(text)] => match text.parse::<ServerUrl>() {
            Ok(url) => url.to_string(),
            Err(_) => redact_unparsed(text).to_owned(),
        },
        pieces => render_pieces(pieces),
    })
}

/// Redacts the secrets of an address in a text that is not the `url` of a server, such as an
/// argument or a line of a file. A text without secrets is returned unchanged.
pub fn redact_url(text: &str) -> String {
    let written = WrittenText { text: text.to_owned(), syntax: BRACES };
    with_pieces(&written, |pieces| match pieces {
        [] => String::new(),
        [Piece::Text(_)] => redact_literal(text),
        pieces if pieces.len() > MAX_PIECES => render_unparsed(pieces),
        pieces => {
            let (words, _) = substitutes(pieces);
            let plain = pieces.iter().zip(&words).map(|(piece, word)| match piece {
                Piece::Text(text) => text,
                Piece::Placeholder(..) => word.as_str(),
            });
            let plain: String = plain.collect();
            if redact_literal(&plain) == plain { text.to_owned() } else { render_pieces(pieces) }
        }
    })
}

/// Returns the parts of an address that may be secrets.
pub(super) fn secret_parts(text: &str) -> SecretParts {
    let Ok(url) = Url::parse(text.trim()) else { return SecretParts::unsplit(text) };
    // Such as `jdbc:mysql://…`, which contains another address.
    let inner =
        if url.cannot_be_a_base() { secret_parts(url.path()) } else { SecretParts::default() };
    let part = |own: Option<&str>, inner: String| own.map_or(inner, str::to_owned);
    SecretParts {
        user: part(Some(url.username()).filter(|it| !it.is_empty()), inner.user),
        password: part(url.password(), inner.password),
        query: part(url.query(), inner.query),
        fragment: part(url.fragment(), inner.fragment),
        whole: inner.whole,
    }
}

fn redact_literal(text: &str) -> String {
    let url = match Url::parse(text) {
        Ok(url) if check_characters(text).is_ok() => url,
        _ if may_contain_address(text) => return REDACTED.to_owned(),
        _ => return text.to_owned(),
    };
    if url.cannot_be_a_base() {
        // Such as `jdbc:mysql://…`, which contains another address.
        let inner = &url[Position::BeforePath..];
        let redacted = redact_literal(inner);
        return if redacted == inner {
            text.to_owned()
        } else {
            format!("{}:{redacted}", url.scheme())
        };
    }
    let has_secret_fragment = url.fragment().is_some_and(|it| it.contains(['=', '?']));
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || has_secret_fragment {
        render_redacted(&url, url.port(), url.path(), &[])
    } else {
        text.to_owned()
    }
}

/// Returns a text that the parser rejects, redacted if it may hold a secret.
fn redact_unparsed(text: &str) -> &str {
    if text.contains(['@', '?', '#', '=', '\\']) { REDACTED } else { text }
}

/// The word that substitutes a placeholder during parsing, the placeholder with its default
/// redacted, and the placeholder as written.
type Substitute<'a> = (String, String, &'a str);

/// Renders an address with placeholders.
fn render_pieces(pieces: &[Piece<'_>]) -> String {
    if pieces.len() > MAX_PIECES {
        return render_unparsed(pieces);
    }
    let (words, substitutes) = substitutes(pieces);
    let mut text = String::new();
    for (piece, word) in pieces.iter().zip(&words) {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Placeholder(..) => text.push_str(word),
        }
    }
    let text = text.trim();
    let (prefix, parsed) = match Url::parse(text) {
        // The first placeholder contains the scheme and the host.
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            ("https://", Url::parse(&format!("https://{text}")))
        }
        parsed => ("", parsed),
    };
    match parsed {
        Ok(url) if check_characters(text).is_ok() && !url.cannot_be_a_base() => {
            // The parser adds a slash that the text does not have.
            let slashes = if prefix.is_empty() { 2 } else { 0 };
            let is_bare = url.path() == "/" && text.matches('/').count() == slashes;
            let path = if is_bare { "" } else { url.path() };
            let redacted = render_redacted(&url, url.port(), path, &substitutes);
            redacted.strip_prefix(prefix).unwrap_or(&redacted).to_owned()
        }
        _ => render_unparsed(pieces),
    }
}

/// Renders an address with placeholders that cannot be parsed.
fn render_unparsed(pieces: &[Piece<'_>]) -> String {
    let show = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => redact_unparsed(text).to_owned(),
        Piece::Placeholder(whole, _) => (*whole).to_owned(),
    };
    pieces.iter().map(show).collect()
}

/// Makes a word for each placeholder that does not occur in the text; a port needs a number.
fn substitutes<'a>(pieces: &'a [Piece<'a>]) -> (Vec<String>, Vec<Substitute<'a>>) {
    let is_taken = |word: &str| {
        pieces.iter().any(|piece| match piece {
            Piece::Text(text) => text.to_ascii_lowercase().contains(word),
            Piece::Placeholder(..) => false,
        })
    };
    let mut base = "wharfplaceholder".to_owned();
    while is_taken(&base) {
        base.push('x');
    }
    let mut port = 60_000_u16;
    let (mut words, mut substitutes) = (Vec::new(), Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Placeholder(whole, placeholder) = piece else {
            words.push(String::new());
            continue;
        };
        let before = index.checked_sub(1).map(|before| &pieces[before]);
        let is_port = matches!(before, Some(Piece::Text(text)) if text.ends_with(':'));
        let word = if is_port {
            port += 1;
            while is_taken(&port.to_string()) && port < u16::MAX {
                port += 1;
            }
            port.to_string()
        } else {
            format!("{base}{index}x")
        };
        substitutes.push((word.clone(), redact_default(whole, placeholder), *whole));
        words.push(word);
    }
    (words, substitutes)
}

/// Joins the parts of a parsed address: secrets are redacted, and placeholders replace their
/// substitutes.
fn render_redacted(
    url: &Url,
    port: Option<u16>,
    path: &str,
    substitutes: &[Substitute<'_>],
) -> String {
    let open = |text: &str| {
        substitutes.iter().fold(text.to_owned(), |text, (word, _, whole)| text.replace(word, whole))
    };
    let secret = |text: &str| redact_around_placeholders(text, substitutes);
    let mut redacted = open(url.scheme());
    redacted.push(':');
    if url.has_authority() {
        redacted.push_str("//");
    }
    if !url.username().is_empty() || url.password().is_some() {
        let user = [url.username(), url.password().unwrap_or_default()].concat();
        redacted.push_str(&secret(&user));
        redacted.push('@');
    }
    redacted.push_str(&open(url.host_str().unwrap_or_default()));
    if let Some(port) = port {
        redacted.push(':');
        redacted.push_str(&open(&port.to_string()));
    }
    redacted.push_str(&open(path));
    if let Some(query) = url.query() {
        redacted.push('?');
        let has_any = substitutes.iter().any(|(word, ..)| query.contains(word));
        if has_any {
            let pairs = url.query_pairs();
            let pairs = pairs.map(|(name, value)| format!("{}={}", open(&name), secret(&value)));
            redacted.push_str(&pairs.collect::<Vec<_>>().join("&"));
        } else {
            redacted.push_str(REDACTED);
        }
    }
    // A fragment is not sent, but one with a value in it may be a token.
    if let Some(fragment) = url.fragment() {
        redacted.push('#');
        let is_secret = fragment.contains(['=', '?']);
        redacted.push_str(&if is_secret { secret(fragment) } else { open(fragment) });
    }
    redacted
}

/// Redacts everything except placeholders.
fn redact_around_placeholders(mut text: &str, substitutes: &[Substitute<'_>]) -> String {
    let mut redacted = String::new();
    loop {
        let places = substitutes
            .iter()
            .filter_map(|substitute| Some((text.find(&substitute.0)?, substitute)));
        let first = places.min_by_key(|(at, _)| *at);
        if !text.is_empty() && first.is_none_or(|(at, _)| at > 0) {
            redacted.push_str(REDACTED);
        }
        let Some((at, (word, placeholder, _))) = first else { return redacted };
        redacted.push_str(placeholder);
        text = &text[at + word.len()..];
    }
}
