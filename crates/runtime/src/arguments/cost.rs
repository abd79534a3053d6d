//! How much work a schema can make, found out before any of it is done.
//!
//! A small schema can be written so that checking it doubles at every step, or never ends. The number
//! of steps is therefore counted first: for arguments of a given depth, every part of the schema is
//! counted once and remembered, so counting stays cheap where checking would not be.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// How many steps of checking are worth it.
const MOST_STEPS: u64 = 2_000_000;

/// How many steps one place in the arguments may take.
const MOST_STEPS_HERE: u64 = 20_000;

/// How deep schemas may lead into each other; each level is a call on the stack.
const DEEPEST: usize = 100;

/// How deep arguments may be to be counted.
const DEEPEST_ARGUMENTS: usize = 40;

/// The schemas inside a schema and how they lead to each other.
pub(super) struct Shape {
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    /// Schemas that look at the same place in the arguments.
    here: Vec<usize>,
    /// Schemas that look at a place one level deeper.
    below: Vec<usize>,
}

/// What the value of a keyword is.
#[derive(Clone, Copy)]
enum Step {
    /// A schema or a list of schemas for the same place.
    Here,
    /// A schema or a list of schemas for what is inside.
    Below,
    /// Schemas by name for the same place.
    NamedHere,
    /// Schemas by name for what is inside.
    NamedBelow,
    /// Schemas by name that count only where they are referred to.
    Definitions,
    /// No schema.
    Data,
}

fn step(keyword: &str) -> Step {
    match keyword {
        "properties" | "patternProperties" => Step::NamedBelow,
        "dependentSchemas" | "dependencies" => Step::NamedHere,
        "$defs" | "definitions" => Step::Definitions,
        "enum" | "const" | "default" | "examples" | "required" => Step::Data,
        "items"
        | "prefixItems"
        | "additionalItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Step::Below,
        // Also what nobody knows: too much is counted rather than too little.
        _ => Step::Here,
    }
}

impl Shape {
    /// Looks at a schema; fails for one that leads out of itself, never ends or doubles too often.
    pub(super) fn of(schema: &Value) -> Result<Self, &'static str> {
        let mut walk = Walk::default();
        let mut path = String::new();
        walk.enter(schema, &mut path, 0)?;
        walk.connect()?;
        let shape = Self { parts: walk.parts };
        let mut count = Count { shape: &shape, known: HashMap::new() };
        for part in 0..shape.parts.len() {
            if count.look(part, 0, 0)?.steps > MOST_STEPS_HERE {
                return Err("it has too many alternatives");
            }
        }
        Ok(shape)
    }

    /// Tells whether checking these arguments is worth it.
    pub(super) fn is_cheap_for(&self, arguments: &Value) -> bool {
        let (places, depth) = measure(arguments);
        if depth > DEEPEST_ARGUMENTS {
            return false;
        }
        let mut count = Count { shape: self, known: HashMap::new() };
        let all = count.look(0, depth, 0);
        all.is_ok_and(|all| all.steps.saturating_mul(places) <= MOST_STEPS)
    }
}

/// How many values there are, and how deep they are.
fn measure(value: &Value) -> (u64, usize) {
    let inner: Vec<(u64, usize)> = match value {
        Value::Array(items) => items.iter().map(measure).collect(),
        Value::Object(members) => members.values().map(measure).collect(),
        _ => return (1, 0),
    };
    let depth = inner.iter().map(|(_, depth)| depth + 1).max().unwrap_or(0);
    (1 + inner.iter().map(|(places, _)| places).sum::<u64>(), depth)
}

#[derive(Default)]
struct Walk {
    parts: Vec<Part>,
    by_path: HashMap<String, usize>,
    references: Vec<(usize, String)>,
    /// Draft 4 writes `id` for what is `$id` later.
    has_old_identities: bool,
}

