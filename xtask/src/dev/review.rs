//! A labelled pull request gets one review of exactly its commit.

use super::news::only_conversation;
use super::stage::Stage;
use crate::console::{block, say};
use crate::error::TaskError;
use serde_json::json;
use testbed::agent_server::{Pace, Script, Status, Visit};
use testbed::call::Call;
use testbed::github::{GitHub, NewPull, Pull};

const KEY: &str = "state:acme__widget";
const TOKEN: &str = "stand-in-github-token";

pub(super) fn play() -> Result<(), TaskError> {
    let stage = Stage::new("github-pr-reviewer")?;
    let forge = GitHub::start().map_err(TaskError::found)?;
    forge.token(TOKEN, "review-bot");
    stage
        .agent
        .set_secret("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
    let repo = forge.repo("acme/widget");
    let pull = repo.open_pull(
        NewPull::titled("Retry uploads on a 502")
            .body("Uploads fail when the storage service restarts. This retries them.")
            .by("dev")
            .files([
                ("README.md", "# widget\n"),
                ("src/upload.rs", "fn upload() { retry(3) }\n"),
            ]),
    );
    pull.label("openhands-review", "maintainer");
    let config = json!({"repos": ["acme/widget"], "github_api_url": forge.api_url()});
    let reviews = format!(
        "{}/repos/acme/widget/pulls/{}/reviews",
        forge.api_url(),
        pull.number()
    );
    let head = pull.head_sha();
    // The agent publishes its review itself, with the token that its conversation was granted.
    let script = Script::of([Status::Idle, Status::Running, Status::Finished])
        .pace(Pace::Told)
        .does(move |visit: &Visit| {
            let token = visit
                .secrets
                .get("GITHUB_PERSONAL_ACCESS_TOKEN")
                .ok_or("the conversation was not granted the token")?;
            let review = json!({
                "commit_id": head,
                "event": "COMMENT",
                "body": "The retry is sound.\n\nVerdict: no objections\n\n\
                         *This review was written by an AI agent; it may be wrong.*",
            });
            let answer = Call::post(&reviews, &review)
                .bearer(token)
                .header("user-agent", "agent")
                .send()
                .map_err(|error| error.to_string())?;
            if answer.status == 200 {
                Ok(())
            } else {
                Err(answer.text())
            }
        })
        .response("I have published the review.");
    stage.agent.next_script(script);

    stage.show_document("before", KEY);
    stage.run(
        "first run: unpack the commit, start a conversation, acknowledge",
        &config,
    )?;
    stage.expect_status(KEY, "reviews", "active")?;
    stage.show_document("now", KEY);
    show_talk(&pull);
    stage.agent.run_to_end(&only_conversation(&stage)?);
    stage.let_time_pass(KEY, "reviews");
    stage.run(
        "second run: find the published review, close the task, clean up",
        &config,
    )?;
    stage.expect_status(KEY, "reviews", "closed")?;
    stage.show_document("after", KEY);
    show_talk(&pull);
    stage.expect_clean("repositories", KEY)
}

fn show_talk(pull: &Pull) {
    say(&format!("\n   pull request #{} holds:", pull.number()));
    for comment in pull.comments() {
        block(&format!(
            "comment by {}:",
            comment.author.unwrap_or_default()
        ));
        block(&indented(&comment.body));
    }
    for review in pull.reviews() {
        block(&format!(
            "review of {} by {}:",
            review.commit,
            review.author.unwrap_or_default()
        ));
        block(&indented(&review.body));
    }
}

/// Quoted text of a forge.
pub(super) fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("| {line}")).collect();
    lines.join("\n")
}
