//! Tests the results that models get.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use wharf_protocol::view::ToolResult;

use super::super::{OpenAiApi, ResultLimits};
use super::*;
use crate::call::{CallDetails, CallError, Outcome};

const MIXED: &str = r#"{"content":[
    {"type":"text","text":"look"},
    {"type":"image","data":"aGVs\nbG8","mimeType":"image/JPG; q=1"},
    {"type":"image","data":"aGVsbG8=","mimeType":"image/svg+xml"},
    {"type":"audio","data":"AAAA","mimeType":"audio/wav"},
    {"type":"resource_link","uri":"file:///y"},
    {"type":"resource","resource":{"uri":"a:b","blob":"-_-_","mimeType":"image/png"}}],
    "structuredContent":{"a":1}}"#;

fn outcome(result: &str) -> Outcome {
    Outcome::from_result(&ToolResult::read(result.parse().unwrap()), CallDetails::default())
}

#[track_caller]
fn accept_all(outcome: &Outcome, limits: &ResultLimits) {
    let chat = outcome.to_openai(OpenAiApi::ChatCompletions, "call_1", limits);
    TOOL_MESSAGE.accepts(&chat.item);
    if let Some(images) = &chat.images {
        USER_MESSAGE.accepts(images);
    }
    FUNCTION_CALL_OUTPUT.accepts(&outcome.to_openai(OpenAiApi::Responses, "call_1", limits).item);
    TOOL_RESULT.accepts(&outcome.to_anthropic("toolu_1", limits));
    GEMINI_PART.accepts(&outcome.to_gemini("mcp_fs_read", Some("1"), limits));
}

