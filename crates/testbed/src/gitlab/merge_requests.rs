//! The calls about merge requests: lists, single ones, and opening one with GitLab's reasons to
//! refuse it. Which reason gets which status is as in its helper for merge request errors: 409 for
//! a branch that has one open already (422 on older instances), 422 for branches that are the same,
//! 400 for everything about a field.

use serde_json::{Value, json};

use super::issues::body;
use super::model::{DEVELOPER, MergeRequestData, Model, Project};
use super::replies::{error, forbidden, missing, not_found, page};
use super::routes::{Caller, no_such_call};
use super::{quick_actions, render, render_code};
use crate::rest::{Ask, Reply};

/// Characters in a title at most.
const MAX_TITLE_CHARS: usize = 255;
/// Characters in a description at most.
const MAX_DESCRIPTION_CHARS: usize = 1_048_576;

/// A call below `/projects/:id/merge_requests`.
pub(super) fn answer(
    model: &mut Model,
    ask: &Ask,
    caller: Caller,
    id: u64,
    rest: &[&str],
) -> Reply {
    match (ask.method.as_str(), rest) {
        ("GET", []) => {
            let Some(project) = model.projects.get(&id) else {
                return not_found("Project");
            };
            let found: Vec<u64> = matching(ask, project).iter().map(|one| one.iid).collect();
            let items = found
                .iter()
                .filter_map(|iid| shown(model, id, *iid))
                .collect();
            page(model, ask, id, "merge_requests", items)
        }
        ("GET", [iid]) => single(model, id, iid.parse().unwrap_or(0)),
        ("GET", [iid, "commits"]) => {
            let iid: u64 = iid.parse().unwrap_or(0);
            let Some(project) = model.projects.get(&id) else {
                return not_found("Project");
            };
            let Some(request) = project.merge_requests.get(&iid) else {
                return not_found("");
            };
            let range = format!("{}..{}", request.target_branch, request.sha);
            let commits = project.bare.log(&range, 500);
            let items = commits
                .iter()
                .map(|commit| render_code::commit(model, project, commit));
            page(
                model,
                ask,
                id,
                &format!("merge_requests/{iid}/commits"),
                items.collect(),
            )
        }
        ("POST", []) => open(model, ask, caller, id),
        _ => no_such_call(ask),
    }
}

/// The merge requests that a list asks for: the newest first unless said otherwise.
fn matching<'a>(ask: &Ask, project: &'a Project) -> Vec<&'a MergeRequestData> {
    let state = ask.query("state").unwrap_or("all");
    let is = |name: &str, value: &str| ask.query(name).is_none_or(|wanted| wanted == value);
    let mut found: Vec<&MergeRequestData> = project
        .merge_requests
        .values()
        .filter(|one| state == "all" || one.state == state)
        .filter(|one| is("source_branch", &one.source_branch))
        .filter(|one| is("target_branch", &one.target_branch))
        .collect();
    let updated = ask.query("order_by") == Some("updated_at");
    let key = |one: &MergeRequestData| {
        if updated {
            one.updated_at
        } else {
            one.created_at
        }
    };
    found.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.iid.cmp(&b.iid)));
    if ask.query("sort") != Some("asc") {
        found.reverse();
    }
    found
}

/// One merge request as it is shown now: the answers about a fresh one lack its commit as long as
/// the instance is said to prepare it.
fn shown(model: &mut Model, project: u64, iid: u64) -> Option<Value> {
    let request = model
        .projects
        .get_mut(&project)?
        .merge_requests
        .get_mut(&iid)?;
    let prepared = request.unprepared == 0;
    request.unprepared = request.unprepared.saturating_sub(1);
    let project = model.projects.get(&project)?;
    Some(render_code::merge_request(
        model,
        project,
        project.merge_requests.get(&iid)?,
        prepared,
    ))
}

fn single(model: &mut Model, id: u64, iid: u64) -> Reply {
    let Some(value) = shown(model, id, iid) else {
        return not_found("");
    };
    let prepared = !value["sha"].is_null();
    let found = model.projects.get(&id).and_then(|project| {
        let request = project.merge_requests.get(&iid)?;
        let base = project
            .bare
            .merge_base(&request.target_branch, &request.sha)?;
        Some((
            base,
            project.bare.tip(&request.target_branch)?,
            request.sha.clone(),
        ))
    });
    let refs = found
        .filter(|_| prepared)
        .map(|(base, start, head)| json!({"base_sha": base, "head_sha": head, "start_sha": start}));
    let more = json!({
        "subscribed": false,
        "changes_count": prepared.then_some("1"),
        "latest_build_started_at": null,
        "latest_build_finished_at": null,
        "first_deployed_to_production_at": null,
        "pipeline": null,
        "head_pipeline": null,
        "diff_refs": refs,
        "merge_error": null,
        "user": {"can_merge": true},
    });
    Reply::json(200, render::with(value, more))
}

