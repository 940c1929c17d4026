//! The reviewer: a label becomes one review, which the agent publishes itself.

use lifecycle::document::REVIEW;
use serde_json::{Value, json};
use testbed::github::{GitHub, NewPull, Pull, ReviewState};
use testbed::scripted_llm::{Asked, Play, Turn};

use super::{A_MINUTE, Stage, Subject, between};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

pub(in crate::e2e) const SECRET: &str = "GITHUB_PERSONAL_ACCESS_TOKEN";
pub(in crate::e2e) const TOKEN: &str = "ghp_of_the_stand_in";
pub(in crate::e2e) const BOT: &str = "review-bot";
pub(in crate::e2e) const LABEL: &str = "openhands-review";
const BODY: &str = "The retry is sound.";

/// Shows it.
pub(in crate::e2e) fn run(stage: &mut Stage, facts: &mut Facts) -> Result<(), E2eError> {
    published(stage, facts)?;
    deleted(stage, facts)
}

/// A GitHub with a labelled pull request in `repo`, and its token among the secrets of the agent
/// server.
pub(in crate::e2e) fn labelled(stage: &Stage, repo: &str) -> Result<(GitHub, Pull), E2eError> {
    let forge = GitHub::start()?;
    forge.token(TOKEN, BOT);
    stage.services.set_secret(SECRET, TOKEN)?;
    let files = [
        ("README.md", "# widget\n"),
        ("src/upload.rs", "fn upload() { retry(3) }\n"),
    ];
    let pull = forge.repo(repo).open_pull(
        NewPull::titled("Retry uploads on a 502")
            .by("dev")
            .files(files),
    );
    pull.label(LABEL, "maintainer");
    Ok((forge, pull))
}

/// The configuration for that repository, and the key of its document.
pub(in crate::e2e) fn configured(forge: &GitHub, repo: &str) -> (Value, String) {
    let config = json!({"repos": [repo], "github_api_url": forge.api_url()});
    (config, format!("state:{}", repo.replace('/', "__")))
}

/// What an agent does that takes everything from its prompt: where to publish, for which commit,
/// and how a command gets the token.
pub(in crate::e2e) fn publishes(asked: &Asked) -> Turn {
    let url = between(&asked.prompt, "`POST ", "` with");
    let head = between(&asked.prompt, "\"commit_id\": \"", "\"");
    let authorization = between(&asked.prompt, "`curl --header ", " …`");
    let review = json!({"commit_id": head, "event": "COMMENT", "body": BODY});
    Turn::terminal(&format!(
        "curl --silent --show-error --fail-with-body --request POST --header {authorization} \
         --header 'Accept: application/vnd.github+json' --data '{review}' '{url}'"
    ))
}

/// The play of an agent that publishes its review.
pub(in crate::e2e) fn play() -> Play {
    Play::new()
        .think(publishes)
        .finish("I have published the review.")
}

/// What the pull request holds in the end, whatever happened on the way.
pub(in crate::e2e) fn one_of_each(facts: &mut Facts, pull: &Pull) {
    let (comments, reviews) = (pull.comments(), pull.reviews());
    facts.check(
        "review: there is one review, by the token's user, published, at exactly the labelled commit",
        matches!(reviews.as_slice(), [review]
            if review.author.as_deref() == Some(BOT)
                && review.state == ReviewState::Commented
                && review.commit == pull.head_sha()
                && review.body == BODY),
        &format!("{reviews:?}"),
    );
    facts.check(
        "review: there is one acknowledgement and no other comment",
        matches!(comments.as_slice(), [comment]
            if comment.author.as_deref() == Some(BOT)
                && comment.body.contains(&pull.head_sha()[..7])),
        &format!("{comments:?}"),
    );
}

fn published(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let repo = "acme/widget";
    let (forge, pull) = labelled(stage, repo)?;
    stage.llm.play_for(repo, play());
    let (config, key) = configured(&forge, repo);
    let subject = Subject::new(stage, &REVIEW, &key, config)?;

    let first = subject.run()?;
    first.check(facts, "review, first run");
    let (_, record) = subject.record()?;
    let short = &pull.head_sha()[..12];
    let workspace = first.directory.join(format!(
        "repositories/acme__widget/pr-{}-{short}",
        pull.number()
    ));
    facts.check(
        "review, first run: it is active for that commit, with its conversation and checkout",
        first.counts() == (1, 0)
            && record["status"] == "active"
            && record["head_sha"] == json!(pull.head_sha())
            && record["workspace_dir"] == json!(workspace)
            && workspace.join("src/upload.rs").is_file(),
        &record.to_string(),
    );
    first.names_conversation(facts, &record["conversation_id"]);
    let ended = subject.wait_for_agent()?;
    facts.check(
        "review: the agent publishes with what its prompt tells it, and finishes",
        ended == "finished" && pull.reviews().len() == 1,
        &format!("{ended}; {:?}", forge.server().log().lines()),
    );
    let asked = stage
        .llm
        .server()
        .log()
        .matching("POST", "/chat/completions");
    facts.check(
        "review: the model never sees the token",
        !asked.iter().any(|request| request.text().contains(TOKEN)),
        "it was in a request",
    );

    let before = forge.server().log().len();
    let second = subject.run()?;
    second.check(facts, "review, second run, at once");
    facts.check(
        "review: nothing is collected in the first 15 seconds",
        second.counts() == (0, 0),
        &second.to_string(),
    );
    let requests = forge.server().log().len() - before;
    facts.note(format!(
        "review: a poll while the agent works makes {requests} requests to the forge"
    ));
    subject.date_back(A_MINUTE)?;
    let third = subject.run()?;
    third.check(facts, "review, third run");
    one_of_each(facts, &pull);
    subject.ended(facts, "closed")?;
    forge.check()?;
    Ok(())
}

/// A conversation that a person deletes before its result is collected.
fn deleted(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let repo = "acme/deleted";
    let (forge, pull) = labelled(stage, repo)?;
    stage.llm.play_for(repo, Play::new().finish("Never read."));
    let (config, key) = configured(&forge, repo);
    let subject = Subject::new(stage, &REVIEW, &key, config)?;
    subject
        .run()?
        .check(facts, "review, a run whose conversation is then deleted");
    let (_, record) = subject.record()?;
    let conversations = subject.conversations()?;
    let id = record["conversation_id"].as_str().unwrap_or_default();
    subject.wait_for_agent()?;
    stage.services.delete_conversation(id)?;
    subject.date_back(A_MINUTE)?;
    let second = subject.run()?;
    second.check(facts, "review, the run after that");
    let (_, record) = subject.record()?;
    let checkout = record["workspace_dir"].is_null();
    facts.check(
        "review: a deleted conversation ends the task and releases its checkout",
        conversations == [id] && checkout && second.counts() == (0, 1),
        &second.to_string(),
    );
    facts.note(format!(
        "review: the task of a deleted conversation is {}, with {} comments in all",
        record["status"],
        pull.comments().len()
    ));
    Ok(())
}
