//! Lists of tools as text, every tool as it came: what the cache and the pins keep on disk.

use bytestring::ByteString;
use wharf_protocol::Json;
use wharf_protocol::view::{Page, Tool};

/// Writes a list as the member that [`read`] looks for, without what is around it.
pub(super) fn write<'a>(tools: impl IntoIterator<Item = &'a Tool>, out: &mut String) {
    out.push_str("\"tools\":[");
    for (index, tool) in tools.into_iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        write_tool(tool, out);
    }
    out.push(']');
}

/// Reads an object with a list; nothing if anything in the list is not as it was written.
pub(super) fn read(text: ByteString) -> Option<(Json, Vec<Tool>)> {
    let whole = Json::parse(text).ok()?;
    let page: Page<Tool> = Page::read(&whole);
    let is_sound = page.rejected.is_empty() && page.oddities.is_empty();
    is_sound.then_some((whole, page.items))
}

/// Returns about how much room a list takes.
pub(super) fn length(tools: &[Tool]) -> usize {
    tools.iter().map(|tool| tool.raw().as_str().len() + 1).sum()
}

/// Writes a tool as it came. A few servers write the name in front of the tool instead of into it;
/// such a tool gets it here.
fn write_tool(tool: &Tool, out: &mut String) {
    let text = tool.raw().as_str();
    let rest = text.strip_prefix('{').filter(|_| !tool.raw().has("name"));
    let name = Json::encode::<str>(tool.name());
    let (Some(rest), Ok(name)) = (rest, name) else {
        out.push_str(text);
        return;
    };
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    for part in ["{\"name\":", name.as_str(), comma, rest] {
        out.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_was_named_from_outside_keeps_its_name() {
        let list = r#"{"tools":{"a":{"title":"A"},"b\"":{ }}}"#;
        let page: Page<Tool> = Page::read(&list.parse().unwrap());
        let mut text = "{".to_owned();
        write(&page.items, &mut text);
        let (_, tools) = read((text + "}").into()).unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &**tool.name()).collect();
        assert_eq!(names, ["a", "b\""]);
        assert_eq!(tools[0].title().unwrap(), "A");
    }
}
