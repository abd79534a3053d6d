//! Determines what the last word of a command line is: a verb, a flag, or the value of an argument.
//!
//! It uses clap's definition of the command line, so a new verb or flag needs no change here.

use clap::{Arg, Command};

/// What the last word is.
#[derive(Debug)]
pub(super) enum Position<'a> {
    /// One of these verbs.
    Verb(&'a Command),
    /// A flag of this verb.
    Flag(&'a Command),
    /// The value of an argument.
    Value(ValuePosition<'a>),
    /// Nothing can follow, or the word belongs to another program's command line.
    Nothing,
}

/// An argument whose value is being typed.
#[derive(Debug)]
pub(super) struct ValuePosition<'a> {
    /// The verbs that lead to it, such as `config get`.
    pub(super) verb: String,
    /// The argument.
    pub(super) argument: &'a Arg,
    /// The typed part of the value.
    pub(super) typed: String,
    /// The text before the value in the same word, such as `--server=`.
    pub(super) before: String,
    /// The positional words of the verb before this one.
    pub(super) earlier: Vec<String>,
}

/// Determines what the last of these words is; the first one is the program itself.
pub(super) fn position<'a>(command: &'a Command, words: &[String]) -> Position<'a> {
    let Some((last, before)) = words.split_last().filter(|(_, before)| !before.is_empty()) else {
        return Position::Nothing;
    };
    let mut reader =
        PositionReader { command, verb: Vec::new(), earlier: Vec::new(), awaited: None };
    for word in &before[1..] {
        // The words after `--` are the command line of a server.
        if word == "--" && reader.awaited.is_none() {
            return Position::Nothing;
        }
        if !reader.read(word) {
            return Position::Nothing;
        }
    }
    reader.last(last)
}

struct PositionReader<'a> {
    command: &'a Command,
    verb: Vec<String>,
    earlier: Vec<String>,
    /// The flag whose value comes next.
    awaited: Option<&'a Arg>,
}

impl<'a> PositionReader<'a> {
    /// Reads a complete word; returns whether it is valid.
    fn read(&mut self, word: &str) -> bool {
        if let Some(flag) = self.awaited {
            let takes_more = flag.get_num_args().is_some_and(|range| range.max_values() > 1);
            if !(takes_more && word.starts_with('-')) {
                self.awaited = Some(flag).filter(|_| takes_more);
                return true;
            }
            self.awaited = None;
        }
        if let Some(name) = word.strip_prefix("--") {
            let (name, value) = name.split_once('=').map_or((name, None), |(a, b)| (a, Some(b)));
            self.awaited = self.flag(name).filter(|flag| value.is_none() && takes_value(flag));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let last = letters.chars().last();
            let flag = self.command.get_arguments().find(|it| it.get_short() == last);
            self.awaited = flag.filter(|flag| takes_value(flag));
        } else if self.command.has_subcommands() {
            let Some(command) = self.command.find_subcommand(word) else { return false };
            self.verb.push(command.get_name().to_owned());
            self.command = command;
        } else {
            self.earlier.push(word.to_owned());
        }
        true
    }

    fn last(self, word: &str) -> Position<'a> {
        if let Some(flag) = self.awaited {
            return self.value(flag, word, String::new());
        }
        if let Some((name, value)) = word.strip_prefix("--").and_then(|it| it.split_once('=')) {
            return match self.flag(name) {
                Some(flag) => self.value(flag, value, format!("--{name}=")),
                None => Position::Nothing,
            };
        }
        if word.starts_with('-') {
            return Position::Flag(self.command);
        }
        if self.command.has_subcommands() {
            return Position::Verb(self.command);
        }
        let positionals = self.command.get_positionals().filter(|it| !it.is_last_set());
        let positionals: Vec<&'a Arg> = positionals.collect();
        let is_many = |it: &&&Arg| it.get_num_args().is_some_and(|range| range.max_values() > 1);
        let argument = positionals.get(self.earlier.len());
        let argument = argument.or_else(|| positionals.last().filter(is_many));
        match argument {
            Some(argument) => self.value(argument, word, String::new()),
            None => Position::Nothing,
        }
    }

    fn value(self, argument: &'a Arg, typed: &str, before: String) -> Position<'a> {
        let (verb, earlier) = (self.verb.join(" "), self.earlier);
        Position::Value(ValuePosition { verb, argument, typed: typed.to_owned(), before, earlier })
    }

    fn flag(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|argument| argument.get_long() == Some(name))
    }
}

fn takes_value(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}
