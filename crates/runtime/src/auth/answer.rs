//! Checks the answer of the page: from the callback, or pasted by the person.
//!
//! An answer belongs to this sign-in only with its state, and comes from the issuer only with its
//! `iss` (RFC 9207). Both are compared before a code or an error in it counts.

use url::Url;
use wharf_config::Secret;

use super::error::{AnswerFlaw, SignInError};
use super::token::refused;

/// How many characters a code may have.
const MAX_CODE: usize = 8 << 10;

/// What an answer must have.
#[derive(Clone)]
pub(super) struct ExpectedAnswer {
    pub(super) state: String,
    /// The issuer; none if it has no metadata, so that its name is not known.
    pub(super) issuer: Option<String>,
    /// Whether the issuer announced to name itself.
    pub(super) names_issuer: bool,
}

/// The parameters of an answer.
#[derive(Default)]
struct Parameters {
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

/// What a pasted line is.
pub(super) enum Pasted {
    /// The code, checked as far as possible.
    Code(Secret),
    /// Not an answer; the person can paste again.
    Unusable(&'static str),
    /// The answer says that the sign-in failed.
    Failed(SignInError),
}

impl ExpectedAnswer {
    /// Returns the code of an answer in the query of an address.
    pub(super) fn code(&self, query: &str) -> Result<Secret, SignInError> {
        let answer = Parameters::read(query);
        if answer.state.as_deref() != Some(&self.state) {
            return Err(SignInError::RejectedAnswer(AnswerFlaw::State));
        }
        match answer.issuer {
            Some(issuer) if self.issuer.as_ref().is_some_and(|own| *own != issuer) => {
                return Err(SignInError::RejectedAnswer(AnswerFlaw::Issuer));
            }
            None if self.names_issuer => {
                return Err(SignInError::RejectedAnswer(AnswerFlaw::NoIssuer));
            }
            _ => {}
        }
        if let Some(error) = answer.error {
            return Err(SignInError::Refused(refused(&error, answer.description.as_deref())));
        }
        let code = answer.code.filter(|code| !code.is_empty() && code.len() <= MAX_CODE);
        code.map(Secret::new).ok_or(SignInError::RejectedAnswer(AnswerFlaw::NoCode))
    }

    /// Reads a line that the person pasted: the address of the last page, or the code alone.
    pub(super) fn pasted(&self, line: &str) -> Pasted {
        let line = line.trim();
        if line.is_empty() || line.len() > 4 * MAX_CODE {
            return Pasted::Unusable("paste the whole address of the last page");
        }
        if let Ok(url) = Url::parse(line)
            && matches!(url.scheme(), "http" | "https")
        {
            return match self.code(url.query().unwrap_or_default()) {
                Ok(code) => Pasted::Code(code),
                Err(SignInError::RejectedAnswer(AnswerFlaw::State)) => {
                    Pasted::Unusable("this address does not belong to this sign-in")
                }
                Err(SignInError::RejectedAnswer(AnswerFlaw::NoCode)) => {
                    Pasted::Unusable("this address has no code")
                }
                Err(error) => Pasted::Failed(error),
            };
        }
        // Some pages show the code and the state in one text.
        let (code, state) =
            line.split_once('#').map_or((line, None), |(it, state)| (it, Some(state)));
        if state.is_some_and(|state| state != self.state) {
            return Pasted::Unusable("this code does not belong to this sign-in");
        }
        if self.names_issuer {
            // The code alone does not say where it comes from.
            return Pasted::Unusable("paste the whole address of the last page");
        }
        if code.contains(char::is_whitespace) || !code.is_ascii() {
            return Pasted::Unusable("this is neither an address nor a code");
        }
        Pasted::Code(Secret::new(code))
    }
}

impl Parameters {
    /// Reads a query; the first value of each name counts.
    fn read(query: &str) -> Self {
        let mut read = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let field = match &*name {
                "code" => &mut read.code,
                "state" => &mut read.state,
                "iss" => &mut read.issuer,
                "error" => &mut read.error,
                "error_description" => &mut read.description,
                _ => continue,
            };
            field.get_or_insert_with(|| value.into_owned());
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(names_issuer: bool) -> ExpectedAnswer {
        let issuer = Some("https://as.example".to_owned());
        ExpectedAnswer { state: "s".to_owned(), issuer, names_issuer }
    }

    fn check(query: &str, names_issuer: bool, outcome: &str) {
        let code = expected(names_issuer).code(query);
        let found = code.map_or_else(|error| error.to_string(), |code| code.expose().to_owned());
        assert_eq!(found, outcome, "{query}");
    }

    #[test]
    fn an_answer_needs_the_state_and_the_issuer_of_the_sign_in() {
        let other = "the answer of the page was rejected: it belongs to another sign-in";
        let issuer = "the answer of the page was rejected: it comes from another issuer";
        let nobody = "the answer of the page was rejected: it does not name its issuer";
        check("code=c&state=s", false, "c");
        check("code=c&state=s&iss=https%3A%2F%2Fas.example", true, "c");
        check("code=c&state=s&iss=https%3A%2F%2Fas.example", false, "c");
        check("code=c&state=t", false, other);
        check("code=c", false, other);
        check("", false, other);
        check("code=c&state=s", true, nobody);
        check("code=c&state=s&iss=https%3A%2F%2Fas.example%2F", true, issuer);
        check("code=c&state=s&iss=https%3A%2F%2Fevil.example", false, issuer);
    }

    #[test]
    fn an_error_counts_only_in_an_answer_to_this_sign_in() {
        check("error=access_denied&error_description=No&state=s", false, "No (access_denied)");
        let nobody = "the answer of the page was rejected: it does not name its issuer";
        check("error=access_denied&state=s", true, nobody);
        check("state=s", false, "the answer of the page was rejected: it has no code");
    }

    #[test]
    fn the_person_can_paste_an_address_or_a_code() {
        let check = |line: &str, names_issuer: bool, outcome: &str| {
            let found = match expected(names_issuer).pasted(line) {
                Pasted::Code(code) => code.expose().to_owned(),
                Pasted::Unusable(reason) => format!("again: {reason}"),
                Pasted::Failed(error) => format!("failed: {error}"),
            };
            assert_eq!(found, outcome, "{line}");
        };
        check(" http://127.0.0.1:1/callback?code=c&state=s \n", false, "c");
        check("https://page.example/done?state=s&code=c", false, "c");
        check("c", false, "c");
        check("c#s", false, "c");
        check("c#t", false, "again: this code does not belong to this sign-in");
        check("c", true, "again: paste the whole address of the last page");
        check(
            "http://x.example/?code=c&state=t",
            false,
            "again: this address does not belong to this sign-in",
        );
        check("http://x.example/?error=access_denied&state=s", false, "failed: access_denied");
        check("", false, "again: paste the whole address of the last page");
        check("two words", false, "again: this is neither an address nor a code");
    }
}