impl Walk {
    /// Enters a schema and all in it; returns its number.
    fn enter(
        &mut self,
        schema: &Value,
        path: &mut String,
        depth: usize,
    ) -> Result<usize, &'static str> {
        if depth > DEEPEST {
            return Err("it is nested too deeply");
        }
        let number = self.parts.len();
        self.parts.push(Part::default());
        self.by_path.insert(path.clone(), number);
        let Value::Object(members) = schema else { return Ok(number) };
        self.note_references(members, number)?;
        for (keyword, value) in members {
            let step = step(keyword);
            let named = matches!(step, Step::NamedHere | Step::NamedBelow | Step::Definitions);
            match (step, value) {
                (Step::Data, _) => {}
                (_, Value::Object(schemas)) if named => {
                    for (name, schema) in schemas {
                        self.lead(number, step, (schema, &[keyword, name], path, depth))?;
                    }
                }
                (_, Value::Array(schemas)) => {
                    for (place, schema) in schemas.iter().enumerate() {
                        self.lead(
                            number,
                            step,
                            (schema, &[keyword, &place.to_string()], path, depth),
                        )?;
                    }
                }
                (_, Value::Object(_)) => {
                    self.lead(number, step, (value, &[keyword], path, depth))?;
                }
                _ => {}
            }
        }
        Ok(number)
    }

    fn lead(
        &mut self,
        from: usize,
        step: Step,
        (schema, names, path, depth): (&Value, &[&str], &mut String, usize),
    ) -> Result<(), &'static str> {
        let before = path.len();
        for name in names {
            path.push('/');
            path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        }
        let to = self.enter(schema, path, depth + 1)?;
        path.truncate(before);
        match step {
            Step::Here | Step::NamedHere => self.parts[from].here.push(to),
            Step::Below | Step::NamedBelow => self.parts[from].below.push(to),
            Step::Definitions | Step::Data => {}
        }
        Ok(())
    }

    fn note_references(
        &mut self,
        members: &Map<String, Value>,
        number: usize,
    ) -> Result<(), &'static str> {
        let text = |keyword: &str| members.get(keyword).and_then(Value::as_str);
        if text("$dynamicRef").is_some() || text("$recursiveRef").is_some() {
            return Err("it refers to itself in a way that is not followed");
        }
        // An identity inside changes what references mean; that of the whole does not matter here.
        self.has_old_identities |=
            number == 0 && text("$schema").is_some_and(|it| it.contains("draft-04"));
        let has_identity =
            text("$id").is_some() || (self.has_old_identities && text("id").is_some());
        if number > 0 && has_identity {
            return Err("a part of it has an identity of its own");
        }
        match text("$ref") {
            None => Ok(()),
            Some(to) if to == "#" || (to.starts_with("#/") && !to.contains('%')) => {
                self.references.push((number, to[1..].to_owned()));
                Ok(())
            }
            Some(_) => Err("it refers to something outside of itself"),
        }
    }

    fn connect(&mut self) -> Result<(), &'static str> {
        for (from, path) in std::mem::take(&mut self.references) {
            let to = self.by_path.get(&path).ok_or("it refers to something that is not there")?;
            self.parts[from].here.push(*to);
        }
        Ok(())
    }
}

struct Count<'a> {
    shape: &'a Shape,
    /// By part and depth; nothing while it is being counted.
    known: HashMap<(usize, usize), Option<Effort>>,
}

#[derive(Clone, Copy)]
struct Effort {
    steps: u64,
    /// How many schemas lead into each other.
    height: usize,
}

impl Count<'_> {
    /// Counts what one part costs for values of this depth.
    fn look(&mut self, part: usize, depth: usize, level: usize) -> Result<Effort, &'static str> {
        match self.known.get(&(part, depth)) {
            Some(None) => return Err("it refers to itself without end"),
            Some(Some(effort)) if level + effort.height <= DEEPEST => return Ok(*effort),
            None if level <= DEEPEST => {}
            _ => return Err("it is nested too deeply"),
        }
        self.known.insert((part, depth), None);
        let Part { here, below } = &self.shape.parts[part];
        let mut all = Effort { steps: 1, height: 0 };
        let below = depth.checked_sub(1).map(|depth| below.iter().map(move |next| (next, depth)));
        let here = here.iter().map(|next| (next, depth));
        for (next, depth) in here.chain(below.into_iter().flatten()) {
            let effort = self.look(*next, depth, level + 1)?;
            all.steps = all.steps.saturating_add(effort.steps);
            all.height = all.height.max(effort.height + 1);
        }
        self.known.insert((part, depth), Some(all));
        Ok(all)
    }
}
