//! Pull requests and what hangs on them as JSON: labels, events, comments, reviews, changed files.

use serde_json::{Value, json};

use super::{Owned, association, href, node_id, repository, user, with};
use crate::calendar;
use crate::github::diff::{FileDiff, changes};
use crate::github::model::{
    CommentData, EventData, InlineComment, Model, PullData, Repo, ReviewData, ReviewState, Side,
    Source,
};

/// A pull request as it stands in a list: without counts of files and lines.
pub(in crate::github) fn pull_simple(model: &Model, repo: &Repo, pull: &PullData) -> Value {
    let full_name = repo.full_name();
    let base = format!("{}/repos/{full_name}", model.api);
    let url = format!("{base}/pulls/{}", pull.number);
    let issue = format!("{base}/issues/{}", pull.number);
    let html = format!("{}/{full_name}/pull/{}", model.html, pull.number);
    let (comments, reviews) = (format!("{issue}/comments"), format!("{url}/comments"));
    let review = format!("{base}/pulls/comments{{/number}}");
    let (commits, statuses) = (
        format!("{url}/commits"),
        format!("{base}/statuses/{}", pull.head_sha),
    );
    json!({
        "url": url,
        "id": pull.id,
        "node_id": node_id("PullRequest", pull.id),
        "html_url": html,
        "diff_url": format!("{html}.diff"),
        "patch_url": format!("{html}.patch"),
        "issue_url": issue,
        "commits_url": commits,
        "review_comments_url": reviews,
        "review_comment_url": review,
        "comments_url": comments,
        "statuses_url": statuses,
        "number": pull.number,
        "state": if pull.open { "open" } else { "closed" },
        "locked": false,
        "active_lock_reason": null,
        "title": pull.title,
        "user": user(model, pull.author.as_deref()),
        "body": pull.body,
        "labels": pull.labels.iter().map(|label| self::label(&base, repo, label)).collect::<Vec<_>>(),
        "milestone": null,
        "created_at": calendar::seconds(pull.created_at),
        "updated_at": calendar::seconds(pull.updated_at),
        "closed_at": pull.closed_at.map(calendar::seconds),
        "merged_at": pull.merged_at.map(calendar::seconds),
        "merge_commit_sha": pull.merged_at.map(|_| pull.head_sha.clone()),
        "assignee": null,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "head": head(model, repo, pull),
        "base": {
            "label": format!("{}:{}", repo.owner, pull.base_ref),
            "ref": pull.base_ref,
            "sha": pull.base_sha,
            "user": user(model, Some(&repo.owner)),
            "repo": repository(model, &whole(repo)),
        },
        "_links": {
            "self": href(&url),
            "html": href(&html),
            "issue": href(&issue),
            "comments": href(&comments),
            "review_comments": href(&reviews),
            "review_comment": href(&review),
            "commits": href(&commits),
            "statuses": href(&statuses),
        },
        "author_association": association(&repo.owner, pull.author.as_deref()),
        "auto_merge": null,
        "draft": pull.draft,
    })
}

/// A pull request alone, with its counts.
pub(in crate::github) fn pull_full(model: &Model, repo: &Repo, pull: &PullData) -> Value {
    let value = pull_simple(model, repo, pull);
    let (files, additions, deletions) = pull.size.unwrap_or_else(|| {
        let files = changes(repo, pull);
        let sum = |count: fn(&FileDiff) -> u64| files.iter().map(count).sum();
        (
            files.len() as u64,
            sum(|file| file.additions),
            sum(|file| file.deletions),
        )
    });
    let inline: usize = pull
        .reviews
        .iter()
        .map(|review| review.comments.len())
        .sum();
    let more = json!({
        "merged": pull.merged_at.is_some(),
        "mergeable": pull.open.then_some(true),
        "rebaseable": pull.open.then_some(true),
        "mergeable_state": if pull.draft { "draft" } else { "clean" },
        "merged_by": pull.merged_at.map(|_| user(model, Some(&repo.owner))),
        "comments": pull.comments.len(),
        "review_comments": inline,
        "maintainer_can_modify": false,
        "commits": repo.distance(&pull.base_sha, &pull.head_sha),
        "additions": additions,
        "deletions": deletions,
        "changed_files": files,
    });
    with(value, more)
}

fn head(model: &Model, repo: &Repo, pull: &PullData) -> Value {
    let (owner, repository) = match &pull.source {
        Source::Same => (repo.owner.as_str(), repository(model, &whole(repo))),
        Source::Fork { full_name, id } => {
            let (owner, name) = full_name.split_once('/').unwrap_or((full_name, &repo.name));
            let fork = Owned {
                id: *id,
                owner,
                name,
                fork: true,
                stem: repo,
            };
            (owner, repository(model, &fork))
        }
        Source::DeletedFork { owner } => (owner.as_str(), Value::Null),
    };
    json!({
        "label": format!("{owner}:{}", pull.head_ref),
        "ref": pull.head_ref,
        "sha": pull.head_sha,
        "user": user(model, Some(owner)),
        "repo": repository,
    })
}

