//! The calls that write: comments and reviews, with GitHub's reasons to refuse them. Limits and
//! words are from its REST documentation and from answers seen in bug reports.

use serde_json::Value;

use super::diff::changes;
use super::model::{CommentData, InlineComment, Model, ReviewData, ReviewState, Side};
use super::render;
use super::replies::{error, invalid_field, not_found, unprocessable};
use super::routes::Caller;
use crate::rest::{Ask, Reply};

/// Characters in a body at most.
pub(super) const MAX_BODY_CHARS: usize = 65_536;

const REVIEWS: &str = "/rest/pulls/reviews#create-a-review-for-a-pull-request";
const COMMENTS: &str = "/rest/issues/comments#create-an-issue-comment";

/// A call that writes, by somebody who may.
pub(super) fn post(
    model: &mut Model,
    ask: &Ask,
    caller: &Caller,
    repo: u64,
    rest: &[&str],
) -> Reply {
    let login = caller.login.clone().unwrap_or_default();
    let number = match rest {
        [_, number, ..] => number.parse().unwrap_or(0),
        _ => 0,
    };
    let there = model
        .repos
        .get(&repo)
        .and_then(|repo| repo.pulls.get(&number));
    let known = there.is_some_and(|pull| !pull.vanished);
    let body = ask.json();
    match (ask.method.as_str(), rest) {
        ("POST", ["issues" | "pulls", ..]) if !known => not_found(),
        ("POST", ["issues" | "pulls", ..]) if !body.is_object() => {
            error(400, "Problems parsing JSON", "/rest")
        }
        ("POST", ["issues", _, "comments"]) => comment(model, repo, number, &login, &body),
        ("POST", ["pulls", _, "reviews"]) => review(model, repo, number, &login, &body),
        ("POST", ["pulls", _, "reviews", id, "events"]) => {
            submit(model, repo, number, &login, id, &body)
        }
        _ => not_found().unexpected(format!("no such call: {} {}", ask.method, ask.path)),
    }
}

fn comment(model: &mut Model, repo: u64, number: u64, login: &str, body: &Value) -> Reply {
    let text = body["body"].as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return invalid_field("IssueComment", "data", "Body cannot be blank", COMMENTS);
    }
    if text.chars().count() > MAX_BODY_CHARS {
        let message = format!("Body is too long (maximum is {MAX_BODY_CHARS} characters)");
        return invalid_field("IssueComment", "data", &message, COMMENTS);
    }
    let id = model.add_comment(repo, number, Some(login), text);
    let made = model.repos.get(&repo).and_then(|repo| {
        let comment = repo
            .pulls
            .get(&number)?
            .comments
            .iter()
            .find(|comment| comment.id == id)?;
        Some(render::comment(model, repo, number, comment))
    });
    match made {
        Some(value) => {
            let address = value["url"].as_str().unwrap_or_default().to_owned();
            Reply::json(201, value).header("location", address)
        }
        None => not_found(),
    }
}

fn review(model: &mut Model, repo: u64, number: u64, login: &str, body: &Value) -> Reply {
    let Some(pull) = model
        .repos
        .get(&repo)
        .and_then(|repo| repo.pulls.get(&number))
    else {
        return not_found();
    };
    let state = match state(body, pull.author.as_deref() == Some(login)) {
        Ok(state) => state,
        Err(message) => return unprocessable(&message, REVIEWS),
    };
    let text = body["body"].as_str().unwrap_or_default();
    if text.chars().count() > MAX_BODY_CHARS {
        let message = format!("Body is too long (maximum is {MAX_BODY_CHARS} characters)");
        return unprocessable(&message, REVIEWS);
    }
    let commit = body["commit_id"]
        .as_str()
        .unwrap_or(&pull.head_sha)
        .to_owned();
    if !pull.heads.contains(&commit) {
        return unprocessable("commit_id is not part of the pull request", REVIEWS);
    }
    let pending = |one: &ReviewData| {
        one.state == ReviewState::Pending && one.author.as_deref() == Some(login)
    };
    if pull.reviews.iter().any(pending) {
        let message = "User can only have one pending review per pull request";
        return unprocessable(message, REVIEWS);
    }
    let comments = match inline_comments(model, repo, number, &body["comments"]) {
        Ok(comments) => comments,
        Err(message) => return unprocessable(&message, REVIEWS),
    };
    if text.is_empty() && comments.is_empty() && state != ReviewState::Approved {
        return unprocessable("Body can't be blank", REVIEWS);
    }
    let review = ReviewData {
        id: model.fresh_id(),
        author: Some(login.to_owned()),
        state,
        body: text.to_owned(),
        commit,
        submitted_at: (state != ReviewState::Pending).then(|| model.now()),
        comments,
    };
    let id = review.id;
    model.add_review(repo, number, review);
    shown(model, repo, number, id)
}

