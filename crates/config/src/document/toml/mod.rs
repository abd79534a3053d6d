//! TOML, parsed by `toml_edit`; adds line numbers, and limits nesting to protect the stack.

mod depth;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::parse;
