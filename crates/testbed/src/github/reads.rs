//! The calls that read what belongs to a repository: pull requests and what hangs on them, as a
//! list or alone.

use serde_json::Value;

use super::diff::{changes, unified};
use super::model::{Model, PullData, Repo, ReviewState};
use super::replies::{error, not_found, page};
use super::routes::Caller;
use super::{contents, render};
use crate::calendar;
use crate::rest::{Ask, Reply};

/// The calls that read.
pub(super) fn read(model: &mut Model, ask: &Ask, caller: &Caller, id: u64, rest: &[&str]) -> Reply {
    if let ["tarball", reference @ ..] = rest {
        let reference = reference.join("/");
        return contents::tarball(model, id, (!reference.is_empty()).then_some(&reference));
    }
    let Some(repo) = model.repos.get(&id) else {
        return not_found();
    };
    let list = |items: Vec<Value>| {
        page(
            ask,
            &format!("{}/repositories/{id}/{}", model.api, rest.join("/")),
            items,
        )
    };
    let pull = |number: &str| {
        let number: u64 = number.parse().ok()?;
        repo.pulls.get(&number).filter(|pull| !pull.vanished)
    };
    match rest {
        [] => Reply::json(200, render::repository_full(model, repo, caller.writes)),
        ["labels", name] if repo.labels.contains_key(&name.to_lowercase()) => {
            let base = format!("{}/repos/{}", model.api, repo.full_name());
            Reply::json(200, render::label(&base, repo, &name.to_lowercase()))
        }
        ["labels", _] => not_found(),
        ["pulls"] => match pulls(ask, repo) {
            Ok(pulls) => list(
                pulls
                    .iter()
                    .map(|pull| render::pull_simple(model, repo, pull))
                    .collect(),
            ),
            Err(reply) => reply,
        },
        ["pulls", number] => match pull(number) {
            Some(pull)
                if ask
                    .header("accept")
                    .is_some_and(|kind| kind.contains("diff")) =>
            {
                let kind = "application/vnd.github.diff; charset=utf-8";
                Reply::bytes(200, kind, unified(&changes(repo, pull)))
            }
            Some(pull) => Reply::json(200, render::pull_full(model, repo, pull)),
            None => not_found(),
        },
        ["pulls", number, "files"] => match pull(number) {
            Some(pull) => list(
                changes(repo, pull)
                    .iter()
                    .map(|f| render::file(model, repo, pull, f))
                    .collect(),
            ),
            None => not_found(),
        },
        ["pulls", number, "reviews"] => match pull(number) {
            Some(pull) => {
                // A review that is pending is its author's own business.
                let seen = pull.reviews.iter().filter(|review| {
                    review.state != ReviewState::Pending || review.author == caller.login
                });
                list(
                    seen.map(|r| render::review(model, repo, pull.number, r))
                        .collect(),
                )
            }
            None => not_found(),
        },
        ["pulls", number, "comments"] => match pull(number) {
            Some(pull) => {
                let published = pull
                    .reviews
                    .iter()
                    .filter(|r| r.state != ReviewState::Pending);
                let comments = published.flat_map(|review| {
                    (1..)
                        .zip(&review.comments)
                        .map(move |(index, c)| (review, index, c))
                });
                list(
                    comments
                        .map(|(r, index, c)| render::inline(model, r, index, c))
                        .collect(),
                )
            }
            None => not_found(),
        },
        ["issues", number, "events"] => match pull(number) {
            Some(pull) => list(
                pull.events
                    .iter()
                    .map(|e| render::event(model, repo, e))
                    .collect(),
            ),
            None => not_found(),
        },
        ["issues", number, "comments"] => match pull(number) {
            Some(pull) => {
                // Both times are written the same way, so their text compares as they do.
                let since = ask.query("since").unwrap_or_default();
                let late = pull
                    .comments
                    .iter()
                    .filter(|c| calendar::seconds(c.at).as_str() >= since);
                list(
                    late.map(|c| render::comment(model, repo, pull.number, c))
                        .collect(),
                )
            }
            None => not_found(),
        },
        ["contents", path @ ..] => contents::read(model, ask, repo, &path.join("/")),
        _ => not_found().unexpected(format!("no such call: {} {}", ask.method, ask.path)),
    }
}

/// The pull requests that a listing asks for, in its order.
fn pulls<'a>(ask: &Ask, repo: &'a Repo) -> Result<Vec<&'a PullData>, Reply> {
    let state = ask.query("state").unwrap_or("open");
    let sort = ask.query("sort").unwrap_or("created");
    if !["open", "closed", "all"].contains(&state)
        || !["created", "updated", "popularity", "long-running"].contains(&sort)
    {
        return Err(error(422, "Validation Failed", "/rest/pulls/pulls"));
    }
    // By age the newest comes first unless said otherwise, by any other measure the lowest.
    let ascending = match ask.query("direction") {
        Some(direction) => direction == "asc",
        None => sort != "created",
    };
    let base = ask.query("base");
    let head = ask
        .query("head")
        .and_then(|head| head.split_once(':'))
        .map(|(_, branch)| branch);
    let mut found: Vec<&PullData> = repo
        .pulls
        .values()
        .filter(|pull| !pull.vanished)
        .filter(|pull| state == "all" || pull.open == (state == "open"))
        .filter(|pull| base.is_none_or(|base| base == pull.base_ref))
        .filter(|pull| head.is_none_or(|head| head == pull.head_ref))
        .collect();
    let key = |pull: &PullData| {
        if sort == "updated" {
            pull.updated_at
        } else {
            pull.created_at
        }
    };
    found.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.number.cmp(&b.number)));
    if !ascending {
        found.reverse();
    }
    Ok(found)
}
