//! The calls about a repository's branches and commits.

use serde_json::{Value, json};

use super::model::{DEVELOPER, Model, Project};
use super::render_code;
use super::replies::{not_found, page};
use super::routes::{Caller, no_such_call};
use crate::rest::{Ask, Reply};

/// A call below `/projects/:id/repository`.
pub(super) fn answer(model: &Model, ask: &Ask, caller: Caller, id: u64, rest: &[&str]) -> Reply {
    let Some(project) = model.projects.get(&id) else {
        return not_found("Project");
    };
    let shown = |sha: &str| {
        let commit = project.bare.log(sha, 1).into_iter().next()?;
        Some(render_code::commit(model, project, &commit))
    };
    match rest {
        ["branches"] => {
            let names = project.bare.branches();
            let items = names
                .keys()
                .filter_map(|name| branch(model, project, caller, name));
            page(model, ask, id, "repository/branches", items.collect())
        }
        ["branches", name] => {
            let found = branch(model, project, caller, name);
            found.map_or_else(|| not_found("Branch"), |value| Reply::json(200, value))
        }
        ["commits"] => {
            let name = ask.query("ref_name").map(str::to_owned);
            let name = name
                .or_else(|| project.default_branch.clone())
                .unwrap_or_default();
            let Some(tip) = project.bare.resolve(&name) else {
                return not_found("Commit");
            };
            let commits = project.bare.log(&tip, 1_000);
            let items = commits
                .iter()
                .map(|commit| render_code::commit(model, project, commit));
            page(model, ask, id, "repository/commits", items.collect())
        }
        ["commits", name] => match project.bare.resolve(name).and_then(|sha| shown(&sha)) {
            Some(value) => Reply::json(200, value),
            None => not_found("Commit"),
        },
        ["commits", name, "refs"] => match project.bare.resolve(name) {
            Some(sha) => {
                let names = project.bare.branches_with(&sha);
                let items = names
                    .iter()
                    .map(|name| json!({"type": "branch", "name": name}));
                page(
                    model,
                    ask,
                    id,
                    &format!("repository/commits/{sha}/refs"),
                    items.collect(),
                )
            }
            None => not_found("Commit"),
        },
        ["merge_base"] => {
            let names = ask
                .query
                .iter()
                .filter(|(name, _)| name == "refs[]" || name == "refs");
            let shas: Option<Vec<String>> = names
                .map(|(_, value)| project.bare.resolve(value))
                .collect();
            match shas.as_deref() {
                None => Reply::json(
                    400,
                    json!({"message": "400 Bad request - Could not find ref"}),
                ),
                Some([one, other]) => {
                    let base = project
                        .bare
                        .merge_base(one, other)
                        .and_then(|sha| shown(&sha));
                    base.map_or_else(|| not_found("Merge Base"), |base| Reply::json(200, base))
                }
                Some(_) => {
                    let text = "400 Bad request - Provide at least 2 refs";
                    Reply::json(400, json!({"message": text}))
                }
            }
        }
        ["compare"] => compare(model, ask, project),
        _ => no_such_call(ask),
    }
}

fn branch(model: &Model, project: &Project, caller: Caller, name: &str) -> Option<Value> {
    let tip = project.bare.tip(name)?;
    let commit = project.bare.log(&tip, 1).into_iter().next()?;
    let needed = if project.protected.contains(name) {
        40
    } else {
        DEVELOPER
    };
    Some(render_code::branch(
        model,
        project,
        name,
        &commit,
        caller.level >= needed,
    ))
}

fn compare(model: &Model, ask: &Ask, project: &Project) -> Reply {
    let side = |name: &str| {
        ask.query(name)
            .and_then(|value| project.bare.resolve(value))
    };
    let (Some(from), Some(to)) = (side("from"), side("to")) else {
        return not_found("Ref");
    };
    let straight = ask.query("straight") == Some("true");
    let base = project.bare.merge_base(&from, &to);
    let start = if straight { Some(from.clone()) } else { base };
    let commits = project.bare.log(&format!("{from}..{to}"), 1_000);
    // Oldest first, unlike a log.
    let shown: Vec<Value> = commits
        .iter()
        .rev()
        .map(|commit| render_code::commit(model, project, commit))
        .collect();
    let diffs = start
        .map(|start| project.bare.differences(&start, &to))
        .unwrap_or_default();
    let diffs: Vec<Value> = diffs
        .into_iter()
        .map(|(letter, path)| {
            json!({
                "old_path": path,
                "new_path": path,
                "a_mode": if letter == 'A' { "0" } else { "100644" },
                "b_mode": if letter == 'D' { "0" } else { "100644" },
                "diff": "",
                "new_file": letter == 'A',
                "renamed_file": false,
                "deleted_file": letter == 'D',
            })
        })
        .collect();
    let body = json!({
        "commit": shown.last(),
        "commits": shown,
        "diffs": diffs,
        "compare_timeout": false,
        "compare_same_ref": from == to,
        "web_url": format!("{}/{}/-/compare/{from}...{to}", model.base, project.path),
    });
    Reply::json(200, body)
}