fn open(model: &mut Model, ask: &Ask, caller: Caller, id: u64) -> Reply {
    let body = body(ask);
    if caller.level < DEVELOPER {
        return forbidden();
    }
    if let Some(reply) = missing(&body, &["title", "source_branch", "target_branch"]) {
        return reply;
    }
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let (title, source, target) = (text("title"), text("source_branch"), text("target_branch"));
    let description = body["description"].as_str().map(str::to_owned);
    if let Some(reply) = refused(model, id, &title, description.as_deref(), &source, &target) {
        return reply;
    }
    let (kept, commands) = quick_actions::split(description.as_deref().unwrap_or_default());
    let told = quick_actions::run(model, id, 0, &commands);
    let iid = model.open_merge_request(
        id,
        caller.user.unwrap_or(0),
        &title,
        description.map(|_| kept).as_deref(),
        (&source, &target),
    );
    let reply = match single(model, id, iid) {
        reply if reply.status == 200 => Reply {
            status: 201,
            ..reply
        },
        reply => reply,
    };
    match told {
        Some(told) => reply.unexpected(told),
        None => reply,
    }
}

/// Why a merge request is not opened.
fn refused(
    model: &mut Model,
    id: u64,
    title: &str,
    description: Option<&str>,
    source: &str,
    target: &str,
) -> Option<Reply> {
    let older = model.older;
    let project = model.projects.get_mut(&id)?;
    let field = |name: &str, reason: String| Some(error(400, json!({ name: [reason] })));
    if source == target {
        let reason = "You can't use same project/branch for source and target";
        return Some(error(422, json!([reason])));
    }
    if project.refused_now > 0 {
        project.refused_now -= 1;
        return field("source_branch", "does not exist".to_owned());
    }
    if project.bare.tip(source).is_none() {
        return field("source_branch", "does not exist".to_owned());
    }
    if project.bare.tip(target).is_none() {
        return field("target_branch", "does not exist".to_owned());
    }
    if title.trim().is_empty() {
        return field("title", "can't be blank".to_owned());
    }
    if title.chars().count() > MAX_TITLE_CHARS {
        let reason = format!("is too long (maximum is {MAX_TITLE_CHARS} characters)");
        return field("title", reason);
    }
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION_CHARS) {
        let reason = format!("is too long (maximum is {MAX_DESCRIPTION_CHARS} characters)");
        return field("description", reason);
    }
    let open = project.merge_requests.values().find(|one| {
        one.state == "opened" && one.source_branch == source && one.target_branch == target
    })?;
    let reason = format!(
        "Another open merge request already exists for this source branch: !{}",
        open.iid
    );
    Some(error(if older { 422 } else { 409 }, json!([reason])))
}

impl Model {
    /// Opens a merge request, as a caller or a verb does, and returns its number. Issues that the
    /// description names are told.
    pub(super) fn open_merge_request(
        &mut self,
        project: u64,
        author: u64,
        title: &str,
        description: Option<&str>,
        (source, target): (&str, &str),
    ) -> u64 {
        let (id, now) = (self.fresh_id(), self.now());
        let Some(found) = self.projects.get_mut(&project) else {
            return 0;
        };
        let iid = found.merge_requests.keys().last().copied().unwrap_or(0) + 1;
        let request = MergeRequestData {
            id,
            iid,
            title: title.to_owned(),
            description: description.map(str::to_owned),
            author,
            state: "opened",
            source_branch: source.to_owned(),
            target_branch: target.to_owned(),
            sha: found.bare.tip(source).unwrap_or_default(),
            created_at: now,
            updated_at: now,
            ended_at: None,
            unprepared: found.unprepared_answers,
        };
        found.merge_requests.insert(iid, request);
        let named = named_issues(description.unwrap_or_default());
        let named: Vec<u64> = named
            .into_iter()
            .filter(|issue| found.issues.contains_key(issue))
            .collect();
        for issue in named {
            let text = format!("mentioned in merge request !{iid}");
            self.add_note(project, issue, Some(author), &text, true);
        }
        iid
    }
}

/// The issues that a text names as `#7`.
pub(super) fn named_issues(text: &str) -> Vec<u64> {
    let digits = |part: &str| {
        let end = part
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(part.len());
        part[..end].parse().ok()
    };
    let mut found: Vec<u64> = text.split('#').skip(1).filter_map(digits).collect();
    found.sort_unstable();
    found.dedup();
    found
}
