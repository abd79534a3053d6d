//! The cost of checking arguments against a schema, computed before the check.
//!
//! A small schema can have exponential or endless cost. The steps of the check are therefore
//! counted first: every subschema is counted once per depth of the arguments and the count is
//! cached, so counting is cheap even if checking is not.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// How many steps a check may take.
const MAX_STEPS: u64 = 2_000_000;

/// How many steps one value in the arguments may take.
const MAX_STEPS_PER_VALUE: u64 = 20_000;

/// How deep schemas may be nested; each level is a call on the stack.
const DEEPEST: usize = 100;

/// The maximum depth of arguments that are checked.
const DEEPEST_ARGUMENTS: usize = 40;

/// The subschemas of a schema, as a graph.
pub(super) struct SchemaGraph {
    nodes: Vec<SchemaNode>,
}

#[derive(Default)]
struct SchemaNode {
    /// Schemas for the same value in the arguments.
    here: Vec<usize>,
    /// Schemas for values one level deeper.
    below: Vec<usize>,
}

/// What the value of a keyword contains.
#[derive(Clone, Copy)]
enum KeywordKind {
    /// A schema or a list of schemas for the same value.
    Here,
    /// A schema or a list of schemas for values inside.
    Below,
    /// Schemas by name for the same value.
    NamedHere,
    /// Schemas by name for values inside.
    NamedBelow,
    /// Schemas by name that count only where a reference leads to them.
    Definitions,
    /// No schema.
    Data,
}

fn kind(keyword: &str) -> KeywordKind {
    match keyword {
        "properties" | "patternProperties" => KeywordKind::NamedBelow,
        "dependentSchemas" | "dependencies" => KeywordKind::NamedHere,
        "$defs" | "definitions" => KeywordKind::Definitions,
        "enum" | "const" | "default" | "examples" | "required" => KeywordKind::Data,
        "items"
        | "prefixItems"
        | "additionalItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => KeywordKind::Below,
        // Also unknown keywords: it is safer to count too much.
        _ => KeywordKind::Here,
    }
}

impl SchemaGraph {
    /// Reads a schema; fails for references out of it, endless recursion and too high a cost.
    pub(super) fn of(schema: &Value) -> Result<Self, &'static str> {
        let mut builder = GraphBuilder::default();
        builder.enter(schema)?;
        builder.connect_references()?;
        let graph = Self { nodes: builder.nodes };
        let mut counter = CostCounter { graph: &graph, known: HashMap::new() };
        for node in 0..graph.nodes.len() {
            if counter.cost_of(node, 0, 0)?.steps > MAX_STEPS_PER_VALUE {
                return Err("it has too many alternatives");
            }
        }
        Ok(graph)
    }

    /// Tells whether the cost of checking these arguments is within the limit.
    pub(super) fn is_cheap_for(&self, arguments: &Value) -> bool {
        let (places, depth) = measure(arguments);
        if depth > DEEPEST_ARGUMENTS {
            return false;
        }
        let mut counter = CostCounter { graph: self, known: HashMap::new() };
        let all = counter.cost_of(0, depth, 0);
        all.is_ok_and(|all| all.steps.saturating_mul(places) <= MAX_STEPS)
    }
}

/// Returns the number of values and their depth.
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
struct GraphBuilder {
    nodes: Vec<SchemaNode>,
    by_path: HashMap<String, usize>,
    references: Vec<(usize, String)>,
    /// Draft 4 uses `id` instead of `$id`.
    has_old_identities: bool,
    /// The JSON pointer of the schema that is being added, and how deeply it is nested.
    path: String,
    depth: usize,
}

impl GraphBuilder {
    /// Adds a schema and its subschemas; returns its number.
    fn enter(&mut self, schema: &Value) -> Result<usize, &'static str> {
        if self.depth > DEEPEST {
            return Err("it is nested too deeply");
        }
        let number = self.nodes.len();
        self.nodes.push(SchemaNode::default());
        self.by_path.insert(self.path.clone(), number);
        let Value::Object(members) = schema else { return Ok(number) };
        self.note_references(members, number)?;
        for (keyword, value) in members {
            let kind = kind(keyword);
            let named = matches!(
                kind,
                KeywordKind::NamedHere | KeywordKind::NamedBelow | KeywordKind::Definitions
            );
            match (kind, value) {
                (KeywordKind::Data, _) => {}
                (_, Value::Object(schemas)) if named => {
                    for (name, schema) in schemas {
                        self.connect_child(number, kind, schema, &[keyword, name])?;
                    }
                }
                (_, Value::Array(schemas)) => {
                    for (place, schema) in schemas.iter().enumerate() {
                        self.connect_child(number, kind, schema, &[keyword, &place.to_string()])?;
                    }
                }
                (_, Value::Object(_)) => {
                    self.connect_child(number, kind, value, &[keyword])?;
                }
                _ => {}
            }
        }
        Ok(number)
    }

    fn connect_child(
        &mut self,
        from: usize,
        kind: KeywordKind,
        schema: &Value,
        names: &[&str],
    ) -> Result<(), &'static str> {
        let before = self.path.len();
        for name in names {
            self.path.push('/');
            self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        }
        self.depth += 1;
        let to = self.enter(schema)?;
        self.depth -= 1;
        self.path.truncate(before);
        match kind {
            KeywordKind::Here | KeywordKind::NamedHere => self.nodes[from].here.push(to),
            KeywordKind::Below | KeywordKind::NamedBelow => self.nodes[from].below.push(to),
            KeywordKind::Definitions | KeywordKind::Data => {}
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
        // An `$id` in a subschema changes what references mean; that of the root does not matter.
        self.has_old_identities |=
            number == 0 && text("$schema").is_some_and(|it| it.contains("draft-04"));
        let has_identity =
            text("$id").is_some() || (self.has_old_identities && text("id").is_some());
        if number > 0 && has_identity {
            return Err("a subschema has its own `$id`");
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

    fn connect_references(&mut self) -> Result<(), &'static str> {
        for (from, path) in std::mem::take(&mut self.references) {
            let to = self.by_path.get(&path).ok_or("it refers to something that is not there")?;
            self.nodes[from].here.push(*to);
        }
        Ok(())
    }
}

struct CostCounter<'a> {
    graph: &'a SchemaGraph,
    /// The cost by subschema and depth; `None` while it is being counted.
    known: HashMap<(usize, usize), Option<Cost>>,
}

#[derive(Clone, Copy)]
struct Cost {
    steps: u64,
    /// The depth of nested schemas.
    height: usize,
}

impl CostCounter<'_> {
    /// Returns the cost of one subschema for values of this depth.
    fn cost_of(&mut self, node: usize, depth: usize, level: usize) -> Result<Cost, &'static str> {
        match self.known.get(&(node, depth)) {
            Some(None) => return Err("it refers to itself without end"),
            Some(Some(cost)) if level + cost.height <= DEEPEST => return Ok(*cost),
            None if level <= DEEPEST => {}
            _ => return Err("it is nested too deeply"),
        }
        self.known.insert((node, depth), None);
        let SchemaNode { here, below } = &self.graph.nodes[node];
        let mut all = Cost { steps: 1, height: 0 };
        let below = depth.checked_sub(1).map(|depth| below.iter().map(move |next| (next, depth)));
        let here = here.iter().map(|next| (next, depth));
        for (next, depth) in here.chain(below.into_iter().flatten()) {
            let cost = self.cost_of(*next, depth, level + 1)?;
            all.steps = all.steps.saturating_add(cost.steps);
            all.height = all.height.max(cost.height + 1);
        }
        self.known.insert((node, depth), Some(all));
        Ok(all)
    }
}
