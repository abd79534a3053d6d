//! The headers of one remote server, and their renewal after a 401.
//!
//! After a 401, the commands of the headers run again and the stored token is renewed, once per
//! request. After a 403, only a token that somebody else has stored meanwhile is used.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use wharf_protocol::transport::{
    AuthorizedRequest, Authorizer, BoxFuture, Challenge, ChallengeAction,
};

use super::command_cache::{CommandCache, CommandKey};
use super::headers;
use super::secret_texts::{Certainty, SecretTexts};
use super::token_source::{NextToken, TokenSource};

/// The headers of an entry, renewed where possible.
pub(super) struct ServerHeaders {
    /// The current headers.
    pub(super) current: Mutex<SentHeaders>,
    /// The headers whose values come from commands.
    pub(super) from_commands: Vec<(HeaderName, CommandKey)>,
    pub(super) commands: CommandCache,
    /// The source of the stored token, unless the entry sets `Authorization`.
    pub(super) token_source: Option<TokenSource>,
}

/// How many replaced values are kept to redact them: a server may still repeat the last ones. A
/// limit, because a token may be renewed every few minutes for weeks.
const MAX_EARLIER: usize = 8;

/// The headers that are sent to a server.
pub(super) struct SentHeaders {
    headers: HeaderMap,
    /// How often a header was replaced.
    generation: u64,
    /// Replaced values, the latest last.
    earlier: VecDeque<HeaderValue>,
    /// The secret texts in all of these, collected on first use.
    secrets: Option<Arc<SecretTexts>>,
}

impl ServerHeaders {
    /// Runs all commands again.
    async fn renew_commands(&self) {
        let renewals = self.from_commands.iter().map(|(name, key)| async move {
            let value = self.commands.renew(key).await.ok()?;
            Some((name.clone(), headers::value(&value).ok()?))
        });
        let renewed: Vec<_> = join_all(renewals).await.into_iter().flatten().collect();
        self.current().replace(renewed);
    }

    /// Renews the stored token.
    async fn renew_token(&self, challenge: &Challenge) -> ChallengeAction {
        let Some(source) = &self.token_source else { return ChallengeAction::GiveUp };
        let sent = self.current().headers.clone();
        match source.renew(challenge, &sent).await {
            Ok(action) => action,
            Err(value) => {
                if let Some(value) = value.filter(|_| is_first_401(challenge)) {
                    self.current().set(AUTHORIZATION, value);
                }
                ChallengeAction::GiveUp
            }
        }
    }

    /// Returns the secret texts in the headers.
    pub(super) fn secrets(&self) -> Arc<SecretTexts> {
        self.current().secrets()
    }

    fn current(&self) -> MutexGuard<'_, SentHeaders> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SentHeaders {
    pub(super) fn new(headers: HeaderMap) -> Self {
        Self { headers, generation: 0, earlier: VecDeque::new(), secrets: None }
    }

    fn set(&mut self, name: HeaderName, value: HeaderValue) {
        if self.headers.get(&name) == Some(&value) {
            return;
        }
        self.secrets = None;
        self.generation += 1;
        self.earlier.extend(self.headers.insert(name, value));
        // All headers may be renewed at once.
        if self.earlier.len() > MAX_EARLIER.max(self.headers.len()) {
            self.earlier.pop_front();
        }
    }

    /// Returns the headers of a request with its token.
    fn with_token(&mut self, next: NextToken) -> HeaderMap {
        let Some((authorization, proof)) = next else { return self.headers.clone() };
        match authorization {
            Some(value) => self.set(AUTHORIZATION, value),
            None => self.remove(&AUTHORIZATION),
        }
        let mut headers = self.headers.clone();
        headers.extend(proof);
        headers
    }

    fn remove(&mut self, name: &HeaderName) {
        if let Some(value) = self.headers.remove(name) {
            self.generation += 1;
            self.earlier.push_back(value);
            self.secrets = None;
        }
    }

    /// Sets headers; extending the map would keep the old values, too.
    fn replace(&mut self, with: Vec<(HeaderName, HeaderValue)>) {
        for (name, value) in with {
            self.set(name, value);
        }
    }

    fn secrets(&mut self) -> Arc<SecretTexts> {
        let find = || {
            let mut texts = SecretTexts::default();
            let sent = self.headers.iter();
            let sent = sent.map(|(name, value)| (Certainty::by_name(name.as_str()), value));
            let earlier = self.earlier.iter().map(|value| (Certainty::Certain, value));
            for (certainty, value) in sent.chain(earlier) {
                // A value that is not UTF-8 is sent, too, and may be repeated.
                texts.value(&String::from_utf8_lossy(value.as_bytes()), certainty);
            }
            Arc::new(texts)
        };
        Arc::clone(self.secrets.get_or_insert_with(find))
    }
}

impl Authorizer for ServerHeaders {
    fn headers<'a>(&'a self, request: AuthorizedRequest<'a>) -> BoxFuture<'a, HeaderMap> {
        // Another server may have renewed a shared command.
        let known = self.from_commands.iter().filter_map(|(name, key)| {
            let value = headers::value(&self.commands.cached(key)?).ok()?;
            Some((name.clone(), value))
        });
        let known: Vec<_> = known.collect();
        self.current().replace(known);
        let Some(source) = &self.token_source else {
            return Box::pin(std::future::ready(self.secret_headers()));
        };
        Box::pin(async move {
            let next = source.next(request).await;
            self.current().with_token(next)
        })
    }

    fn secret_headers(&self) -> HeaderMap {
        self.current().headers.clone()
    }

    fn on_response(&self, headers: &HeaderMap) {
        if let Some(source) = &self.token_source {
            source.on_response(headers);
        }
    }

    fn generation(&self) -> u64 {
        self.current().generation
    }

    fn on_challenge(&self, challenge: Challenge) -> BoxFuture<'_, ChallengeAction> {
        Box::pin(async move {
            let is_first = is_first_401(&challenge);
            // A concurrent request may have renewed them since this one was sent.
            if is_first && self.generation() != challenge.generation {
                return ChallengeAction::Retry;
            }
            let action = self.renew_token(&challenge).await;
            if action != ChallengeAction::GiveUp || !is_first {
                return action;
            }
            self.renew_commands().await;
            let is_renewed = self.generation() != challenge.generation;
            if is_renewed { ChallengeAction::Retry } else { ChallengeAction::GiveUp }
        })
    }
}

fn is_first_401(challenge: &Challenge) -> bool {
    challenge.status == StatusCode::UNAUTHORIZED && challenge.previous_challenges == 0
}

/// Shows the names of the headers, never the values.
impl fmt::Debug for ServerHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.current().headers.keys()).finish()
    }
}
