//! GitLab's objects as JSON, with the fields that its REST documentation shows: users, projects,
//! issues and what hangs on them.

use serde_json::{Value, json};

use super::model::{IssueData, LabelEvent, Model, NoteData, Project, User};

/// A user in short; `null` once the account is gone.
pub(super) fn user(model: &Model, id: Option<u64>) -> Value {
    match id.and_then(|id| model.users.get(&id)) {
        Some(user) => basic(model, user),
        None => Value::Null,
    }
}

fn basic(model: &Model, user: &User) -> Value {
    json!({
        "id": user.id,
        "username": user.username,
        "public_email": null,
        "name": user.name,
        "state": "active",
        "locked": false,
        "avatar_url": null,
        "web_url": format!("{}/{}", model.base, user.username),
    })
}

/// The owner of a token, as `GET /user` gives it.
pub(super) fn own_user(model: &Model, user: &User) -> Value {
    let more = json!({
        "created_at": model.time(1_700_000_000.0),
        "bio": "",
        "location": null,
        "linkedin": "",
        "twitter": "",
        "discord": "",
        "website_url": "",
        "github": "",
        "organization": null,
        "job_title": "",
        "pronouns": null,
        "bot": user.bot,
        "work_information": null,
        "local_time": null,
        "last_sign_in_at": null,
        "confirmed_at": model.time(1_700_000_000.0),
        "last_activity_on": "2026-08-18",
        "email": user.email,
        "commit_email": user.email,
        "theme_id": 3,
        "color_scheme_id": 1,
        "projects_limit": 100_000,
        "current_sign_in_at": null,
        "identities": [],
        "can_create_group": false,
        "can_create_project": false,
        "two_factor_enabled": false,
        "external": false,
        "private_profile": false,
        "namespace_id": user.id,
    });
    with(basic(model, user), more)
}

/// A member of a project with the level that counts.
pub(super) fn member(model: &Model, user: &User, level: u32) -> Value {
    let more = json!({
        "access_level": level,
        "created_at": model.time(1_700_000_000.0),
        "created_by": null,
        "expires_at": null,
        "membership_state": "active",
    });
    with(basic(model, user), more)
}

/// A project, as `caller` sees it.
pub(super) fn project(model: &Model, project: &Project, caller: Option<u64>) -> Value {
    let (path, name) = (&project.path, project.name());
    let web = format!("{}/{path}", model.base);
    let host = url::Url::parse(&model.base).ok();
    let host = host
        .as_ref()
        .and_then(|url| url.host_str())
        .unwrap_or("localhost")
        .to_owned();
    let api = format!("{}/projects/{}", model.api(), project.id);
    let level = |levels: &std::collections::BTreeMap<u64, u32>| {
        let level = caller.and_then(|caller| levels.get(&caller));
        let level = level.filter(|_| !project.roles_unstated);
        level.map(|level| json!({"access_level": level, "notification_level": 3}))
    };
    let open = project.issues.values().filter(|issue| issue.open).count();
    let mut value = json!({
        "id": project.id,
        "description": null,
        "name": name,
        "name_with_namespace": path.replace('/', " / "),
        "path": name,
        "path_with_namespace": path,
        "created_at": model.time(project.created_at),
        "topics": [],
        "tag_list": [],
        "ssh_url_to_repo": format!("git@{host}:{path}.git"),
        "http_url_to_repo": format!("{web}.git"),
        "web_url": web,
        "readme_url": null,
        "forks_count": 0,
        "avatar_url": null,
        "star_count": 0,
        "last_activity_at": model.time(project.last_activity),
        "visibility": if project.public { "public" } else { "private" },
        "namespace": {
            "id": project.id + 1_000_000,
            "name": project.namespace().rsplit('/').next(),
            "path": project.namespace().rsplit('/').next(),
            "kind": "group",
            "full_path": project.namespace(),
            "parent_id": null,
            "avatar_url": null,
            "web_url": format!("{}/groups/{}", model.base, project.namespace()),
        },
        "_links": {
            "self": api,
            "issues": format!("{api}/issues"),
            "merge_requests": format!("{api}/merge_requests"),
            "repo_branches": format!("{api}/repository/branches"),
            "labels": format!("{api}/labels"),
            "events": format!("{api}/events"),
            "members": format!("{api}/members"),
        },
        "permissions": {
            "project_access": level(&project.members),
            "group_access": level(&project.group_members),
        },
    });
    if project.issues_enabled {
        value["open_issues_count"] = json!(open);
    }
    // A project whose repository is switched off has no such member at all.
    if project.repository_enabled {
        value["default_branch"] = json!(project.default_branch);
    }
    with(value, settings(project))
}

