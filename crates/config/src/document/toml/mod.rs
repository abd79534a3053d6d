//! TOML, read by `toml_edit`; this folder gives its tables lines and guards its stack.

mod depth;
mod read;
#[cfg(test)]
mod tests;

pub(super) use read::parse;
