use lifecycle::moment::parse_rfc3339;
use serde_json::Value;
use testbed::schema::Schemas;

use super::*;
use crate::fixtures;

fn listed(name: &str) -> (Vec<Pull>, Vec<String>) {
    let (mut pulls, mut warnings) = (Vec::new(), Vec::new());
    for (index, item) in fixtures::items(&fixtures::json(name)).iter().enumerate() {
        match listed_pull(item, index + 1) {
            Ok(pull) => pulls.push(pull),
            Err(warning) => warnings.push(warning),
        }
    }
    (pulls, warnings)
}

#[test]
fn a_page_of_pull_requests() {
    insta::assert_debug_snapshot!("page-of-pull-requests", listed("pulls-page.json"));
    let items = fixtures::items(&fixtures::json("pulls-page.json"));
    assert_eq!(base_repo_name(&items).as_deref(), Some("acme/widget"));
    assert_eq!(base_repo_name(&[]), None);
}

#[test]
fn a_deleted_fork_hides_no_pull_request() {
    let (pulls, warnings) = listed("pulls-one-with-deleted-fork.json");
    assert_eq!(
        pulls.iter().map(|pull| pull.number).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(warnings, [""; 0]);
    for item in fixtures::items(&fixtures::json("pulls-one-with-deleted-fork.json")) {
        assert!(pull_details(&item).unwrap().from_fork);
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    insta::assert_debug_snapshot!(
        "pulls-some-unreadable",
        listed("pulls-some-unreadable.json")
    );
}

#[test]
fn pull_requests_in_full() {
    let details = |name| pull_details(&fixtures::raw(name)).unwrap();
    insta::assert_debug_snapshot!("pull-from-fork", details("pull-from-fork.json"));
    insta::assert_debug_snapshot!(
        "pull-merged-author-deleted",
        details("pull-merged-author-deleted.json")
    );
    let unclear = r#"{"number": 1, "head": {"sha": "0000000000000000000000000000000000000001"}}"#;
    let raw: Item = serde_json::from_str(unclear).unwrap();
    assert_eq!(
        pull_details(&raw),
        Err("its state is neither open nor closed".to_owned())
    );
}

#[test]
fn a_branch_of_the_repository_itself_is_no_fork() {
    let items = fixtures::items(&fixtures::json("pulls-page.json"));
    let forks: Vec<bool> = items
        .iter()
        .map(|item| pull_details(item).unwrap().from_fork)
        .collect();
    assert_eq!(forks, [false, true]);
}

#[test]
fn a_label_put_on_again_in_another_case_is_the_newest() {
    let case = fixtures::json("label-put-on-again-in-other-case.json");
    let label = case["config"].as_str().unwrap();
    let event = newest_label_event(&fixtures::items(&case["events"]), label)
        .unwrap()
        .unwrap();
    assert_eq!(event.id, 13);
    assert_eq!(event.created_at, "2026-08-18T09:10:00Z");
    let carried = case["labels"].as_array().unwrap();
    assert!(
        carried
            .iter()
            .any(|name| same_label(name.as_str().unwrap(), label))
    );
}

#[test]
fn label_events_as_published() {
    let items = fixtures::items(&fixtures::json("label-events.json"));
    insta::assert_debug_snapshot!(
        "label-event",
        newest_label_event(&items, "OPENHANDS-REVIEW")
    );
    let by_nobody = newest_label_event(&items, "ready").unwrap().unwrap();
    assert_eq!((by_nobody.actor_id, by_nobody.actor), (None, None));
    assert_eq!(newest_label_event(&items, "openhands"), Ok(None));
}

#[test]
fn the_newest_event_is_that_of_the_latest_moment_then_of_the_highest_id() {
    let event = |id: u64, at: &str| serde_json::json!({"id": id, "event": "labeled", "label": {"name": "x"}, "created_at": at});
    let list = serde_json::json!([
        event(5, "2026-08-18T09:00:00Z"),
        event(9, "2026-08-18T11:00:00+02:00"),
        event(7, "2026-08-18T09:00:00Z"),
        event(99, "2026-08-17T09:00:00Z"),
    ]);
    assert_eq!(
        newest_label_event(&fixtures::items(&list), "X")
            .unwrap()
            .unwrap()
            .id,
        9
    );
}

#[test]
fn an_unreadable_label_event_gives_way_to_no_older_one() {
    let cases = fixtures::json("label-events-some-unreadable.json");
    let newest =
        |name: &str| newest_label_event(&fixtures::items(&cases[name]), "openhands-review");
    assert_eq!(
        newest("other_kinds_may_have_any_shape")
            .unwrap()
            .unwrap()
            .id,
        1
    );
    assert!(newest("the_newest_has_no_id").is_err());
    assert!(
        newest("the_newest_has_no_moment")
            .unwrap_err()
            .contains("label event 2")
    );
}

#[test]
fn reviews_of_others_pending_or_of_another_commit_prove_nothing() {
    let case = fixtures::json("reviews-that-prove-nothing.json");
    let proof = Proof {
        login: case["login"].as_str().unwrap(),
        head_sha: case["head_sha"].as_str().unwrap(),
        since: parse_rfc3339(case["claimed_at"].as_str().unwrap()).unwrap(),
    };
    assert_eq!(
        published_review(&fixtures::items(&case["reviews"]), &proof),
        None
    );
}

#[test]
fn the_review_after_the_claim_is_the_proof() {
    let items = fixtures::items(&fixtures::json("reviews.json"));
    let head_sha = "B".repeat(40);
    let review = |login, since| {
        let since = parse_rfc3339(since).unwrap();
        published_review(
            &items,
            &Proof {
                login,
                head_sha: &head_sha,
                since,
            },
        )
        .map(|review| review.id)
    };
    assert_eq!(review("Acme-Bot", "2026-08-18T09:00:00Z"), Some(31));
    assert_eq!(review("acme-bot", "2026-08-18T09:10:00Z"), Some(31));
    assert_eq!(review("acme-bot", "2026-08-18T09:10:01Z"), None);
    assert_eq!(review("acme-bot", "2026-08-18T07:00:00Z"), Some(31));
    assert_eq!(review("", "2026-08-18T07:00:00Z"), None);
}

#[test]
fn a_marker_counts_only_in_a_comment_of_our_own() {
    let items = fixtures::items(&fixtures::json("comments.json"));
    let find = |login, marker| marked_comment(&items, login, marker);
    let ours = "https://github.com/acme/widget/pull/42#issuecomment-40";
    assert_eq!(
        find("ACME-bot", "<!-- marker 42:label:24 ack -->").as_deref(),
        Some(ours)
    );
    assert_eq!(find("acme-bot", "<!-- marker 42:label:24 result -->"), None);
    assert_eq!(find("dev", "<!-- marker 42:label:24 ack -->"), None);
}

#[test]
fn small_answers() {
    let posted = posted_comment(&fixtures::raw("comment-posted.json"));
    assert_eq!(
        posted.as_deref(),
        Ok("https://github.com/acme/widget/pull/42#issuecomment-44")
    );
    assert!(posted_comment(&fixtures::raw("user.json")).is_ok());
    assert_eq!(user(&fixtures::raw("user.json")).as_deref(), Ok("acme-bot"));
    assert!(user(&fixtures::raw("repository.json")).is_err());
    let name = full_name(&fixtures::raw("repository.json"));
    assert_eq!(name, Ok(Some("acme/widget".to_owned())));
}

#[test]
fn the_name_of_an_app_is_that_of_its_bot() {
    for (answer, login) in [
        (
            r#"{"data": {"viewer": {"login": "acme-ci[bot]"}}}"#,
            Some("acme-ci[bot]"),
        ),
        (
            r#"{"data": {"viewer": {"login": "acme-ci"}}}"#,
            Some("acme-ci[bot]"),
        ),
        (r#"{"data": null, "errors": [{"message": "no"}]}"#, None),
        (r#"{"message": "Not Found"}"#, None),
        ("[]", None),
    ] {
        let raw: Item = serde_json::from_str(answer).unwrap();
        assert_eq!(viewer(&raw).as_deref(), login, "{answer}");
    }
}

#[test]
fn fixtures_have_the_published_shapes() {
    let schemas = Schemas::github();
    for (schema, name) in [
        ("pull-request", "pull-from-fork.json"),
        ("pull-request", "pull-merged-author-deleted.json"),
        ("issue-comment", "comment-posted.json"),
        ("full-repository", "repository.json"),
        ("public-user", "user.json"),
    ] {
        assert_eq!(schemas.check(schema, &fixtures::json(name)), [], "{name}");
    }
    for (schema, name) in [
        ("pull-request-simple", "pulls-page.json"),
        ("issue-event", "label-events.json"),
        ("pull-request-review", "reviews.json"),
        ("issue-comment", "comments.json"),
    ] {
        assert_eq!(
            schemas.check_items(schema, &fixtures::json(name)),
            [],
            "{name}"
        );
    }
    let too_long = &fixtures::json("comment-too-long.json")["answer"]["body"];
    assert_eq!(schemas.check("validation-error", too_long), []);
}

#[test]
fn any_member_may_be_anything() {
    let proof = Proof {
        login: "acme-bot",
        head_sha: "b",
        since: 0.0,
    };
    for name in [
        "pulls-one-with-deleted-fork.json",
        "label-events.json",
        "reviews.json",
        "comments.json",
        "user.json",
        "pulls-some-unreadable.json",
    ] {
        let fixture = fixtures::json(name);
        let whole = fixture.as_array().map_or(&fixture, |items| &items[0]);
        for odd in testbed::fixtures::distorted(whole) {
            let items = fixtures::items(&Value::Array(vec![odd]));
            let _ = listed_pull(&items[0], 1);
            let _ = pull_details(&items[0]);
            let _ = base_repo_name(&items);
            let _ = newest_label_event(&items, "bug");
            let _ = published_review(&items, &proof);
            let _ = marked_comment(&items, "acme-bot", "marker");
            let _ = posted_comment(&items[0]);
            let _ = user(&items[0]);
            let _ = viewer(&items[0]);
            let _ = full_name(&items[0]);
        }
    }
}