/// Publishes a review that was pending.
fn submit(model: &mut Model, repo: u64, number: u64, login: &str, id: &str, body: &Value) -> Reply {
    let now = model.now();
    let id: u64 = id.parse().unwrap_or(0);
    let Some(pull) = model
        .repos
        .get_mut(&repo)
        .and_then(|repo| repo.pulls.get_mut(&number))
    else {
        return not_found();
    };
    let state = match state(body, pull.author.as_deref() == Some(login)) {
        Ok(state) => state,
        Err(message) => return unprocessable(&message, REVIEWS),
    };
    let found = pull.reviews.iter_mut().find(|review| {
        review.id == id
            && review.state == ReviewState::Pending
            && review.author.as_deref() == Some(login)
    });
    let Some(review) = found else {
        return not_found();
    };
    review.state = state;
    review.submitted_at = Some(now);
    if let Some(text) = body["body"].as_str() {
        text.clone_into(&mut review.body);
    }
    pull.updated_at = now;
    shown(model, repo, number, id)
}

fn shown(model: &Model, repo: u64, number: u64, id: u64) -> Reply {
    let value = model.repos.get(&repo).and_then(|repo| {
        let review = repo
            .pulls
            .get(&number)?
            .reviews
            .iter()
            .find(|review| review.id == id)?;
        Some(render::review(model, repo, number, review))
    });
    value.map_or_else(not_found, |value| Reply::json(200, value))
}

/// The state that an `event` asks for; none leaves the review pending.
fn state(body: &Value, own: bool) -> Result<ReviewState, String> {
    let state = match body.get("event") {
        None | Some(Value::Null) => ReviewState::Pending,
        Some(event) => match event.as_str().unwrap_or_default() {
            "COMMENT" => ReviewState::Commented,
            "APPROVE" => ReviewState::Approved,
            "REQUEST_CHANGES" => ReviewState::ChangesRequested,
            _ => return Err("Variable $event was provided invalid value".to_owned()),
        },
    };
    match state {
        ReviewState::Approved if own => Err("Can not approve your own pull request".to_owned()),
        ReviewState::ChangesRequested if own => {
            Err("Can not request changes on your own pull request".to_owned())
        }
        state => Ok(state),
    }
}

/// The inline comments of a review, each on a line of the diff.
fn inline_comments(
    model: &Model,
    repo: u64,
    number: u64,
    comments: &Value,
) -> Result<Vec<InlineComment>, String> {
    let Some(comments) = comments.as_array() else {
        return Ok(Vec::new());
    };
    let Some(repo) = model.repos.get(&repo) else {
        return Ok(Vec::new());
    };
    let Some(pull) = repo.pulls.get(&number) else {
        return Ok(Vec::new());
    };
    let files = changes(repo, pull);
    let one = |comment: &Value| {
        let path = comment["path"].as_str().unwrap_or_default();
        let file = files.iter().find(|file| file.path == path);
        let file = file.ok_or_else(|| "Path could not be resolved".to_owned())?;
        let side = match comment["side"].as_str() {
            None | Some("RIGHT") => Side::Right,
            Some("LEFT") => Side::Left,
            Some(_) => return Err("Variable $side was provided invalid value".to_owned()),
        };
        let text = comment["body"].as_str().unwrap_or_default();
        if text.is_empty() {
            return Err("Pull request review thread body can't be blank".to_owned());
        }
        let inside = |line: &Value| {
            line.as_u64()
                .is_some_and(|n| file.lines.contains(&(side, n)))
        };
        let line = match (&comment["line"], &comment["position"]) {
            (line, _) if inside(line) => line.as_u64(),
            (Value::Null, position) => position
                .as_u64()
                .filter(|at| (1..=file.positions).contains(at)),
            _ => None,
        };
        let start = &comment["start_line"];
        let line = line.filter(|_| start.is_null() || inside(start));
        let line = line.ok_or_else(|| "Line could not be resolved".to_owned())?;
        Ok(InlineComment {
            path: path.to_owned(),
            line,
            side,
            body: text.to_owned(),
        })
    };
    comments.iter().map(one).collect()
}

impl Model {
    /// Adds a comment, as a caller or a verb does.
    pub(super) fn add_comment(
        &mut self,
        repo: u64,
        number: u64,
        author: Option<&str>,
        body: &str,
    ) -> u64 {
        let (id, at) = (self.fresh_id(), self.now());
        if let Some(login) = author {
            self.person(login);
        }
        if let Some(pull) = self
            .repos
            .get_mut(&repo)
            .and_then(|repo| repo.pulls.get_mut(&number))
        {
            pull.updated_at = at;
            let author = author.map(str::to_owned);
            pull.comments.push(CommentData {
                id,
                author,
                body: body.to_owned(),
                at,
            });
        }
        id
    }

    /// Adds a review, as a caller or a verb does.
    pub(super) fn add_review(&mut self, repo: u64, number: u64, review: ReviewData) {
        let now = self.now();
        if let Some(login) = &review.author {
            self.person(login);
        }
        if let Some(pull) = self
            .repos
            .get_mut(&repo)
            .and_then(|repo| repo.pulls.get_mut(&number))
        {
            pull.updated_at = now;
            pull.reviews.push(review);
        }
    }
}
