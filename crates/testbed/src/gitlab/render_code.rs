//! Merge requests, branches and commits as JSON, with the fields that GitLab's REST documentation
//! shows.

use serde_json::{Value, json};

use super::history::Commit;
use super::model::{MergeRequestData, Model, Project};
use super::render::{references, time_stats, user, with};
use crate::coding::encode;

/// A merge request; while GitLab prepares it, it has no commit.
pub(super) fn merge_request(
    model: &Model,
    project: &Project,
    request: &MergeRequestData,
    prepared: bool,
) -> Value {
    let draft = is_draft(&request.title);
    let ended = |state| {
        (request.state == state)
            .then_some(request.ended_at)
            .flatten()
    };
    let (merged_at, closed_at) = (ended("merged"), ended("closed"));
    let status = match (prepared, request.state, draft) {
        (false, _, _) => "preparing",
        (true, "opened", true) => "draft_status",
        (true, "opened", false) => "mergeable",
        _ => "not_open",
    };
    let mut value = json!({
        "id": request.id,
        "iid": request.iid,
        "project_id": project.id,
        "title": request.title,
        "description": request.description,
        "state": request.state,
        "created_at": model.time(request.created_at),
        "updated_at": model.time(request.updated_at),
        "merged_by": null,
        "merge_user": null,
        "merged_at": merged_at.map(|at| model.time(at)),
        "closed_by": null,
        "closed_at": closed_at.map(|at| model.time(at)),
        "target_branch": request.target_branch,
        "source_branch": request.source_branch,
        "user_notes_count": 0,
        "upvotes": 0,
        "downvotes": 0,
        "author": user(model, Some(request.author)),
        "assignees": [],
        "assignee": null,
        "reviewers": [],
        "source_project_id": project.id,
        "target_project_id": project.id,
        "labels": [],
        "draft": draft,
        "work_in_progress": draft,
        "milestone": null,
        "merge_when_pipeline_succeeds": false,
        "merge_status": if prepared { "can_be_merged" } else { "preparing" },
        "detailed_merge_status": status,
        "sha": prepared.then_some(&request.sha),
        "merge_commit_sha": merged_at.map(|_| &request.sha),
        "squash_commit_sha": null,
        "prepared_at": prepared.then(|| model.time(request.created_at)),
    });
    let web = format!(
        "{}/{}/-/merge_requests/{}",
        model.base, project.path, request.iid
    );
    let more = json!({
        "discussion_locked": null,
        "should_remove_source_branch": null,
        "force_remove_source_branch": true,
        "reference": format!("!{}", request.iid),
        "references": references(project, '!', request.iid),
        "web_url": web,
        "time_stats": time_stats(),
        "squash": false,
        "squash_on_merge": false,
        "task_completion_status": {"count": 0, "completed_count": 0},
        "has_conflicts": false,
        "blocking_discussions_resolved": true,
        "approvals_before_merge": null,
    });
    value = with(value, more);
    value
}

/// Whether a title makes a merge request a draft.
pub(super) fn is_draft(title: &str) -> bool {
    let title = title.trim_start().to_lowercase();
    ["draft:", "[draft]", "(draft)"]
        .iter()
        .any(|mark| title.starts_with(mark))
}

/// A branch with its commit.
pub(super) fn branch(
    model: &Model,
    project: &Project,
    name: &str,
    tip: &Commit,
    pushes: bool,
) -> Value {
    let protected = project.protected.contains(name);
    json!({
        "name": name,
        "commit": commit(model, project, tip),
        "merged": false,
        "protected": protected,
        "developers_can_push": false,
        "developers_can_merge": false,
        "can_push": pushes,
        "default": project.default_branch.as_deref() == Some(name),
        "web_url": format!("{}/{}/-/tree/{}", model.base, project.path, encode(name)),
    })
}

/// A commit.
pub(super) fn commit(model: &Model, project: &Project, commit: &Commit) -> Value {
    json!({
        "id": commit.sha,
        "short_id": commit.sha.get(..8),
        "created_at": commit.committed_at,
        "parent_ids": commit.parents,
        "title": commit.message.lines().next(),
        "message": commit.message,
        "author_name": commit.author_name,
        "author_email": commit.author_email,
        "authored_date": commit.authored_at,
        "committer_name": commit.committer_name,
        "committer_email": commit.committer_email,
        "committed_date": commit.committed_at,
        "trailers": {},
        "extended_trailers": {},
        "web_url": format!("{}/{}/-/commit/{}", model.base, project.path, commit.sha),
    })
}
