//! The guide in docs/guide.md must name every program and every setting.

const GUIDE: &str = include_str!("../../../docs/guide.md");

#[test]
fn every_program_is_in_the_guide() {
    let missing: Vec<&str> = wharf_config::providers()
        .map(|(id, _)| id)
        .filter(|id| !GUIDE.contains(&format!("`{id}`")))
        .collect();
    assert!(missing.is_empty(), "docs/guide.md does not name {missing:?}");
}

#[test]
fn every_setting_is_in_the_guide() {
    let missing: Vec<&str> = wharf_config::settings::KEYS
        .iter()
        .map(|setting| setting.key)
        .filter(|key| !GUIDE.contains(&format!("`{key}`")))
        .collect();
    assert!(missing.is_empty(), "docs/guide.md does not name {missing:?}");
}
