//! What can be written, and what is refused.

use super::*;
use crate::github::{InlineComment, ReviewState, Side};

const REVIEWS: &str = "/repos/acme/widget/pulls/1/reviews";
const COMMENTS: &str = "/repos/acme/widget/issues/1/comments";

fn errors(answer: &Answer) -> String {
    answer.json()["errors"].to_string()
}

#[test]
fn a_comment_is_posted_in_the_name_of_the_token() {
    let world = World::new();
    let pull = world.pull();
    world.github.advance(5.0);
    let answer = world.post(COMMENTS, &json!({"body": "Looks fine."}));
    assert_eq!(answer.status, 201);
    fits("issue-comment", &answer.json());
    assert_eq!(answer.header("location"), answer.json()["url"].as_str());
    let posted = &pull.comments()[0];
    assert_eq!(
        (posted.author.as_deref(), posted.body.as_str()),
        (Some("acme-bot"), "Looks fine.")
    );
    assert_eq!(
        (posted.created_at, pull.updated_at()),
        (1_787_043_605.0, 1_787_043_605.0)
    );
}

#[test]
fn a_comment_can_be_too_long_empty_or_nowhere() {
    let world = World::new();
    let pull = world.pull();
    // The limit counts characters, not bytes.
    let fitting = "é".repeat(65_536);
    assert_eq!(world.post(COMMENTS, &json!({"body": fitting})).status, 201);
    let answer = world.post(COMMENTS, &json!({"body": fitting + "!"}));
    assert_eq!(answer.status, 422);
    fits("validation-error", &answer.json());
    assert!(errors(&answer).contains("Body is too long (maximum is 65536 characters)"));
    assert_eq!(world.post(COMMENTS, &json!({"body": " "})).status, 422);
    assert_eq!(world.post(COMMENTS, &json!([])).status, 400);
    assert_eq!(
        world
            .post(
                "/repos/acme/widget/issues/9/comments",
                &json!({"body": "x"})
            )
            .status,
        404
    );
    pull.vanish();
    assert_eq!(world.post(COMMENTS, &json!({"body": "x"})).status, 404);
    assert_eq!(pull.comments().len(), 1);
}

#[test]
fn who_may_not_write_is_refused() {
    let world = World::new();
    world.pull();
    world.github.read_only_token("ghp_read", "reader");
    let post = |token: Option<&str>| {
        let call =
            Call::post(&world.url(COMMENTS), &json!({"body": "x"})).header("user-agent", "t");
        let call = if let Some(token) = token {
            call.bearer(token)
        } else {
            call
        };
        call.send().unwrap()
    };
    assert_eq!(post(None).status, 401);
    let answer = post(Some("ghp_read"));
    assert_eq!(answer.status, 403);
    assert_eq!(
        answer.json()["message"],
        "Resource not accessible by personal access token"
    );
    world.repo.archive();
    assert_eq!(post(Some("ghp_1")).status, 403);
}

#[test]
fn a_review_with_comments_on_lines_is_published() {
    let world = World::new();
    let pull = world.pull();
    let body = json!({
        "commit_id": pull.head_sha(), "event": "COMMENT", "body": "One thing.",
        "comments": [{"path": "src/lib.rs", "line": 2, "side": "RIGHT", "body": "Why one?"}],
    });
    assert!(
        Schemas::github()
            .check_closed("request:create-review", &body)
            .is_empty()
    );
    let answer = world.post(REVIEWS, &body);
    assert_eq!(answer.status, 200);
    fits("pull-request-review", &answer.json());
    assert_eq!(answer.json()["submitted_at"], "2026-08-18T09:00:00Z");
    let reviews = pull.reviews();
    assert_eq!(
        (reviews[0].state, reviews[0].commit.clone()),
        (ReviewState::Commented, pull.head_sha())
    );
    let expected = InlineComment {
        path: "src/lib.rs".to_owned(),
        line: 2,
        side: Side::Right,
        body: "Why one?".to_owned(),
    };
    assert_eq!(reviews[0].comments, [expected]);
    let inline = world.get("/repos/acme/widget/pulls/1/comments").json();
    assert_eq!(inline[0]["pull_request_review_id"], reviews[0].id);
}

