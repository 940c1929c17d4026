use super::*;
use lifecycle::document::{ISSUE, NEWS, REVIEW};
use std::path::Path;

const ID: &str = "abc12345-0000-4000-8000-000000000000";

#[track_caller]
fn check(schema: &'static Schema, target: &str, key: &str, file: &str) {
    let slot = Slot::new(schema, Some(ID), target);
    assert_eq!(slot.kv_key(), key);
    assert_eq!(slot.file_name(), file.replace("{id}", ID));
}

#[test]
fn ordinary_names_are_the_documented_ones() {
    check(
        &REVIEW,
        "OpenHands/extensions",
        "state:OpenHands__extensions",
        "github_pr_reviewer_label_event_{id}_OpenHands__extensions.json",
    );
    check(
        &ISSUE,
        "group/team/service",
        "state:group__team__service",
        "gitlab_issue_to_mr_{id}_group__team__service.json",
    );
    check(&NEWS, "news", "state", "news_digest_{id}.json");
    check(
        &ISSUE,
        "группа/проект.v2",
        "state:группа__проект.v2",
        "gitlab_issue_to_mr_{id}_группа__проект.v2.json",
    );
    let longest = format!("{}/{}", "o".repeat(39), "r".repeat(100));
    let slot = Slot::new(&REVIEW, Some(ID), &longest);
    assert_eq!(
        slot.file_name(),
        format!(
            "github_pr_reviewer_label_event_{ID}_{}.json",
            longest.replace('/', "__")
        )
    );
}

#[test]
fn a_missing_automation_id_reads_default() {
    for missing in [None, Some(""), Some("  ")] {
        let slot = Slot::new(&NEWS, missing, "news");
        assert_eq!(slot.file_name(), "news_digest_default.json");
    }
}

#[test]
fn earlier_versions_of_the_reviewer_had_one_document() {
    let slot = Slot::new(&REVIEW, Some("x"), "a/b");
    assert_eq!(slot.legacy_kv_key().as_deref(), Some("state"));
    assert_eq!(
        slot.legacy_file_name().as_deref(),
        Some("github_pr_reviewer_label_event_x.json")
    );
    assert_eq!(Slot::new(&ISSUE, Some("x"), "a/b").legacy_kv_key(), None);
    assert_eq!(Slot::new(&NEWS, Some("x"), "news").legacy_file_name(), None);
}

#[test]
fn targets_that_share_a_key_get_a_hash_for_what_names_no_owner() {
    let key = |target| Slot::new(&REVIEW, None, target).cache_key();
    assert_eq!(key("a/b"), "cache:state:a__b");
    assert_eq!(key("a/_b"), "cache:state:a___b");
    assert_eq!(
        key("group/team/service"),
        "cache:state:group__team__service"
    );
    let (one, two) = (key("a/b__c"), key("a__b/c"));
    assert_ne!(one, two);
    assert!(one.starts_with("cache:state:a__b__c-") && two.starts_with("cache:state:a__b__c-"));
    assert_ne!(key("a/_b"), key("a_/b"));
    let guard = |target| Slot::new(&REVIEW, None, target).guard_key("claim:4:label:9/1");
    assert_ne!(guard("a/b__c"), guard("a__b/c"));
    assert_eq!(
        guard("a/b").len(),
        "guard:state:a__b:claim:4:label:9_1-".len() + 16
    );
}

#[test]
fn later_comers_have_names_of_their_own() {
    let (one, two) = (
        Slot::new(&REVIEW, None, "a/b__c"),
        Slot::new(&REVIEW, None, "A__b/c"),
    );
    let (one, two) = (one.kv_keys(), two.kv_keys());
    assert_eq!(one[0], "state:a__b__c");
    assert_eq!(one[1].len(), one[0].len() + 9);
    assert!(one[2].starts_with(&one[1]));
    assert_ne!(one[1], two[1]);
    // The hash does not depend on case, so that a configuration may be spelt anew.
    assert_eq!(
        Slot::new(&REVIEW, None, "A/b__C").kv_keys()[1][14..],
        one[1][14..]
    );
}

#[test]
fn no_name_leaves_the_folder_or_is_too_long() {
    let hostile = [
        "..",
        "../..",
        "/etc/passwd",
        "a/../../b",
        ".",
        "",
        "/",
        "a\0b/c",
        "a/\u{7f}\n\t",
        "~",
        "a\\..\\b",
        "$version",
        "-rf",
        "a/%2e%2e%2fb",
        "a/b?nx=true#x",
        "\u{202e}evil/x",
    ];
    let mut targets: Vec<String> = hostile.iter().map(ToString::to_string).collect();
    for piece in ["a", "ж", "日", "🦀", "../", "\0"] {
        for length in [1, 50, 200, 255, 256, 5_000] {
            targets.push(piece.repeat(length));
        }
    }
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let length = rng.usize(0..300);
        targets.push((0..length).map(|_| rng.char(..)).collect());
    }
    for target in targets {
        for id in [ID, target.as_str()] {
            for schema in [&REVIEW, &ISSUE, &NEWS] {
                let slot = Slot::new(schema, Some(id), &target);
                let mut names = slot.file_names();
                names.push(slot.cache_file_name());
                names.extend(slot.legacy_file_name());
                names.extend(slot.kv_keys());
                names.push(slot.guard_key(&target));
                names.push(slot.cache_key());
                for name in names {
                    check_component(&name);
                    check_component(&fit(&name, ".damaged-0123456789abcdef"));
                }
            }
        }
    }
}

#[track_caller]
fn check_component(name: &str) {
    assert!(name.len() <= 255, "{} bytes: {name}", name.len());
    assert!(
        !name.contains(['/', '\0', '\\']) && !name.contains(char::is_control),
        "{name:?}"
    );
    assert!(!name.starts_with(['.', '$']), "{name:?}");
    assert_eq!(Path::new(name).components().count(), 1);
}

#[test]
fn names_that_were_made_safe_stay_apart() {
    let key = |target: &str| Slot::new(&ISSUE, None, target).kv_key();
    assert_ne!(key("a/b\0"), key("a/b\u{1}"));
    assert_ne!(key("a/b\0"), key("a/b_"));
    assert_ne!(key(&"x".repeat(300)), key(&"x".repeat(301)));
}

#[test]
fn the_folder_lies_two_levels_above_a_run() {
    let folder = |base: &str| {
        state_folder(Some(Path::new(base)), Some(Path::new("/home/u")))
            .map(|path| path.display().to_string())
            .unwrap()
    };
    assert_eq!(
        folder("/home/u/.openhands/workspaces/automation-runs/run-1"),
        "/home/u/.openhands/workspaces/automation-state"
    );
    assert_eq!(
        folder("/workspace/automation-runs/run-1/"),
        "/workspace/automation-state"
    );
    assert_eq!(folder("/automation-runs/run-1"), "/automation-state");
    // Another form: the documented rule to the letter, but never up to the file system's root.
    assert_eq!(folder("/data/oh/ws"), "/data/automation-state");
    assert_eq!(folder("/workspace"), "/workspace/automation-state");
    assert_eq!(folder("/workspace/x"), "/workspace/x/automation-state");
    assert_eq!(
        folder("/data/a/./b/../automation-runs/r"),
        "/data/a/automation-state"
    );
    assert_eq!(folder(""), "/home/u/.openhands/workspaces/automation-state");
    assert_eq!(state_folder(None, None), None);
    assert_eq!(state_folder(None, Some(Path::new(""))), None);
}
