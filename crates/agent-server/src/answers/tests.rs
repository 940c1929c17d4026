use super::*;

fn look(case: &str) -> Look {
    let path = format!(
        "{}/../../fixtures/agent-server/{case}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let shown: Shown = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(
        shown.is("F020E135-9ead-43f1-a3b5-5ef74fc22697"),
        "with dashes or without, in any case"
    );
    assert!(!shown.is("42cfa195-7d4b-48ad-849d-784152a7a7ee"));
    shown.look()
}

#[test]
fn idle_before_and_after_the_work() {
    for (case, expected) in [
        ("conversation-idle-fresh", Look::IdleUnclear),
        (
            "conversation-idle-with-only-its-title-made",
            Look::IdleUnclear,
        ),
        (
            "conversation-idle-with-an-event-of-the-server",
            Look::IdleUnclear,
        ),
        ("conversation-idle-on-an-older-server", Look::IdleUnclear),
        (
            "conversation-idle-after-the-work",
            Look::Clear(Conversation::IdleDone),
        ),
        ("conversation-finished", Look::Clear(Conversation::Finished)),
        (
            "conversation-of-an-unknown-kind",
            Look::Clear(Conversation::Other),
        ),
    ] {
        assert_eq!(look(case), expected, "{case}");
    }
}

#[test]
fn a_list_is_no_conversation() {
    assert!(serde_json::from_str::<Object<Shown>>(r#"["an id", "finished"]"#).is_err());
    assert!(serde_json::from_str::<Object<FinalResponse>>(r#"["words"]"#).is_err());
    let Object(shown) = serde_json::from_str::<Object<Shown>>(r#"{"id": "an id"}"#).unwrap();
    assert_eq!(shown.id(), Some("an id"));
}

#[test]
fn statistics_of_any_shape() {
    for (text, used) in [
        ("null", false),
        ("[]", false),
        (r#"{"usage_to_metrics": {}}"#, false),
        (
            r#"{"a": {"max_budget_per_task": 5.0, "context_window": 200000, "model_name": "m"}}"#,
            false,
        ),
        (
            r#"{"a": {"accumulated_token_usage": {"prompt_tokens": 0}}}"#,
            false,
        ),
        (
            r#"{"a": {"accumulated_token_usage": {"prompt_tokens": 7}}}"#,
            true,
        ),
        (r#"{"a": {"accumulated_cost": 0.01}}"#, true),
        (r#"{"a": {"costs": [{"cost": 0}]}}"#, true),
        (r#"{"a": -1, "b": "5", "c": true}"#, false),
    ] {
        assert_eq!(
            serde_json::from_str::<Used>(text).unwrap(),
            Used(used),
            "{text}"
        );
    }
}
