//! `wharf resources`, `read`, `prompts` and `prompt`.

use insta::assert_snapshot;

use crate::world::World;

fn notes() -> World {
    World::new().note_server("notes").tool_server("box").own_servers(&[
        ("notes", r#""command": "notes""#),
        ("box", r#""command": "box""#),
        ("gone", r#""command": "nowhere""#),
    ])
}

#[test]
fn resources_are_listed() {
    let world = notes();
    assert_snapshot!(world.run("resources"), @r#"
    exit 0
    --- stdout
    URI                  SERVER  KIND        NAME
    note://a             notes   text/plain  Note A
    note://b             notes               b
    note://by-day/{day}  notes               by day
    --- stderr
    warning: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    2 resources and 1 template.
    "#);
    assert_snapshot!(world.run("resources --json"), @r#"
    exit 0
    --- stdout
    {
      "resources": [
        {
          "server": "notes",
          "uri": "note://a",
          "name": "a",
          "title": "Note A",
          "mimeType": "text/plain",
          "size": 5
        },
        {
          "server": "notes",
          "uri": "note://b",
          "name": "b"
        }
      ],
      "templates": [
        {
          "server": "notes",
          "uriTemplate": "note://by-day/{day}",
          "name": "by day",
          "description": "One day"
        }
      ],
      "errors": [
        {
          "path": "mcp:gone",
          "error": "nowhere not found"
        }
      ]
    }
    --- stderr
    warning: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    "#);
    assert_snapshot!(world.run("resources --server gone"), @r#"
    exit 3
    --- stderr
    error: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    "#);
    assert_snapshot!(world.run("resources --server box"), @"
    exit 0
    --- stdout
    URI  SERVER  KIND  NAME
    --- stderr
    0 resources.
    ");
}

#[test]
fn a_resource_is_printed_unchanged() {
    let world = notes();
    assert_snapshot!(world.run("read note://a"), @"
    exit 0
    --- stdout
    first[2J
    second
    ");
    assert_snapshot!(world.run("read note://b"), @"
    exit 0
    --- stdout
    hello
    ");
    assert_snapshot!(world.run("read note://by-day/monday"), @"
    exit 0
    --- stdout
    first[2J
    second
    ");
    assert_snapshot!(world.run("read --server notes note://a --json"), @r#"
    exit 0
    --- stdout
    {
      "server": "notes",
      "contents": [
        {
          "uri": "note://a",
          "mimeType": "text/plain",
          "text": "first\u001b[2J\nsecond\n"
        }
      ]
    }
    "#);
    assert_snapshot!(world.run("read other://a"), @r#"
    exit 1
    --- stderr
    error: Resource "other://a" not found
      hint: not searched, because not connected: "gone"
    "#);
    assert_snapshot!(world.run("read --server box note://a"), @"
    exit 1
    --- stderr
    error: the request cannot be sent: the server has no resources
    ");
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let world = notes();
    assert_snapshot!(world.run("prompts"), @r#"
    exit 0
    --- stdout
    NAME    SERVER  ARGUMENTS     DESCRIPTION
    review  notes   file [style]  Looks at a file
    --- stderr
    warning: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    1 prompt.
    "#);
    assert_snapshot!(world.run("prompts --json"), @r#"
    exit 0
    --- stdout
    {
      "prompts": [
        {
          "server": "notes",
          "name": "review",
          "title": "Review",
          "description": "Looks at a file",
          "arguments": [
            {
              "name": "file",
              "required": true
            },
            {
              "name": "style",
              "required": false
            }
          ]
        }
      ],
      "errors": [
        {
          "path": "mcp:gone",
          "error": "nowhere not found"
        }
      ]
    }
    --- stderr
    warning: Failed to connect to "gone": nowhere not found
      hint: install nowhere, or give its full path in "command"
    "#);
    assert_snapshot!(world.run("prompt review file=main.rs"), @"
    exit 0
    --- stdout
    user:
    Look at main.rs
    please

    assistant:
    [image image/png]
    ");
    assert_snapshot!(world.run("prompt review file=main.rs --json"), @r#"
    exit 0
    --- stdout
    {
      "server": "notes",
      "description": "A review",
      "messages": [
        {
          "role": "user",
          "content": {
            "type": "text",
            "text": "Look at main.rs\nplease"
          }
        },
        {
          "role": "assistant",
          "content": {
            "type": "image",
            "data": "aGVsbG8=",
            "mimeType": "image/png"
          }
        }
      ]
    }
    "#);
    assert_snapshot!(world.run("prompt review main.rs"), @r#"
    exit 2
    --- stderr
    error: "main.rs" is not of the form key=value
    "#);
    assert_snapshot!(world.run("prompt nothing"), @r#"
    exit 1
    --- stderr
    error: Prompt "nothing" not found
      hint: not searched, because not connected: "gone"
    "#);
}

#[test]
fn an_ambiguous_resource_or_prompt_needs_a_server_name() {
    let world = World::new().note_server("notes").own_servers(&[
        ("notes", r#""command": "notes""#),
        ("more", r#""command": "notes", "args": ["more"]"#),
    ]);
    assert_snapshot!(world.run("read note://a"), @r#"
    exit 2
    --- stderr
    error: Resource "note://a" exists on several servers: "more", "notes"
      hint: name the server, such as more/note://a
    "#);
    assert_snapshot!(world.run("prompt review"), @r#"
    exit 2
    --- stderr
    error: Prompt "review" exists on several servers: "more", "notes"
      hint: name the server, such as more/review
    "#);
    assert!(world.run("read --server more note://a").starts_with("exit 0"));
}

#[test]
fn a_left_out_value_is_a_problem_in_the_json_of_every_verb() {
    let world = World::new()
        .note_server("notes")
        .own_servers(&[("notes", r#""command": "notes", "env": { "KEY": "!exit 1" }"#)]);
    for words in [
        "resources --json",
        "prompts --json",
        "read --server notes note://a --json",
        "prompt --server notes greet name=Ada --json",
        "reconnect notes --json",
    ] {
        let said = world.run(words);
        let start = said.find('{').unwrap_or_else(|| panic!("{words}: {said}"));
        let mut documents = serde_json::Deserializer::from_str(&said[start..]).into_iter();
        let document: serde_json::Value = documents.next().unwrap().unwrap();
        let problems = document["problems"].as_array().unwrap_or_else(|| panic!("{words}: {said}"));
        assert_eq!(problems.len(), 1, "{words}: {said}");
        assert_eq!(problems[0]["code"], "omitted-value", "{words}");
        assert_eq!(problems[0]["server"], "notes", "{words}");
        let message = problems[0]["message"].as_str().unwrap();
        assert!(message.contains("\"KEY\" left out"), "{words}: {message}");
    }
}
