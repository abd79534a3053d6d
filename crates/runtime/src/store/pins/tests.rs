//! What pins notice, and what they do about it.

use std::fs;

use wharf_config::Secret;
use wharf_config::store::private_file;
use wharf_protocol::view::ListPage;

use super::*;

struct Place {
    folder: tempfile::TempDir,
    pins: Pins,
    key: RecordKey,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pins = Pins::open(Some(folder.path().join("pins")));
        let key = key(&pins, "server");
        Self { folder, pins, key }
    }

    fn check(&self, tools: &str, mode: Pinning) -> PinReport {
        let report = self.pins.check(&self.key, &list(tools), mode);
        self.pins.write_pending(LOCK_WAIT);
        report
    }

    /// Checks a list and shows what was noticed.
    fn shown(&self, tools: &str, mode: Pinning) -> String {
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
    pins.key(&ServerIdentity { name, configuration, credential: String::new() })
}

fn list(tools: &str) -> Arc<[Tool]> {
    let page: ListPage<Tool> =
        ListPage::read(&format!(r#"{{"tools":[{tools}]}}"#).parse().unwrap());
    page.items.into()
}

const FIRST: &str = r#"{"name":"a","description":"reads","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}},{"name":"b"}"#;

#[test]
fn the_first_list_is_pinned_and_then_known() {
    for mode in [Pinning::Observe, Pinning::Enforce] {
        let place = Place::new();
        let report = place.check(FIRST, mode);
        assert!(report.is_first() && report.changes().is_empty() && report.is_unchanged("a"));
        let report = place.check(FIRST, mode);
        assert!(!report.is_first() && report.changes().is_empty() && report.is_unchanged("a"));
    }
}

#[test]
fn what_is_different_is_reported_with_the_difference() {
    let place = Place::new();
    place.check(FIRST, Pinning::Observe);
    let report = place.check(
        r#"{"name":"a","description":"reads and sends","annotations":{"readOnlyHint":true}},{"name":"b"},{"name":"c"}"#,
        Pinning::Observe,
    );
    insta::assert_debug_snapshot!(report.changes(), @r#"
    [
        ToolChange {
            tool: "a",
            kind: Changed,
            differences: [
                Difference {
                    field: "description",
                    before: Some(
                        "reads",
                    ),
                    after: Some(
                        "reads and sends",
                    ),
                },
                Difference {
                    field: "inputSchema",
                    before: Some(
                        "{\"properties\":{\"x\":{},\"y\":{}},\"type\":\"object\"}",
                    ),
                    after: None,
                },
                Difference {
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
fn observing_pins_what_was_reported() {
    let place = Place::new();
    let later = r#"{"name":"a","description":"sends"},{"name":"b"}"#;
    place.check(FIRST, Pinning::Observe);
    assert_eq!(
        place.shown(later, Pinning::Observe),
        r#"tool "a" has changed (description, inputSchema)"#
    );
    assert_eq!(place.shown(later, Pinning::Observe), "");
}

#[test]
fn enforcing_withholds_until_the_person_accepts() {
    let place = Place::new();
    let later = r#"{"name":"a","description":"sends"},{"name":"b"},{"name":"c"}"#;
    place.check(FIRST, Pinning::Enforce);
    for _ in 0..2 {
        let report = place.check(later, Pinning::Enforce);
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
                    "it can be called once somebody has seen the change and accepted it",
                ),
            }
            "#);
        }
    }
    place.pins.accept(&place.key, &list(later)).unwrap();
    assert_eq!(place.shown(later, Pinning::Enforce), "");
}

#[test]
fn the_order_of_members_and_tools_is_no_change() {
    let place = Place::new();
    place.check(FIRST, Pinning::Enforce);
    let turned = r#"{"name":"b","icons":[]},{"inputSchema":{"properties":{"y":{},"x":{}},"type":"object"},"description":"reads","name":"a","title":null}"#;
    assert_eq!(place.shown(turned, Pinning::Enforce), "");
}

#[test]
fn a_tool_that_comes_back_is_compared_with_what_it_was() {
    let place = Place::new();
    place.check(FIRST, Pinning::Observe);
    assert_eq!(place.shown(r#"{"name":"b"}"#, Pinning::Observe), "");
    let back = r#"{"name":"a","description":"steals"},{"name":"b"}"#;
    assert_eq!(
        place.shown(back, Pinning::Observe),
        r#"tool "a" has changed (description, inputSchema)"#
    );
}

#[test]
fn a_long_text_is_compared_by_its_hash() {
    let place = Place::new();
    let tool = |end: &str| format!(r#"{{"name":"a","description":"{}{end}"}}"#, "x".repeat(20_000));
    place.check(&tool(""), Pinning::Observe);
    assert!(fs::metadata(place.path()).unwrap().len() < 1000);
    assert_eq!(place.shown(&format!("{},{{\"name\":\"a\"}}", tool("")), Pinning::Observe), "");
    let report = place.check(&tool("!"), Pinning::Observe);
    assert_eq!(report.changes()[0].differences[0].before, None);
}

#[test]
fn a_damaged_record_is_made_anew_or_withholds_everything() {
    let place = Place::new();
    place.check(FIRST, Pinning::Observe);
    let whole = fs::read(place.path()).unwrap();
    for length in [0, 10, whole.len() - 1] {
        private_file::replace(&place.path(), &whole[..length]).unwrap();
        let report = place.check(FIRST, Pinning::Enforce);
        assert!(report.withholds("a") && !report.is_unchanged("a") && !report.is_first());
        let report = place.check(FIRST, Pinning::Observe);
        assert!(!report.withholds("a") && !report.is_unchanged("a"));
        assert_eq!(report.problems("server").len(), 1);
        assert!(place.check(FIRST, Pinning::Observe).is_unchanged("a"));
    }
}

#[test]
fn many_changes_make_few_problems() {
    let place = Place::new();
    place.check(FIRST, Pinning::Observe);
    let many: Vec<String> = (0..5000).map(|n| format!(r#"{{"name":"n{n}"}}"#)).collect();
    let report = place.check(&many.join(","), Pinning::Observe);
    assert_eq!((report.changes().len(), report.problems("server").len()), (5000, 11));
}

#[test]
fn without_a_folder_nothing_is_pinned() {
    let pins = Pins::open(None);
    let key = key(&pins, "server");
    let report = pins.check(&key, &list(FIRST), Pinning::Enforce);
    assert!(!pins.has_pending());
    assert!(!report.is_first() && !report.is_unchanged("a") && !report.withholds("a"));
    pins.accept(&key, &list(FIRST)).unwrap();
}

#[test]
fn looking_withholds_but_pins_nothing() {
    let place = Place::new();
    let look = |tools: &str| place.pins.compare(&place.key, &list(tools), Pinning::Enforce);
    assert!(!look(FIRST).is_unchanged("a") && !place.path().exists());
    place.check(FIRST, Pinning::Enforce);
    let before = fs::read(place.path()).unwrap();
    let report = look(r#"{"name":"a"},{"name":"b","icons":[]}"#);
    assert!(report.withholds("a") && !report.withholds("b") && report.is_unchanged("b"));
    assert_eq!(fs::read(place.path()).unwrap(), before);
    private_file::replace(&place.path(), b"damaged").unwrap();
    assert!(look(FIRST).withholds("a"));
}

#[test]
fn a_lost_key_does_not_let_a_changed_tool_in() {
    for damage in [None, Some(&b""[..])] {
        let place = Place::new();
        place.check(FIRST, Pinning::Enforce);
        let folder = place.folder.path().join("pins");
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
fn a_key_that_cannot_be_read_withholds_everything() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("key")).unwrap();
    let pins = Pins::open(Some(folder.path().to_owned()));
    let key = key(&pins, "server");
    assert!(pins.check(&key, &list(FIRST), Pinning::Enforce).withholds("a"));
    assert!(!pins.check(&key, &list(FIRST), Pinning::Observe).is_unchanged("a"));
    assert!(pins.accept(&key, &list(FIRST)).is_err());
}

#[test]
fn a_server_cannot_keep_itself_from_being_pinned_unnoticed() {
    let place = Place::new();
    let junk = format!(r#"{{"name":"{}"}},"#, "x".repeat(17 << 20));
    let report = place.check(&format!("{junk}{FIRST}"), Pinning::Enforce);
    assert!(report.withholds("a") && !report.is_unchanged("a"));
    assert_eq!(report.problems("server").len(), 1);
    assert!(!place.check(&format!("{junk}{FIRST}"), Pinning::Observe).withholds("a"));
}

#[test]
fn what_was_decided_last_is_what_stays() {
    let (old, new) = (list(FIRST), list(r#"{"name":"a","description":"new"},{"name":"b"}"#));
    let place = Place::new();
    place.pins.check(&place.key, &old, Pinning::Observe);
    let folder = place.folder.path().join("pins");
    let held = FolderLock::new(Some(&folder), LOCK_WAIT);
    held.take().unwrap();
    std::thread::scope(|scope| {
        let pins = &place.pins;
        scope.spawn(|| pins.write_pending(LOCK_WAIT));
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while pins.writing.try_lock().is_ok() {
            assert!(std::time::Instant::now() < until, "nobody writes alone");
            std::thread::yield_now();
        }
        pins.check(&place.key, &new, Pinning::Observe);
        scope.spawn(|| pins.write_pending(LOCK_WAIT));
        drop(held);
    });
    place.pins.write_pending(LOCK_WAIT);
    let again = Pins::open(Some(folder));
    assert!(again.check(&place.key, &new, Pinning::Observe).changes().is_empty());
}

#[test]
fn what_another_process_has_accepted_stays_accepted() {
    let place = Place::new();
    let (first, more) = (r#"{"name":"a"}"#, r#"{"name":"a"},{"name":"b","description":"b"}"#);
    place.check(first, Pinning::Enforce);
    // This one has looked at the pins, and the other one changes them before it writes.
    place.pins.check(&place.key, &list(r#"{"name":"a","title":"A"}"#), Pinning::Observe);
    let other = Pins::open(Some(place.folder.path().join("pins")));
    other.accept(&place.key, &list(more)).unwrap();
    place.pins.write_pending(LOCK_WAIT);
    let report = other.check(&place.key, &list(more), Pinning::Enforce);
    assert!(!report.withholds("b"));
}

#[test]
fn old_records_make_room_and_still_tell_whether_anything_has_changed() {
    let place = Place::new();
    let long = |name: &str| {
        let tool = |n: usize| format!(r#"{{"name":"{name}{n}","title":"{}"}}"#, "x".repeat(8000));
        (0..900).map(tool).collect::<Vec<_>>().join(",")
    };
    let keys: Vec<RecordKey> = (0..6).map(|n| key(&place.pins, &format!("s{n}"))).collect();
    for (n, key) in keys.iter().enumerate() {
        place.pins.check(key, &list(&long(&format!("t{n}"))), Pinning::Enforce);
        place.pins.write_pending(LOCK_WAIT);
    }
    assert!(fs::metadata(place.path()).unwrap().len() < (MOST_BYTES as u64) + (1 << 20));
    let same = place.pins.check(&keys[0], &list(&long("t0")), Pinning::Enforce);
    assert!(same.is_unchanged("t00") && !same.withholds("t00"));
    let other = place.pins.check(&keys[0], &list(&long("u")), Pinning::Enforce);
    assert!(other.withholds("u0") && !other.is_first());
}
