//! Tables that fit the width of the terminal.
//!
//! A table that is too wide is narrowed in three steps: columns with `shrinking_first_to`
//! shrink first, then columns with `droppable_at` are dropped by rank, then the widest
//! columns shrink. Without a terminal nothing is cut; only the padding is limited, so
//! that one long value does not widen every row.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style;

/// The space between columns.
const GAP: &str = "  ";

/// The minimum width of a column.
const MIN_WIDTH: usize = 8;

/// The width below which a column is hardly readable, so that other columns are dropped first.
const READABLE_WIDTH: usize = 12;

/// The maximum padding of cells where nothing is cut.
const MAX_PADDING: usize = 60;

/// A header and rows.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// A header, and how the column is narrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    header: &'static str,
    cut_mode: CutMode,
    shrinks_first_to: Option<usize>,
    /// The rank by which it is dropped, the lowest first; `None` if it is never dropped.
    drop_rank: Option<u8>,
}

/// Which part of a cell is kept when it is cut.
#[derive(Debug, Clone, Copy)]
enum CutMode {
    Beginning,
    End,
    /// The part from the last `·` to the end.
    LastPart,
    /// The file name of the program of a command line, then its arguments.
    Program,
}

/// A function that colours a text.
pub(crate) type Paint = fn(&str) -> String;

/// A text that is safe to print, and its colour.
#[derive(Debug)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// Creates a cell without a colour.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: str::to_owned }
    }

    /// Creates a cell with a colour.
    pub(crate) fn painted(text: impl Into<String>, paint: Paint) -> Self {
        Self { text: text.into(), paint }
    }
}

impl Column {
    /// Creates a column of texts that are cut at the end.
    pub(crate) const fn text(header: &'static str) -> Self {
        Self { header, cut_mode: CutMode::Beginning, shrinks_first_to: None, drop_rank: None }
    }

    /// Creates a column of paths, which are cut at the beginning.
    pub(crate) const fn path(header: &'static str) -> Self {
        Self { cut_mode: CutMode::End, ..Self::text(header) }
    }

    /// Creates a column of texts such as `Cursor · project`, which keep their last part.
    pub(crate) const fn parts(header: &'static str) -> Self {
        Self { cut_mode: CutMode::LastPart, ..Self::text(header) }
    }

    /// Lets the column shrink to a width before the other columns do.
    pub(crate) const fn shrinking_first_to(self, width: usize) -> Self {
        Self { shrinks_first_to: Some(width), ..self }
    }

    /// Creates a column of command lines and URLs, which lose the folders of the program first.
    pub(crate) const fn command(header: &'static str) -> Self {
        Self { cut_mode: CutMode::Program, ..Self::text(header) }
    }

    /// Lets the column be dropped before other columns become unreadable, the lowest rank first.
    pub(crate) const fn droppable_at(self, rank: u8) -> Self {
        Self { drop_rank: Some(rank), ..self }
    }

    fn cut(self, text: &str, width: usize) -> Cow<'_, str> {
        if columns(text) <= width {
            return text.into();
        }
        let room = width.saturating_sub(1);
        let beginning = |room| format!("{}…", take(text.chars(), room));
        match self.cut_mode {
            CutMode::Beginning => beginning(room).into(),
            CutMode::End => {
                let end: String = take(text.chars().rev(), room).chars().rev().collect();
                format!("…{end}").into()
            }
            CutMode::Program => {
                let short = without_folders(text, width);
                if columns(&short) <= width {
                    return short.into();
                }
                format!("{}…", take(short.chars(), room)).into()
            }
            CutMode::LastPart => {
                let last = text.rfind(" · ").map_or("", |at| &text[at..]);
                match room.checked_sub(columns(last)) {
                    Some(room) if room > 0 => format!("{}{last}", beginning(room)).into(),
                    _ => beginning(room).into(),
                }
            }
        }
    }
}

/// Removes as much of the program's folders from a command line as needed to fit.
fn without_folders(text: &str, width: usize) -> String {
    let end = text.find(' ').unwrap_or(text.len());
    let (program, arguments) = text.split_at(end);
    let is_address = program.contains("://");
    let Some(name) = program.rfind(['/', '\\']).filter(|at| !is_address && *at > 0) else {
        return text.to_owned();
    };
    // The folders are cut from the left; the separator before the name always stays.
    let (folders, name) = program.split_at(name);
    let room = width.saturating_sub(columns(name) + columns(arguments) + 1);
    let kept: String = take(folders.chars().rev(), room).chars().rev().collect();
    format!("…{kept}{name}{arguments}")
}

