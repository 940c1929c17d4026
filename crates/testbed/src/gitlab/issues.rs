//! The calls about issues: lists with their filters, label events, notes. A note that starts a line
//! with a command is carried out as GitLab does, and told as unexpected: nobody here wants that.

use serde_json::{Value, json};

use super::model::{IssueData, Model, NoteData, Project, REPORTER};
use super::replies::{error, missing, not_found, page};
use super::routes::{Caller, no_such_call};
use super::{quick_actions, render};
use crate::rest::{Ask, Reply};

/// Characters in a note at most.
const MAX_NOTE_CHARS: usize = 1_000_000;

/// A call below `/projects/:id/issues`.
pub(super) fn answer(
    model: &mut Model,
    ask: &Ask,
    caller: Caller,
    id: u64,
    rest: &[&str],
) -> Reply {
    let Some(project) = model.projects.get(&id) else {
        return not_found("Project");
    };
    let list = |rest: &str, items: Vec<Value>| page(model, ask, id, rest, items);
    let issue = |iid: &str| {
        let iid: u64 = iid.parse().ok()?;
        project.issues.get(&iid).filter(|issue| sees(caller, issue))
    };
    match (ask.method.as_str(), rest) {
        ("GET", []) => match issues(ask, caller, project) {
            Ok(issues) => {
                let items = issues
                    .iter()
                    .map(|issue| render::issue(model, project, issue));
                list("issues", items.collect())
            }
            Err(reply) => reply,
        },
        ("GET", [iid]) => match issue(iid) {
            Some(issue) => {
                let more = json!({"subscribed": false});
                Reply::json(
                    200,
                    render::with(render::issue(model, project, issue), more),
                )
            }
            None => not_found(""),
        },
        ("GET", [iid, "resource_label_events"]) => match issue(iid) {
            Some(issue) => {
                let events = issue.events.iter();
                let items = events.map(|event| render::label_event(model, project, issue, event));
                list(
                    &format!("issues/{iid}/resource_label_events"),
                    items.collect(),
                )
            }
            None => not_found(""),
        },
        ("GET", [iid, "notes"]) => match issue(iid) {
            Some(issue) => list(
                &format!("issues/{iid}/notes"),
                notes(model, ask, project, issue),
            ),
            None => not_found(""),
        },
        ("POST", [iid, "notes"]) => match issue(iid).map(|issue| issue.iid) {
            Some(iid) => post_note(model, ask, caller, id, iid),
            None => not_found(""),
        },
        _ => no_such_call(ask),
    }
}

/// Whether a caller gets to see an issue: confidential ones are for reporters and their author.
fn sees(caller: Caller, issue: &IssueData) -> bool {
    !issue.confidential || caller.level >= REPORTER || caller.user == Some(issue.author)
}

/// The issues that a list asks for, in its order. A label is found in its own spelling only, and
/// all labels that are named must be there; a comma parts them.
fn issues<'a>(
    ask: &Ask,
    caller: Caller,
    project: &'a Project,
) -> Result<Vec<&'a IssueData>, Reply> {
    let state = ask.query("state").unwrap_or("all");
    if !["opened", "closed", "all"].contains(&state) {
        return Err(Reply::json(
            400,
            json!({"error": "state does not have a valid value"}),
        ));
    }
    let order = ask.query("order_by").unwrap_or("created_at");
    let sort = ask.query("sort").unwrap_or("desc");
    let wanted: Vec<&str> = ask
        .query("labels")
        .map(|labels| {
            labels
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .collect()
        })
        .unwrap_or_default();
    let fits = |issue: &&IssueData| {
        if !sees(caller, issue) {
            return false;
        }
        let names = project.label_names(issue);
        let labelled = match wanted.as_slice() {
            ["None"] => names.is_empty(),
            ["Any"] => !names.is_empty(),
            wanted => wanted
                .iter()
                .all(|name| names.iter().any(|have| have == name)),
        };
        labelled && (state == "all" || issue.open == (state == "opened"))
    };
    let key = |issue: &IssueData| {
        if order == "updated_at" {
            issue.updated_at
        } else {
            issue.created_at
        }
    };
    let mut found: Vec<&IssueData> = project.issues.values().filter(fits).collect();
    found.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.iid.cmp(&b.iid)));
    if sort != "asc" {
        found.reverse();
    }
    Ok(found)
}

/// The notes of an issue: the newest first unless said otherwise.
fn notes(model: &Model, ask: &Ask, project: &Project, issue: &IssueData) -> Vec<Value> {
    let filter = ask.query("activity_filter").unwrap_or("all_notes");
    let shown = issue.notes.iter().filter(|note| match filter {
        "only_comments" => !note.system,
        "only_activity" => note.system,
        _ => true,
    });
    let mut items: Vec<Value> = shown
        .map(|note| render::note(model, project, issue, note))
        .collect();
    if ask.query("sort") != Some("asc") {
        items.reverse();
    }
    items
}

fn post_note(model: &mut Model, ask: &Ask, caller: Caller, project: u64, iid: u64) -> Reply {
    let body = body(ask);
    if let Some(reply) = missing(&body, &["body"]) {
        return reply;
    }
    let text = body["body"].as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return error(400, "400 Bad request - Note {:note=>[\"can't be blank\"]}");
    }
    if text.chars().count() > MAX_NOTE_CHARS {
        let reason = format!("is too long (maximum is {MAX_NOTE_CHARS} characters)");
        return error(
            400,
            format!("400 Bad request - Note {{:note=>[\"{reason}\"]}}"),
        );
    }
    let (left, commands) = quick_actions::split(text);
    let told = quick_actions::run(model, project, iid, &commands);
    if left.trim().is_empty() {
        let answer = json!({"commands_changes": {}, "summary": ["Commands were applied."]});
        return Reply::json(202, answer).unexpected(told.unwrap_or_default());
    }
    let id = model.add_note(project, iid, caller.user, &left, false);
    let made = model.projects.get(&project).and_then(|project| {
        let issue = project.issues.get(&iid)?;
        let note = issue.notes.iter().find(|note| note.id == id)?;
        Some(render::note(model, project, issue, note))
    });
    let reply = made.map_or_else(|| not_found(""), |value| Reply::json(201, value));
    match told {
        Some(told) => reply.unexpected(told),
        None => reply,
    }
}

/// A body as JSON or as a form, both of which GitLab takes.
pub(super) fn body(ask: &Ask) -> Value {
    let form = ask
        .header("content-type")
        .is_some_and(|kind| kind.contains("form-urlencoded"));
    if !form {
        return ask.json();
    }
    let pairs = url::form_urlencoded::parse(&ask.body);
    Value::Object(
        pairs
            .map(|(name, value)| (name.into_owned(), json!(value)))
            .collect(),
    )
}

impl Model {
    /// Adds a note, as a caller, a verb or GitLab itself does.
    pub(super) fn add_note(
        &mut self,
        project: u64,
        iid: u64,
        author: Option<u64>,
        body: &str,
        system: bool,
    ) -> u64 {
        let (id, at) = (self.fresh_id(), self.now());
        let project = self.projects.get_mut(&project);
        if let Some(issue) = project.and_then(|project| project.issues.get_mut(&iid)) {
            issue.updated_at = at;
            issue.notes.push(NoteData {
                id,
                author,
                body: body.to_owned(),
                at,
                system,
            });
        }
        id
    }
}
