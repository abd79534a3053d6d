//! Recognizes secrets by the name of their variable, header, flag or key.

/// A word that contains one of these is the name of a secret: `githubtoken`, `apikey`.
const PARTS: [&str; 6] = ["token", "secret", "passw", "credential", "apikey", "bearer"];

/// A word that equals one of these is the name of a secret; in longer words they mean other things.
const WORDS: [&str; 7] =
    ["pwd", "auth", "authorization", "cookie", "passphrase", "passcode", "jwt"];

/// A name that ends with one of these words is the name of a secret: `--key`, `OPENAI_KEY`,
/// `dbPass`; not `--key-file`, which is a path, and not `passEnv`.
const LAST_WORDS: [&str; 4] = ["key", "keys", "pass", "pat"];

/// Words about tokens of language models, which are not secrets.
const HARMLESS: [&str; 3] = ["tokens", "tokenizer", "tokenize"];

/// Tells whether a flag or key is the name of a secret: `--api-key`, `GITHUB_TOKEN`,
/// `clientSecret`.
pub fn names_a_secret(name: &str) -> bool {
    let mut last = "";
    for word in words(name) {
        let is = |known: &&str| word.eq_ignore_ascii_case(known);
        if WORDS.iter().any(is) {
            return true;
        }
        if PARTS.iter().any(|part| contains(word, part)) && !HARMLESS.iter().any(is) {
            return true;
        }
        last = word;
    }
    LAST_WORDS.iter().any(|known| last.eq_ignore_ascii_case(known))
}

/// Splits a name at characters that are not letters or digits, and before capitals.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.flat_map(|part| {
        let bytes = part.as_bytes();
        let is_start =
            move |at: usize| bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
        let mut from = 0;
        std::iter::from_fn(move || {
            if from >= part.len() {
                return None;
            }
            let to = (from + 1..part.len()).find(|at| is_start(*at)).unwrap_or(part.len());
            let word = &part[from..to];
            from = to;
            Some(word)
        })
    })
}

fn contains(word: &str, part: &str) -> bool {
    let part = part.as_bytes();
    word.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognized() {
        let secret = [
            "--token",
            "API_KEY",
            "clientSecret",
            "Authorization",
            "x-auth",
            "AUTH",
            "--key",
            "OPENAI_KEY",
            "--access_key",
            "accessKey",
            "--pass",
            "--pat",
            "GITHUBTOKEN",
            "Cookie",
            "--passphrase",
            "apikey",
            "X-Api-Key",
            "dbPassword",
            "--pwd",
        ];
        for name in secret {
            assert!(names_a_secret(name), "{name}");
        }
        let harmless = [
            "--author",
            "AUTHOR_NAME",
            "path",
            "",
            "--verbose",
            "--max-tokens",
            "keyboard",
            "--key-file",
            "compass",
            "--pattern",
            "日本",
        ];
        for name in harmless {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
