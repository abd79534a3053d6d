//! Tests which changes pins detect, and what they withhold.

use std::fs;

use wharf_config::Secret;
use wharf_config::store::private_file;
use wharf_protocol::view::ListPage;

use super::*;

struct TestPins {
    folder: tempfile::TempDir,
    pins: Pins,
    key: RecordKey,
}

impl TestPins {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pins = Pins::open(Some(folder.path().join("pins")));
        let key = key(&pins, "server");
        Self { folder, pins, key }
    }

    fn check(&self, tools: &str, mode: Pinning) -> PinReport {
        let report = self.pins.check(&self.key, &list(tools), mode);
        self.pins.write_pending(LOCK_TIMEOUT);
        report
    }

    /// Checks a list and renders the messages of the problems.
    fn render(&self, tools: &str, mode: Pinning) -> String {
        let report = self.check(tools, mode);
        let lines = report.problems("server").into_iter().map(|problem| problem.message);
        lines.collect::<Vec<_>>().join("\n")
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("pins").join(FILE)
    }
}

fn key(pins: &Pins, name: &str) -> RecordKey {
    let configuration = Secret::new("identity");
    pins.key(&ServerIdentity { name, configuration, credential: String::new(), is_lasting: true })
}

fn list(tools: &str) -> Arc<[ToolDefinition]> {
    let page: ListPage<ToolDefinition> =
        ListPage::read(&format!(r#"{{"tools":[{tools}]}}"#).parse().unwrap());
    page.items.into()
}

const FIRST: &str = r#"{"name":"a","description":"reads","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}},{"name":"b"}"#;

#[test]
fn the_first_list_is_pinned_and_recognized_later() {
    for mode in [Pinning::Observe, Pinning::Enforce] {
        let test = TestPins::new();
        let report = test.check(FIRST, mode);
        assert!(report.is_first() && report.changes().is_empty() && report.is_unchanged("a"));
        let report = test.check(FIRST, mode);
        assert!(!report.is_first() && report.changes().is_empty() && report.is_unchanged("a"));
    }
}

#[test]
fn changes_are_reported_with_their_differences() {
    let test = TestPins::new();
    test.check(FIRST, Pinning::Observe);
    let report = test.check(
        r#"{"name":"a","description":"reads and sends","annotations":{"readOnlyHint":true}},{"name":"b"},{"name":"c"}"#,
        Pinning::Observe,
    );
    insta::assert_debug_snapshot!(report.changes(), @r#"
    [
        ToolChange {
            tool: "a",
            kind: Changed,
            differences: [
                ToolDifference {
                    field: "description",
                    before: Some(
                        "reads",
                    ),
                    after: Some(
                        "reads and sends",
                    ),
                },
                ToolDifference {
                    field: "inputSchema",
                    before: Some(
                        "{\"properties\":{\"x\":{},\"y\":{}},\"type\":\"object\"}",
                    ),
                    after: None,
                },
                ToolDifference {
                    field: "annotations",
                    before: None,
                    after: Some(
                        "{\"readOnlyHint\":true}",
                    ),
                },
            ],
        },
        ToolChange {
            tool: "c",
            kind: New,
            differences: [],
        },
    ]
    "#);
    assert!(!report.is_unchanged("a") && report.is_unchanged("b") && !report.is_unchanged("c"));
    assert!(!report.withholds("a"));
}

#[test]
fn observe_pins_a_change_after_reporting_it() {
    let test = TestPins::new();
    let later = r#"{"name":"a","description":"sends"},{"name":"b"}"#;
    test.check(FIRST, Pinning::Observe);
    assert_eq!(
        test.render(later, Pinning::Observe),
        r#"tool "a" has changed (description, inputSchema)"#
    );
    assert_eq!(test.render(later, Pinning::Observe), "");
}

#[test]
fn enforce_withholds_changed_tools_until_they_are_accepted() {
    let test = TestPins::new();
    let later = r#"{"name":"a","description":"sends"},{"name":"b"},{"name":"c"}"#;
    test.check(FIRST, Pinning::Enforce);
    for _ in 0..2 {
        let report = test.check(later, Pinning::Enforce);
        let withheld = ["a", "b", "c"].map(|tool| report.withholds(tool));
        assert_eq!(withheld, [true, false, true]);
        insta::allow_duplicates! {
            insta::assert_debug_snapshot!(report.problems("server")[1], @r#"
            Problem {
                severity: Warning,
                code: "tool-changed",
                server: Some(
                    "server",
                ),
                field: None,
                path: None,
                line: None,
                message: "tool \"c\" is new; withheld",
                hint: Some(
                    "a person must accept the change before the tool can be called",
                ),
            }
            "#);
        }
    }
    test.pins.accept(&test.key, &list(later)).unwrap();
    assert_eq!(test.render(later, Pinning::Enforce), "");
}

#[test]
fn the_order_of_members_and_tools_is_not_a_change() {
    let test = TestPins::new();
    test.check(FIRST, Pinning::Enforce);
    let turned = r#"{"name":"b","icons":[]},{"inputSchema":{"properties":{"y":{},"x":{}},"type":"object"},"description":"reads","name":"a","title":null}"#;
    assert_eq!(test.render(turned, Pinning::Enforce), "");
}

#[test]
fn a_tool_that_reappears_is_compared_with_its_pin() {
    let test = TestPins::new();
    test.check(FIRST, Pinning::Observe);
    assert_eq!(test.render(r#"{"name":"b"}"#, Pinning::Observe), "");
    let back = r#"{"name":"a","description":"steals"},{"name":"b"}"#;
    assert_eq!(
        test.render(back, Pinning::Observe),
        r#"tool "a" has changed (description, inputSchema)"#
    );
}

#[test]
fn a_long_text_is_compared_by_its_hash() {
    let test = TestPins::new();
    let tool = |end: &str| format!(r#"{{"name":"a","description":"{}{end}"}}"#, "x".repeat(20_000));
    test.check(&tool(""), Pinning::Observe);
    assert!(fs::metadata(test.path()).unwrap().len() < 1000);
    assert_eq!(test.render(&format!("{},{{\"name\":\"a\"}}", tool("")), Pinning::Observe), "");
    let report = test.check(&tool("!"), Pinning::Observe);
    assert_eq!(report.changes()[0].differences[0].before, None);
}

#[test]
fn a_damaged_record_is_recreated_or_withholds_all_tools() {
    let test = TestPins::new();
    test.check(FIRST, Pinning::Observe);
    let whole = fs::read(test.path()).unwrap();
    for length in [0, 10, whole.len() - 1] {
        private_file::replace(&test.path(), &whole[..length]).unwrap();
        let report = test.check(FIRST, Pinning::Enforce);
        assert!(report.withholds("a") && !report.is_unchanged("a") && !report.is_first());
        let report = test.check(FIRST, Pinning::Observe);
        assert!(!report.withholds("a") && !report.is_unchanged("a"));
        assert_eq!(report.problems("server").len(), 1);
        assert!(test.check(FIRST, Pinning::Observe).is_unchanged("a"));
    }
}

#[test]
fn many_changes_are_summarized_in_few_problems() {
    let test = TestPins::new();
    test.check(FIRST, Pinning::Observe);
    let many: Vec<String> = (0..5000).map(|n| format!(r#"{{"name":"n{n}"}}"#)).collect();
    let report = test.check(&many.join(","), Pinning::Observe);
    assert_eq!((report.changes().len(), report.problems("server").len()), (5000, 11));
}

#[test]
fn without_a_folder_pins_are_kept_in_memory() {
    let pins = Pins::open(None);
    let key = key(&pins, "server");
    let report = pins.check(&key, &list(FIRST), Pinning::Enforce);
    assert!(report.is_first() && report.is_unchanged("a") && !pins.has_pending());
    pins.write_pending(Duration::ZERO);
    let changed = list(r#"{"name":"a","title":"other"}"#);
    let report = pins.check(&key, &changed, Pinning::Enforce);
    assert!(report.withholds("a") && !report.is_unchanged("a"));
    pins.accept(&key, &changed).unwrap();
    assert!(pins.check(&key, &changed, Pinning::Enforce).is_unchanged("a"));
}

#[test]
fn compare_withholds_tools_and_pins_nothing() {
    let test = TestPins::new();
    let look = |tools: &str| test.pins.compare(&test.key, &list(tools), Pinning::Enforce);
    assert!(!look(FIRST).is_unchanged("a") && !test.path().exists());
    test.check(FIRST, Pinning::Enforce);
    let before = fs::read(test.path()).unwrap();
    let report = look(r#"{"name":"a"},{"name":"b","icons":[]}"#);
    assert!(report.withholds("a") && !report.withholds("b") && report.is_unchanged("b"));
    assert_eq!(fs::read(test.path()).unwrap(), before);
    private_file::replace(&test.path(), b"damaged").unwrap();
    assert!(look(FIRST).withholds("a"));
}

#[test]
fn a_lost_key_does_not_allow_a_changed_tool() {
    for damage in [None, Some(&b""[..])] {
        let test = TestPins::new();
        test.check(FIRST, Pinning::Enforce);
        let folder = test.folder.path().join("pins");
        match damage {
            None => fs::remove_file(folder.join("key")).unwrap(),
            Some(bytes) => private_file::replace(&folder.join("key"), bytes).unwrap(),
        }
        let pins = Pins::open(Some(folder));
        let key = key(&pins, "server");
        let changed = list(r#"{"name":"a","description":"sends"}"#);
        let report = pins.check(&key, &changed, Pinning::Enforce);
        assert!(report.withholds("a") && !report.is_first());
    }
}

#[test]
fn an_unreadable_key_withholds_all_tools() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("key")).unwrap();
    let pins = Pins::open(Some(folder.path().to_owned()));
    let key = key(&pins, "server");
    assert!(pins.check(&key, &list(FIRST), Pinning::Enforce).withholds("a"));
    assert!(!pins.check(&key, &list(FIRST), Pinning::Observe).is_unchanged("a"));
    assert!(pins.accept(&key, &list(FIRST)).is_err());
}

#[test]
fn a_list_that_is_too_large_to_pin_is_reported() {
    let test = TestPins::new();
    let junk = format!(r#"{{"name":"{}"}},"#, "x".repeat(17 << 20));
    let report = test.check(&format!("{junk}{FIRST}"), Pinning::Enforce);
    assert!(report.withholds("a") && !report.is_unchanged("a"));
    assert_eq!(report.problems("server").len(), 1);
    assert!(!test.check(&format!("{junk}{FIRST}"), Pinning::Observe).withholds("a"));
}

#[test]
fn the_last_decision_is_the_one_that_is_stored() {
    let (old, new) = (list(FIRST), list(r#"{"name":"a","description":"new"},{"name":"b"}"#));
    let test = TestPins::new();
    test.pins.check(&test.key, &old, Pinning::Observe);
    let folder = test.folder.path().join("pins");
    let held = FolderLock::new(Some(&folder), LOCK_TIMEOUT);
    held.take().unwrap();
    std::thread::scope(|scope| {
        let pins = &test.pins;
        scope.spawn(|| pins.write_pending(LOCK_TIMEOUT));
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while pins.writing.try_lock().is_ok() {
            assert!(std::time::Instant::now() < until, "no writer holds the lock");
            std::thread::yield_now();
        }
        pins.check(&test.key, &new, Pinning::Observe);
        scope.spawn(|| pins.write_pending(LOCK_TIMEOUT));
        drop(held);
    });
    test.pins.write_pending(LOCK_TIMEOUT);
    let again = Pins::open(Some(folder));
    assert!(again.check(&test.key, &new, Pinning::Observe).changes().is_empty());
}

#[test]
fn tools_accepted_by_another_process_stay_accepted() {
    let test = TestPins::new();
    let (first, more) = (r#"{"name":"a"}"#, r#"{"name":"a"},{"name":"b","description":"b"}"#);
    test.check(first, Pinning::Enforce);
    // This process has read the pins, and another process changes them before it writes.
    test.pins.check(&test.key, &list(r#"{"name":"a","title":"A"}"#), Pinning::Observe);
    let other = Pins::open(Some(test.folder.path().join("pins")));
    other.accept(&test.key, &list(more)).unwrap();
    test.pins.write_pending(LOCK_TIMEOUT);
    let report = other.check(&test.key, &list(more), Pinning::Enforce);
    assert!(!report.withholds("b"));
}

#[test]
fn shortened_records_still_detect_changes() {
    let test = TestPins::new();
    let long = |name: &str| {
        let tool = |n: usize| format!(r#"{{"name":"{name}{n}","title":"{}"}}"#, "x".repeat(8000));
        (0..900).map(tool).collect::<Vec<_>>().join(",")
    };
    let keys: Vec<RecordKey> = (0..6).map(|n| key(&test.pins, &format!("s{n}"))).collect();
    for (n, key) in keys.iter().enumerate() {
        test.pins.check(key, &list(&long(&format!("t{n}"))), Pinning::Enforce);
        test.pins.write_pending(LOCK_TIMEOUT);
    }
    assert!(fs::metadata(test.path()).unwrap().len() < (MAX_BYTES as u64) + (1 << 20));
    let same = test.pins.check(&keys[0], &list(&long("t0")), Pinning::Enforce);
    assert!(same.is_unchanged("t00") && !same.withholds("t00"));
    let other = test.pins.check(&keys[0], &list(&long("u")), Pinning::Enforce);
    assert!(other.withholds("u0") && !other.is_first());
}