/// Cuts a text to a width.
pub(super) fn fit(text: &str, width: usize) -> Cow<'_, str> {
    Column::text("").cut(text, width)
}

/// Returns the width of a text on a terminal.
fn columns(text: &str) -> usize {
    // Fast path: nearly all texts are ASCII, and the Unicode width tables are large.
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Takes as many characters as fit into a width.
fn take(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect()
}

/// The computed layout of a table.
struct Layout {
    widths: Vec<usize>,
    cuts: bool,
    colours: Colours,
}

/// Whether colours are written; not writing them is cheaper than removing them later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Wanted,
    Unwanted,
}

impl Table {
    /// Creates an empty table.
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with one cell per column.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Renders the table for a width, or without a limit. Empty columns are dropped.
    pub(crate) fn render(mut self, width: Option<usize>, colours: Colours) -> String {
        self.drop_empty_columns();
        let layout = Layout { widths: self.fit(width), cuts: width.is_some(), colours };
        let mut text = String::new();
        let header = self.columns.iter().map(|column| (column.header, style::faint as Paint));
        self.line(&mut text, header, &layout);
        for row in &self.rows {
            let cells = row.iter().map(|cell| (cell.text.as_str(), cell.paint));
            self.line(&mut text, cells, &layout);
        }
        text
    }

    fn drop_empty_columns(&mut self) {
        for index in (0..self.columns.len()).rev() {
            if !self.rows.is_empty() && self.rows.iter().all(|row| row[index].text.is_empty()) {
                self.drop_column(index);
            }
        }
    }

    fn drop_column(&mut self, index: usize) {
        self.columns.remove(index);
        for row in &mut self.rows {
            row.remove(index);
        }
    }

