//! Messages for JSON syntax errors. They never quote the text, which may contain secrets.

use jsonc_parser::ParseStringErrorKind;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::tokens::Token;

use super::read::ExpectedToken;

/// The message about the position before the token.
pub(super) const MISSING_COMMA: &str = "a comma is missing here";

const MISSING_QUOTES: &str =
    "a string must be in double quotes; only `true`, `false` and `null` are unquoted";

/// Returns the message for an error of the scanner; `rest` begins where it occurred.
pub(super) fn for_scanner_error(kind: &ParseErrorKind, rest: &str) -> &'static str {
    match kind {
        ParseErrorKind::UnexpectedToken if rest.starts_with(char::is_alphabetic) => MISSING_QUOTES,
        ParseErrorKind::String(kind) => for_string_error(kind),
        ParseErrorKind::SingleQuotedStringsNotAllowed => {
            "single quotes are not allowed; use double quotes"
        }
        ParseErrorKind::HexadecimalNumbersNotAllowed => "hexadecimal numbers are not allowed",
        ParseErrorKind::UnaryPlusNumbersNotAllowed => "a number must not begin with `+`",
        ParseErrorKind::BareDecimalPointNumbersNotAllowed => {
            "a number needs digits on both sides of the decimal point"
        }
        ParseErrorKind::NonFiniteNumbersNotAllowed => "`NaN` and `Infinity` are not allowed",
        ParseErrorKind::ExpectedDigit
        | ParseErrorKind::ExpectedDigitFollowingNegativeSign
        | ParseErrorKind::ExpectedPlusMinusOrDigitInNumberLiteral => {
            "a digit is missing in this number"
        }
        ParseErrorKind::UnterminatedCommentBlock => "the file ends inside this comment",
        _ => "this character is not allowed here",
    }
}

fn for_string_error(kind: &ParseStringErrorKind) -> &'static str {
    match kind {
        ParseStringErrorKind::UnterminatedStringLiteral => {
            "the closing quote of this string is missing"
        }
        ParseStringErrorKind::ExpectedFourHexDigits => "`\\u` needs four hexadecimal digits",
        ParseStringErrorKind::InvalidUnicodeEscapeSequence(_) => {
            "`\\u` is only half of a surrogate pair"
        }
        _ => "`\\` begins an unknown escape sequence",
    }
}

/// Returns the message for a token in the wrong position.
pub(super) fn for_misplaced_token(
    expected: ExpectedToken,
    container: ExpectedToken,
    token: &Token<'_>,
) -> &'static str {
    match (expected, token) {
        (ExpectedToken::Value | ExpectedToken::Item, Token::Word(_)) => MISSING_QUOTES,
        (ExpectedToken::Value, _) => "a value is missing here",
        (ExpectedToken::Item, _) => "a value or `]` is missing here",
        (ExpectedToken::Key, Token::Word(_)) => "a key must be in double quotes",
        (ExpectedToken::Key, _) => "a key in double quotes or `}` is missing here",
        (ExpectedToken::Colon, _) => "`:` is missing after the key",
        (ExpectedToken::Comma, token) if can_begin_item(token, container) => MISSING_COMMA,
        (ExpectedToken::Comma, _) if container == ExpectedToken::Key => {
            "`,` or `}` is missing here"
        }
        (ExpectedToken::Comma, _) => "`,` or `]` is missing here",
        (ExpectedToken::Nothing, _) => "unexpected text after the value",
    }
}

fn can_begin_item(token: &Token<'_>, container: ExpectedToken) -> bool {
    match token {
        Token::String(_) => true,
        Token::CloseBrace | Token::CloseBracket | Token::Colon | Token::Comma => false,
        _ => container == ExpectedToken::Item,
    }
}
