//! Limits, and the faults that the server core brings along.

use super::*;
use crate::faults::Fault;
use crate::github::Refusal;

#[test]
fn every_answer_tells_what_is_left() {
    let world = World::new();
    let answer = world.get("/repos/acme/widget");
    assert_eq!(answer.header("x-ratelimit-limit"), Some("5000"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("4999"));
    assert_eq!(answer.header("x-ratelimit-reset"), Some("1787047200"));
    let answer = world.get("/rate_limit");
    assert_eq!(
        answer.json()["rate"]["used"],
        1,
        "asking for the limit costs nothing"
    );
}

#[test]
fn a_budget_runs_out_and_fills_up() {
    let world = World::new();
    world.github.set_rate_limit(5_000, 1, 1_787_043_700.0);
    assert_eq!(world.get("/user").status, 200);
    let refused = world.get("/user");
    assert_eq!(refused.status, 403);
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(refused.header("x-ratelimit-reset"), Some("1787043700"));
    let message = refused.json()["message"].clone();
    assert_eq!(message, "API rate limit exceeded for user ID 1.");
    world.github.set_now(1_787_043_700.0);
    assert_eq!(world.get("/user").status, 200);
    assert_eq!(world.github.rate_limit_remaining(), 4_999);
}

#[test]
fn limits_are_said_in_three_ways() {
    let world = World::new();
    world.github.refuse_next(1, Refusal::Secondary(Some(57)));
    world.github.refuse_next(1, Refusal::TooMany(Some(30)));
    world
        .github
        .refuse_next(1, Refusal::Exhausted(1_787_211_000));
    world.github.refuse_next(1, Refusal::Secondary(None));
    let seen = |answer: &Answer| {
        (
            answer.status,
            answer.header("retry-after").map(str::to_owned),
            answer.header("x-ratelimit-remaining").map(str::to_owned),
        )
    };
    let left = Some("5000".to_owned());
    assert_eq!(
        seen(&world.get("/user")),
        (403, Some("57".to_owned()), left.clone())
    );
    assert_eq!(
        seen(&world.get("/user")),
        (429, Some("30".to_owned()), left.clone())
    );
    let exhausted = world.get("/user");
    assert_eq!(seen(&exhausted), (403, None, Some("0".to_owned())));
    assert_eq!(exhausted.header("x-ratelimit-reset"), Some("1787211000"));
    assert_eq!(seen(&world.get("/user")), (403, None, left));
    assert_eq!(world.get("/user").status, 200);
}

#[test]
fn an_answer_can_be_lost_after_its_effect() {
    let world = World::new();
    let pull = world.pull();
    let path = "/repos/acme/widget/issues/1/comments";
    let call = world.call("POST", path).json(&json!({"body": "hello"}));
    world
        .github
        .server()
        .faults()
        .add(Fault::answer_lost().on("POST", "/comments"));
    assert!(call.send().is_err());
    assert_eq!(pull.comments().len(), 1);
    world
        .github
        .server()
        .faults()
        .add(Fault::reset().on("POST", "/comments"));
    assert!(call.send().is_err());
    assert_eq!(pull.comments().len(), 1);
}