    fn line<'a>(
        &self,
        text: &mut String,
        cells: impl Iterator<Item = (&'a str, Paint)>,
        layout: &Layout,
    ) {
        let last = self.columns.len().saturating_sub(1);
        for (index, (cell, paint)) in cells.enumerate() {
            let width = layout.widths[index];
            let rendered = if layout.cuts {
                self.columns[index].cut(cell, width)
            } else {
                Cow::Borrowed(cell)
            };
            match layout.colours {
                Colours::Wanted => text.push_str(&paint(&rendered)),
                Colours::Unwanted => text.push_str(&rendered),
            }
            if index < last {
                let pad = width.saturating_sub(columns(&rendered));
                text.extend(std::iter::repeat_n(' ', pad));
                text.push_str(GAP);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }

    /// Computes the width of each column.
    fn fit(&mut self, limit: Option<usize>) -> Vec<usize> {
        let mut widths = self.natural_widths();
        let Some(limit) = limit else {
            return widths.into_iter().map(|width| width.min(MAX_PADDING)).collect();
        };
        for width in &mut widths {
            *width = (*width).min(limit);
        }
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(limit);
        for (column, width) in self.columns.iter().zip(&mut widths) {
            let removed =
                column.shrinks_first_to.map_or(0, |floor| width.saturating_sub(floor)).min(over);
            *width -= removed;
            over -= removed;
        }
        let yields = |index: usize| self.columns[index].shrinks_first_to.is_some();
        over = narrow(&mut widths, over, READABLE_WIDTH, yields);
        if over > 0 {
            let droppable = self.columns.iter().enumerate();
            let droppable =
                droppable.filter_map(|(index, column)| Some((column.drop_rank?, index)));
            if let Some((_, index)) = droppable.min_by_key(|(rank, _)| *rank) {
                self.drop_column(index);
                return self.fit(Some(limit));
            }
            narrow(&mut widths, over, MIN_WIDTH, |_| true);
        }
        widths
    }

    fn natural_widths(&self) -> Vec<usize> {
        let natural = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let widest = cells.map(|cell| columns(&cell.text)).max().unwrap_or(0);
            widest.max(columns(column.header))
        };
        self.columns.iter().enumerate().map(natural).collect()
    }
}

/// Shrinks the widest of some columns until `over` columns are saved; returns what is still
/// missing.
fn narrow(
    widths: &mut [usize],
    mut over: usize,
    floor: usize,
    may_yield: impl Fn(usize) -> bool,
) -> usize {
    while over > 0 {
        let some = widths.iter_mut().enumerate().filter(|(index, _)| may_yield(*index));
        let widest = some.map(|(_, width)| width).max().filter(|width| **width > floor);
        let Some(widest) = widest else { break };
        *widest -= 1;
        over -= 1;
    }
    over
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: Option<usize>, expected: &str) {
        let mut table =
            Table::new(&[Column::text("NAME"), Column::text("WHAT"), Column::path("F")]);
        let rows = [
            ("fs", "npx -y @modelcontextprotocol/server-filesystem /tmp", "~/.cursor/mcp.json"),
            ("日本語", "uvx", "~/x"),
        ];
        for (name, what, file) in rows {
            table.row(vec![Cell::plain(name), Cell::plain(what), Cell::plain(file)]);
        }
        let text = anstream::adapter::strip_str(&table.render(width, Colours::Wanted)).to_string();
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_is_cut_without_a_terminal() {
        check(
            None,
            "\
NAME    WHAT                                                 F
fs      npx -y @modelcontextprotocol/server-filesystem /tmp  ~/.cursor/mcp.json
日本語  uvx                                                  ~/x
",
        );
    }

    #[test]
    fn on_a_terminal_the_widest_columns_shrink() {
        check(
            Some(50),
            "\
NAME    WHAT                    F
fs      npx -y @modelcontextp…  ~/.cursor/mcp.json
日本語  uvx                     ~/x
",
        );
        check(
            Some(30),
            "\
NAME    WHAT        F
fs      npx -y @m…  …/mcp.json
日本語  uvx         ~/x
",
        );
    }

    #[test]
    fn some_columns_shrink_before_the_others() {
        let columns = [
            Column::parts("SOURCE"),
            Column::text("WHAT").shrinking_first_to(16),
            Column::path("FILE").shrinking_first_to(14).droppable_at(0),
        ];
        let check = |width: usize, expected: &str| {
            let mut table = Table::new(&columns);
            let cells = ["Claude Code · project", "npx -y some-server", "~/.claude/mcp.json"];
            table.row(cells.map(Cell::plain).into());
            let text = table.render(Some(width), Colours::Unwanted);
            assert_eq!(text.lines().last(), Some(expected), "{width}");
        };
        check(61, "Claude Code · project  npx -y some-server  ~/.claude/mcp.json");
        check(59, "Claude Code · project  npx -y some-ser…  ~/.claude/mcp.json");
        check(55, "Claude Code · project  npx -y some-ser…  …aude/mcp.json");
        check(49, "Claude Code · project  npx -y some…  …de/mcp.json");
        check(48, "Claude Code · project  npx -y some-server");
        check(35, "Claude Code · project  npx -y some…");
        check(30, "Claud… · project  npx -y some…");
        check(20, "Claude C…  npx -y s…");
    }

    #[test]
    fn a_cut_command_line_keeps_the_program_name() {
        let check = |text: &str, width: usize, expected: &str| {
            assert_eq!(Column::command("").cut(text, width), expected, "{text} {width}");
        };
        let line = "/opt/homebrew/lib/node/bin/mcp-server --flag";
        check(line, 44, line);
        check(line, 30, "…ib/node/bin/mcp-server --flag");
        check(line, 20, "…n/mcp-server --flag");
        check(line, 19, "…/mcp-server --flag");
        check(line, 16, "…/mcp-server --…");
        check(line, 8, "…/mcp-s…");
        check("npx -y @modelcontextprotocol/server", 12, "npx -y @mod…");
        check("https://a.example/very/long/path", 20, "https://a.example/v…");
        check(r"C:\Programs\node.exe x.js", 15, r"…\node.exe x.js");
        check("/server", 4, "/se…");
    }

    #[test]
    fn droppable_columns_are_dropped_by_rank() {
        let columns = [
            Column::text("A"),
            Column::text("B").droppable_at(0),
            Column::text("C").droppable_at(1),
        ];
        for (width, expected) in [(31, "1 1 1"), (30, "1 1"), (20, "1 1"), (19, "1")] {
            let mut table = Table::new(&columns);
            table.row(vec![
                Cell::plain("111111111"),
                Cell::plain("111111111"),
                Cell::plain("111111111"),
            ]);
            let text = table.render(Some(width), Colours::Unwanted).replace("111111111", "1");
            assert_eq!(
                text.lines().last().map(|it| it.replace("  ", " ")).as_deref(),
                Some(expected),
                "{width}"
            );
        }
    }
}