fn settings(project: &Project) -> Value {
    let level = |on: bool| if on { "enabled" } else { "disabled" };
    json!({
        "empty_repo": project.default_branch.is_none(),
        "archived": project.archived,
        "issues_enabled": project.issues_enabled,
        "issues_access_level": level(project.issues_enabled),
        "merge_requests_enabled": project.repository_enabled,
        "merge_requests_access_level": level(project.repository_enabled),
        "repository_access_level": level(project.repository_enabled),
        "jobs_enabled": true,
        "wiki_enabled": true,
        "snippets_enabled": true,
        "container_registry_enabled": false,
        "lfs_enabled": true,
        "shared_runners_enabled": true,
        "creator_id": 1,
        "import_status": "none",
        "public_jobs": true,
        "shared_with_groups": [],
        "only_allow_merge_if_pipeline_succeeds": false,
        "only_allow_merge_if_all_discussions_are_resolved": false,
        "remove_source_branch_after_merge": true,
        "request_access_enabled": true,
        "can_create_merge_request_in": true,
        "merge_method": "merge",
        "squash_option": "default_off",
        "autoclose_referenced_issues": true,
    })
}

/// An issue.
pub(super) fn issue(model: &Model, project: &Project, issue: &IssueData) -> Value {
    let (id, iid) = (project.id, issue.iid);
    let api = format!("{}/projects/{id}", model.api());
    json!({
        "id": issue.id,
        "iid": iid,
        "project_id": id,
        "title": issue.title,
        "description": issue.description,
        "state": if issue.open { "opened" } else { "closed" },
        "created_at": model.time(issue.created_at),
        "updated_at": model.time(issue.updated_at),
        "closed_at": issue.closed_at.map(|at| model.time(at)),
        "closed_by": null,
        "labels": project.label_names(issue),
        "milestone": null,
        "assignees": [],
        "assignee": null,
        "author": user(model, Some(issue.author)),
        "type": "ISSUE",
        "issue_type": "issue",
        "user_notes_count": issue.notes.iter().filter(|note| !note.system).count(),
        "merge_requests_count": 0,
        "upvotes": 0,
        "downvotes": 0,
        "due_date": null,
        "confidential": issue.confidential,
        "discussion_locked": null,
        "web_url": format!("{}/{}/-/issues/{iid}", model.base, project.path),
        "time_stats": time_stats(),
        "task_completion_status": {"count": 0, "completed_count": 0},
        "has_tasks": false,
        "blocking_issues_count": 0,
        "_links": {
            "self": format!("{api}/issues/{iid}"),
            "notes": format!("{api}/issues/{iid}/notes"),
            "award_emoji": format!("{api}/issues/{iid}/award_emoji"),
            "project": api,
            "closed_as_duplicate_of": null,
        },
        "references": references(project, '#', iid),
        "severity": "UNKNOWN",
        "moved_to_id": null,
        "service_desk_reply_to": null,
    })
}

/// A label in short.
fn label(id: u64, name: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "description": null,
        "description_html": "",
        "text_color": "#FFFFFF",
        "color": "#6699cc",
        "archived": false,
    })
}

/// A label as the list of a project's labels has it.
pub(super) fn label_full(project: &Project, id: u64, name: &str) -> Value {
    let own = !project.group_labels.contains(&id);
    with(
        label(id, name),
        json!({"subscribed": false, "priority": null, "is_project_label": own}),
    )
}

/// A label event; the label is `null` once it was deleted.
pub(super) fn label_event(
    model: &Model,
    project: &Project,
    issue: &IssueData,
    event: &LabelEvent,
) -> Value {
    let label = project
        .labels
        .get(&event.label)
        .map(|name| label(event.label, name));
    json!({
        "id": event.id,
        "user": user(model, event.user),
        "created_at": model.time(event.at),
        "resource_type": "Issue",
        "resource_id": issue.id,
        "label": label,
        "action": if event.add { "add" } else { "remove" },
    })
}

/// A note.
pub(super) fn note(model: &Model, project: &Project, issue: &IssueData, note: &NoteData) -> Value {
    json!({
        "id": note.id,
        "type": null,
        "body": note.body,
        "author": user(model, note.author),
        "created_at": model.time(note.at),
        "updated_at": model.time(note.at),
        "system": note.system,
        "noteable_id": issue.id,
        "noteable_type": "Issue",
        "project_id": project.id,
        "resolvable": false,
        "confidential": false,
        "internal": false,
        "imported": false,
        "imported_from": "none",
        "noteable_iid": issue.iid,
        "commands_changes": {},
    })
}

pub(super) fn references(project: &Project, sign: char, iid: u64) -> Value {
    let short = format!("{sign}{iid}");
    json!({"short": short, "relative": short, "full": format!("{}{short}", project.path)})
}

pub(super) fn time_stats() -> Value {
    json!({
        "time_estimate": 0,
        "total_time_spent": 0,
        "human_time_estimate": null,
        "human_total_time_spent": null,
    })
}

/// An object with the members of another one added.
pub(super) fn with(mut value: Value, more: Value) -> Value {
    if let (Some(members), Value::Object(more)) = (value.as_object_mut(), more) {
        members.extend(more);
    }
    value
}