#[test]
fn images_are_given_where_the_provider_takes_them() {
    let (outcome, limits) = (outcome(MIXED), ResultLimits::default());
    accept_all(&outcome, &limits);
    let chat = outcome.to_openai(OpenAiApi::ChatCompletions, "call_1", &limits);
    insta::assert_snapshot!(chat.item.as_str(), @r#"{"role":"tool","tool_call_id":"call_1","content":"look\n[image image/JPG; q=1, 5 B]\n[image image/svg+xml, 5 B]\n[audio audio/wav, 3 B]\n[link file:///y]\n[resource a:b image/png, 3 B]\n[2 images or files are not attached]"}"#);
    insta::assert_snapshot!(chat.images.unwrap().as_str(), @r#"{"role":"user","content":[{"type":"text","text":"The images of the result of the tool call call_1:"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,aGVsbG8="}},{"type":"image_url","image_url":{"url":"data:image/png;base64,+/+/"}}]}"#);
    insta::assert_snapshot!(outcome.to_openai(OpenAiApi::Responses, "call_1", &limits).item.as_str(), @r#"{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"look\n[image image/JPG; q=1, 5 B]\n[image image/svg+xml, 5 B]\n[audio audio/wav, 3 B]\n[link file:///y]\n[resource a:b image/png, 3 B]\n[2 images or files are not attached]"},{"type":"input_image","image_url":"data:image/jpeg;base64,aGVsbG8="},{"type":"input_image","image_url":"data:image/png;base64,+/+/"}]}"#);
    insta::assert_snapshot!(outcome.to_anthropic("toolu_1", &limits).as_str(), @r#"{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"look\n[image image/JPG; q=1, 5 B]\n[image image/svg+xml, 5 B]\n[audio audio/wav, 3 B]\n[link file:///y]\n[resource a:b image/png, 3 B]\n[2 images or files are not attached]"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"aGVsbG8="}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"+/+/"}}]}"#);
    insta::assert_snapshot!(outcome.to_gemini("mcp_fs_read", None, &limits).as_str(), @r#"{"functionResponse":{"name":"mcp_fs_read","response":{"output":"look\n[image image/JPG; q=1, 5 B]\n[image image/svg+xml, 5 B]\n[audio audio/wav, 3 B]\n[link file:///y]\n[resource a:b image/png, 3 B]\n[2 images or files are not attached]"},"parts":[{"inlineData":{"mimeType":"image/jpeg","data":"aGVsbG8="}},{"inlineData":{"mimeType":"image/png","data":"+/+/"}}]}}"#);
}

#[test]
fn a_failure_is_marked_and_has_text_only() {
    let failed = outcome(&MIXED.replacen('{', r#"{"isError":true,"#, 1));
    let limits = ResultLimits::default();
    accept_all(&failed, &limits);
    insta::assert_snapshot!(failed.to_anthropic("toolu_1", &limits).as_str(), @r#"{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"Error: look\n[image image/JPG; q=1, 5 B]\n[image image/svg+xml, 5 B]\n[audio audio/wav, 3 B]\n[link file:///y]\n[resource a:b image/png, 3 B]\n[4 images or files are not attached]"}],"is_error":true}"#);
    let error = Outcome::from_error(CallError::cancelled(), CallDetails::default());
    accept_all(&error, &limits);
    insta::assert_snapshot!(error.to_gemini("x", Some("7"), &limits).as_str(), @r#"{"functionResponse":{"id":"7","name":"x","response":{"error":"Cancelled: the caller cancelled the call (phase receive)\nThe outcome is unknown: the tool may have run. Check before calling it again."}}}"#);
}

#[test]
fn structured_content_is_given_as_text() {
    let outcome = outcome(r#"{"content":[],"structuredContent":{"a":1.50}}"#);
    let text = outcome.to_openai(OpenAiApi::ChatCompletions, "c", &ResultLimits::default());
    assert!(text.item.as_str().contains(r#"{\"a\":1.50}"#), "{}", text.item.as_str());
}

#[test]
fn an_empty_result_is_accepted() {
    for result in ["{}", r#"{"content":" \n"}"#] {
        accept_all(&outcome(result), &ResultLimits::default());
    }
}

#[test]
fn text_and_media_keep_to_their_limits() {
    let image = STANDARD.encode(vec![7; 600]);
    let block = format!(r#"{{"type":"image","data":"{image}","mimeType":"image/png"}}"#);
    let text = "long ".repeat(100);
    let outcome =
        outcome(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}},{block},{block}]}}"#));
    let limits = ResultLimits::new(200).with_max_media_bytes(1000);
    accept_all(&outcome, &limits);
    let found: Value = outcome.to_anthropic("t", &limits).decode().unwrap();
    let blocks = found["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 2);
    let text = blocks[0]["text"].as_str().unwrap();
    assert!(
        text.chars().count() <= 200 && text.ends_with("\n[1 image or file is not attached]"),
        "{text}"
    );
    let plain: Value = outcome.to_anthropic("t", &limits.without_media()).decode().unwrap();
    assert_eq!(plain["content"].as_array().unwrap().len(), 1);
}

#[test]
fn a_text_that_is_cut_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::call::ResultStore::new(folder.path());
    let limits = ResultLimits::new(150).with_store(store);
    let cut =
        outcome(&format!(r#"{{"content":"{}"}}"#, "a".repeat(500))).to_anthropic("t", &limits);
    assert!(cut.as_str().contains("characters left out"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

proptest! {
    #[test]
    fn any_result_is_accepted(
        texts in prop::collection::vec("[ -~é\n]{0,40}", 0..4),
        data in "[A-Za-z0-9+/=_\n-]{0,40}",
        mime in prop::sample::select(vec!["image/png", "IMAGE/WEBP", "image/gif", "application/pdf", "x"]),
        is_error in any::<bool>(),
        max_chars in 0_usize..200,
    ) {
        let mut content: Vec<Value> = texts.into_iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
        content.push(serde_json::json!({"type": "image", "data": data, "mimeType": mime}));
        let result = serde_json::json!({"content": content, "isError": is_error}).to_string();
        accept_all(&outcome(&result), &ResultLimits::new(max_chars));
    }
}