fn whole(repo: &Repo) -> Owned<'_> {
    Owned {
        id: repo.id,
        owner: &repo.owner,
        name: &repo.name,
        fork: false,
        stem: repo,
    }
}

/// A label; `base` is the address of its repository.
pub(in crate::github) fn label(base: &str, repo: &Repo, key: &str) -> Value {
    let (id, name) = repo.labels.get(key).cloned().unwrap_or((0, key.to_owned()));
    json!({
        "id": id,
        "node_id": node_id("Label", id),
        "url": format!("{base}/labels/{}", crate::coding::encode(&name)),
        "name": name,
        "color": "ededed",
        "default": false,
        "description": null,
    })
}

/// An event on a pull request.
pub(in crate::github) fn event(model: &Model, repo: &Repo, event: &EventData) -> Value {
    let mut value = json!({
        "id": event.id,
        "node_id": node_id("LabeledEvent", event.id),
        "url": format!("{}/repos/{}/issues/events/{}", model.api, repo.full_name(), event.id),
        "actor": user(model, event.actor.as_deref()),
        "event": event.kind,
        "commit_id": null,
        "commit_url": null,
        "created_at": calendar::seconds(event.at),
        "performed_via_github_app": null,
    });
    if let Some(name) = &event.label {
        value["label"] = json!({"name": name, "color": "ededed"});
    }
    value
}

/// A comment in the conversation.
pub(in crate::github) fn comment(
    model: &Model,
    repo: &Repo,
    number: u64,
    comment: &CommentData,
) -> Value {
    let base = format!("{}/repos/{}", model.api, repo.full_name());
    let html = format!("{}/{}/pull/{number}", model.html, repo.full_name());
    json!({
        "url": format!("{base}/issues/comments/{}", comment.id),
        "html_url": format!("{html}#issuecomment-{}", comment.id),
        "issue_url": format!("{base}/issues/{number}"),
        "id": comment.id,
        "node_id": node_id("IssueComment", comment.id),
        "user": user(model, comment.author.as_deref()),
        "created_at": calendar::seconds(comment.at),
        "updated_at": calendar::seconds(comment.at),
        "author_association": association(&repo.owner, comment.author.as_deref()),
        "body": comment.body,
        "performed_via_github_app": null,
    })
}

/// A review. One that is pending has no time of submission.
pub(in crate::github) fn review(
    model: &Model,
    repo: &Repo,
    number: u64,
    review: &ReviewData,
) -> Value {
    let url = format!("{}/repos/{}/pulls/{number}", model.api, repo.full_name());
    let html = format!("{}/{}/pull/{number}", model.html, repo.full_name());
    let html = format!("{html}#pullrequestreview-{}", review.id);
    let mut value = json!({
        "id": review.id,
        "node_id": node_id("PullRequestReview", review.id),
        "user": user(model, review.author.as_deref()),
        "body": review.body,
        "state": review.state.as_str(),
        "html_url": html,
        "pull_request_url": url,
        "author_association": association(&repo.owner, review.author.as_deref()),
        "_links": {"html": href(&html), "pull_request": href(&url)},
        "commit_id": review.commit,
    });
    if let Some(at) = review
        .submitted_at
        .filter(|_| review.state != ReviewState::Pending)
    {
        value["submitted_at"] = json!(calendar::seconds(at));
    }
    value
}

/// A comment of a review on a line.
pub(in crate::github) fn inline(
    model: &Model,
    review: &ReviewData,
    index: u64,
    comment: &InlineComment,
) -> Value {
    json!({
        "id": review.id * 1_000 + index,
        "pull_request_review_id": review.id,
        "path": comment.path,
        "line": comment.line,
        "side": if comment.side == Side::Left { "LEFT" } else { "RIGHT" },
        "commit_id": review.commit,
        "body": comment.body,
        "user": user(model, review.author.as_deref()),
        "created_at": review.submitted_at.map(calendar::seconds),
    })
}

/// A changed file.
pub(in crate::github) fn file(
    model: &Model,
    repo: &Repo,
    pull: &PullData,
    file: &FileDiff,
) -> Value {
    let name = repo.full_name();
    let place = format!("{}/{}", pull.head_sha, file.path);
    let mut value = json!({
        "sha": file.blob,
        "filename": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
        "blob_url": format!("{}/{name}/blob/{place}", model.html),
        "raw_url": format!("{}/{name}/raw/{place}", model.html),
        "contents_url": format!(
            "{}/repos/{name}/contents/{}?ref={}", model.api, file.path, pull.head_sha
        ),
    });
    if !file.patch.is_empty() {
        value["patch"] = json!(file.patch);
    }
    value
}