#[test]
fn a_line_outside_the_diff_is_refused_and_nothing_is_kept() {
    let world = World::new();
    let pull = world.pull();
    pull.set_diff(
        "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n\
         @@ -10,3 +10,4 @@ fn a()\n x\n-y\n+y1\n+y2\n z\n",
    );
    let review = |comment: Value| {
        let body = json!({"event": "COMMENT", "body": "b", "comments": [comment]});
        world.post(REVIEWS, &body)
    };
    let refused = [
        (
            json!({"path": "src/a.rs", "line": 14, "body": "t"}),
            "Line could not be resolved",
        ),
        (
            json!({"path": "src/a.rs", "line": 9, "body": "t"}),
            "Line could not be resolved",
        ),
        (
            json!({"path": "src/b.rs", "line": 10, "body": "t"}),
            "Path could not be resolved",
        ),
        (
            json!({"path": "src/a.rs", "position": 6, "body": "t"}),
            "Line could not be resolved",
        ),
        (
            json!({"path": "src/a.rs", "line": 12, "start_line": 3, "body": "t"}),
            "Line could",
        ),
        (
            json!({"path": "src/a.rs", "line": 11, "side": "UP", "body": "t"}),
            "invalid value",
        ),
        (json!({"path": "src/a.rs", "line": 11, "body": ""}), "blank"),
        (
            json!({"path": "src/a.rs", "body": "t"}),
            "Line could not be resolved",
        ),
    ];
    for (comment, reason) in refused {
        let answer = review(comment.clone());
        assert_eq!(answer.status, 422, "{comment}");
        fits("validation-error-simple", &answer.json());
        assert!(
            errors(&answer).contains(reason),
            "{comment}: {}",
            errors(&answer)
        );
    }
    assert!(pull.reviews().is_empty());
    for comment in [
        json!({"path": "src/a.rs", "line": 13, "body": "t"}),
        json!({"path": "src/a.rs", "line": 11, "side": "LEFT", "body": "t"}),
        json!({"path": "src/a.rs", "position": 5, "body": "t"}),
        json!({"path": "src/a.rs", "start_line": 11, "line": 12, "body": "t"}),
    ] {
        assert_eq!(review(comment.clone()).status, 200, "{comment}");
    }
}

#[test]
fn a_review_names_a_commit_of_the_pull_request() {
    let world = World::new();
    let pull = world.pull();
    let first = pull.head_sha();
    let review = |sha: &str| {
        world.post(
            REVIEWS,
            &json!({"event": "COMMENT", "body": "b", "commit_id": sha}),
        )
    };
    assert_eq!(review(&"0".repeat(40)).status, 422);
    let second = pull.push_commit([("a", "b")]);
    assert_eq!((review(&first).status, review(&second).status), (200, 200));
    let default = world
        .post(REVIEWS, &json!({"event": "COMMENT", "body": "b"}))
        .json();
    assert_eq!(default["commit_id"], second);
    pull.force_push([("c", "d")]);
    assert_eq!(review(&first).status, 422);
}

#[test]
fn other_reasons_to_refuse_a_review() {
    let world = World::new();
    world.repo.open_pull(NewPull::titled("Own").by("acme-bot"));
    for (body, reason) in [
        (
            json!({"event": "APPROVE", "body": "b"}),
            "Can not approve your own pull request",
        ),
        (
            json!({"event": "REQUEST_CHANGES", "body": "b"}),
            "Can not request changes",
        ),
        (json!({"event": "LGTM", "body": "b"}), "invalid value"),
        (json!({"event": "COMMENT"}), "blank"),
        (
            json!({"event": "COMMENT", "body": "x".repeat(65_537)}),
            "too long",
        ),
    ] {
        let answer = world.post(REVIEWS, &body);
        assert_eq!(answer.status, 422);
        assert!(errors(&answer).contains(reason), "{}", errors(&answer));
    }
}

#[test]
fn a_pending_review_is_seen_by_its_author_only_until_it_is_submitted() {
    let world = World::new();
    let pull = world.pull();
    let pending = world.post(REVIEWS, &json!({"body": "draft"})).json();
    assert_eq!(pending["state"], "PENDING");
    assert!(pending.get("submitted_at").is_none());
    let second = world.post(REVIEWS, &json!({"body": "draft"}));
    assert!(errors(&second).contains("one pending review"));
    let seen = |token: &str| {
        let call = Call::get(&world.url(REVIEWS))
            .bearer(token)
            .header("user-agent", "t");
        call.send().unwrap().json().as_array().unwrap().len()
    };
    world.github.token("ghp_2", "alice");
    assert_eq!((seen("ghp_1"), seen("ghp_2")), (1, 0));
    let submit = format!("{REVIEWS}/{}/events", pending["id"]);
    assert_eq!(
        world.post(&submit, &json!({"event": "COMMENT"})).json()["state"],
        "COMMENTED"
    );
    assert_eq!(seen("ghp_2"), 1);
    assert_eq!(pull.reviews()[0].submitted_at, Some(1_787_043_600.0));
    assert_eq!(
        world.post(&submit, &json!({"event": "COMMENT"})).status,
        404
    );
}

#[test]
fn what_is_not_modelled_is_told() {
    let world = World::new();
    world.pull();
    assert_eq!(
        world
            .call("PUT", "/repos/acme/widget/pulls/1/merge")
            .send()
            .unwrap()
            .status,
        404
    );
    let told = world.github.check().unwrap_err().to_string();
    assert!(
        told.contains("no such call: PUT /repos/acme/widget/pulls/1/merge"),
        "{told}"
    );
}
