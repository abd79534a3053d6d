//! The layout of a TOML file: sections with their headers, and the entries in them.
//!
//! One table may be spread over headers, dotted keys and inline tables. Editing needs the positions
//! of these parts, not the resulting table.

use toml_edit::{Document, Item, Key, Table, Value};

use super::source_text;

/// The sections and entries of a file in the order of the text.
pub(super) struct TomlLayout<'d> {
    /// The first one is the text before all headers.
    pub(super) sections: Vec<TomlSection>,
    pub(super) entries: Vec<TomlEntry<'d>>,
}

/// A header and the lines after it.
pub(super) struct TomlSection {
    pub(super) path: Vec<String>,
    /// The start of the line of the header.
    pub(super) start: usize,
    /// The end of its last line that is not blank or a comment.
    pub(super) end: usize,
    pub(super) kind: SectionKind,
}

/// What a header opens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    /// `[a]`, or the text before all headers.
    Table,
    /// `[[a]]`, an element of a list of tables.
    Element,
    /// `[a.b]` where `a` is a list of tables, so that the path is ambiguous.
    BelowElement,
}

/// A key, possibly dotted, with its value.
pub(super) struct TomlEntry<'d> {
    /// The keys from the root.
    pub(super) path: Vec<String>,
    /// The index of its section.
    pub(super) section: usize,
    /// The start of its line.
    pub(super) start: usize,
    /// The end of its last line.
    pub(super) end: usize,
    pub(super) value: &'d Value,
}

impl<'d> TomlLayout<'d> {
    pub(super) fn of(document: &'d Document<&str>) -> Self {
        let text = document.raw();
        let mut tables = vec![(Vec::new(), document.as_table(), SectionKind::Table)];
        collect(document.as_table(), &[], SectionKind::Table, &mut tables);
        tables[1..].sort_by_key(|(_, table, _)| table.span().map_or(0, |span| span.start));
        let mut layout = Self { sections: Vec::new(), entries: Vec::new() };
        for (number, (path, table, kind)) in tables.into_iter().enumerate() {
            let mut entries: Vec<_> = table
                .get_values()
                .into_iter()
                .filter_map(|(keys, value)| entry(text, number, &path, &keys, value))
                .collect();
            // The parser groups dotted keys with the same prefix, so restore the order of the text.
            entries.sort_by_key(|entry| entry.start);
            let header = table.span().unwrap_or_default();
            let end = if number == 0 { 0 } else { source_text::line_end(text, header.end) };
            layout.sections.push(TomlSection {
                start: source_text::line_start(text, header.start),
                end: entries.last().map_or(end, |entry| entry.end),
                path,
                kind,
            });
            layout.entries.extend(entries);
        }
        layout
    }

    /// Iterates over the entries with an unambiguous path.
    pub(super) fn entries_by_path(&self) -> impl DoubleEndedIterator<Item = &TomlEntry<'d>> {
        self.entries.iter().filter(|entry| self.sections[entry.section].kind == SectionKind::Table)
    }

    /// Returns the dotted entries for a table that are outside of its own sections.
    pub(super) fn dotted_below(&self, path: &[String]) -> Vec<&TomlEntry<'d>> {
        self.entries_by_path()
            .filter(|entry| {
                entry.path.starts_with(path) && !self.sections[entry.section].path.starts_with(path)
            })
            .collect()
    }

    /// Returns the sections of a table and of the tables in it.
    pub(super) fn sections_below(&self, path: &[String]) -> Vec<&TomlSection> {
        self.sections[1..].iter().filter(|section| section.path.starts_with(path)).collect()
    }

    /// Returns the list of tables through which a path leads.
    pub(super) fn element_above(&self, path: &[String]) -> Option<&TomlSection> {
        self.sections.iter().find(|section| {
            section.kind == SectionKind::Element
                && section.path.len() < path.len()
                && path.starts_with(&section.path)
        })
    }

    /// Returns the index of the innermost section through which a path leads.
    pub(super) fn section_above(&self, path: &[String]) -> usize {
        let above = self.sections.iter().enumerate().filter(|(_, section)| {
            section.kind == SectionKind::Table && path.starts_with(&section.path)
        });
        above.max_by_key(|(_, section)| section.path.len()).map_or(0, |(number, _)| number)
    }

    /// Returns the last dotted entry with the longest common prefix with a path, and the length of
    /// the prefix. Its table can be extended only with dotted keys.
    pub(super) fn dotted_beside(&self, path: &[String]) -> Option<(&TomlEntry<'d>, usize)> {
        self.entries_by_path()
            .map(|entry| (entry, common_prefix_length(&entry.path, path)))
            .filter(|(entry, shared)| *shared > self.sections[entry.section].path.len())
            .max_by_key(|(_, shared)| *shared)
    }
}

/// Returns the length of the common prefix of two paths.
pub(super) fn common_prefix_length(one: &[String], other: &[String]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn collect<'d>(
    table: &'d Table,
    path: &[String],
    kind: SectionKind,
    found: &mut Vec<(Vec<String>, &'d Table, SectionKind)>,
) {
    for (key, item) in table {
        let path = [path, &[key.to_owned()]].concat();
        match item {
            Item::Table(table) => {
                if !table.is_implicit() {
                    found.push((path.clone(), table, kind));
                }
                collect(table, &path, kind, found);
            }
            Item::ArrayOfTables(tables) => {
                let own = if kind == SectionKind::Table {
                    SectionKind::Element
                } else {
                    SectionKind::BelowElement
                };
                for table in tables {
                    found.push((path.clone(), table, own));
                    collect(table, &path, SectionKind::BelowElement, found);
                }
            }
            Item::None | Item::Value(_) => {}
        }
    }
}

fn entry<'d>(
    text: &str,
    section: usize,
    path: &[String],
    keys: &[&Key],
    value: &'d Value,
) -> Option<TomlEntry<'d>> {
    let own = keys.iter().map(|key| key.get().to_owned());
    Some(TomlEntry {
        path: path.iter().cloned().chain(own).collect(),
        section,
        start: source_text::line_start(text, keys.last()?.span()?.start),
        end: source_text::line_end(text, value.span()?.end),
        value,
    })
}
