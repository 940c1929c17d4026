//! From a request to the answer: who asks, whether the budget allows it, which project is meant (by
//! number, by its whole path encoded as one part, by a former path), and which call it is.

use serde_json::json;

use super::model::{GUEST, Model};
use super::replies::{conditional, error, forbidden, not_found, page};
use super::{issues, merge_requests, render, repositories};
use crate::rest::{Ask, Reply};

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    /// The user; `None` without a token.
    pub(super) user: Option<u64>,
    /// The user's level in the project asked about; 0 for a stranger.
    pub(super) level: u32,
}

/// The answer to a request, as GitLab would give it.
pub(super) fn answer(model: &mut Model, ask: &Ask, prefix: &str) -> Reply {
    let now = model.now();
    let refused = model.limits.take(now);
    let reply = refused.unwrap_or_else(|| match caller(model, ask) {
        Ok(caller) => conditional(ask, dispatch(model, ask, prefix, caller)),
        Err(reply) => reply,
    });
    let observed = format!(
        "01STANDIN{:010}",
        model.limits.limit - model.limits.remaining
    );
    model
        .limits
        .headers(now, reply)
        .header("x-request-id", observed)
}

/// Who the token says it is.
fn caller(model: &Model, ask: &Ask) -> Result<Caller, Reply> {
    let bearer = ask
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    let Some(token) = ask.header("private-token").or(bearer) else {
        return Ok(Caller {
            user: None,
            level: 0,
        });
    };
    let Some(token) = model.tokens.get(token) else {
        return Err(error(401, "401 Unauthorized"));
    };
    if token.revoked {
        let body = json!({
            "error": "invalid_token",
            "error_description":
                "Token was revoked. You have to re-authorize from the user.",
        });
        return Err(Reply::json(401, body));
    }
    if !token.writes && !ask.reads() {
        let body = json!({
            "error": "insufficient_scope",
            "error_description":
                "The request requires higher privileges than provided by the access token.",
            "scope": "api",
        });
        return Err(Reply::json(403, body));
    }
    Ok(Caller {
        user: Some(token.user),
        level: 0,
    })
}

fn dispatch(model: &mut Model, ask: &Ask, prefix: &str, caller: Caller) -> Reply {
    let Some(segments) = ask.segments(&format!("{prefix}/api/v4")) else {
        return not_found("").unexpected("outside the API's path");
    };
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    match (ask.method.as_str(), parts.as_slice()) {
        ("GET", ["user"]) => match caller.user.and_then(|user| model.users.get(&user)) {
            Some(user) => Reply::json(200, render::own_user(model, user)),
            None => error(401, "401 Unauthorized"),
        },
        ("GET", ["version" | "metadata"]) if caller.user.is_some() => {
            let version = if model.older { "13.12.15" } else { "19.5.0" };
            Reply::json(200, json!({"version": version, "revision": "0123456789a"}))
        }
        (_, ["projects", name, rest @ ..]) => {
            let by_number = name
                .parse()
                .ok()
                .filter(|id| model.projects.contains_key(id));
            if let Some(id) = by_number.or_else(|| model.project_named(name).map(|found| found.id))
            {
                return guarded(model, ask, caller, id, rest);
            }
            match model.moved.get(&name.to_lowercase()) {
                Some(id) => moved(model, ask, caller, *id, rest),
                None => not_found("Project"),
            }
        }
        _ => no_such_call(ask),
    }
}

/// What a call gets that is not modelled.
pub(super) fn no_such_call(ask: &Ask) -> Reply {
    let reply = Reply::json(404, json!({"error": "404 Not Found"}));
    reply.unexpected(format!("no such call: {} {}", ask.method, ask.path))
}

/// A former path leads to the number, for reads; everything else is refused.
fn moved(model: &Model, ask: &Ask, caller: Caller, id: u64, rest: &[&str]) -> Reply {
    let Some(project) = model.projects.get(&id) else {
        return not_found("Project");
    };
    let level = caller.user.and_then(|user| project.level(user));
    if level.is_none() && !project.public {
        return not_found("Project");
    }
    if !ask.reads() {
        return error(405, "Non GET methods are not allowed for moved projects");
    }
    let mut address = format!("{}/projects/{id}", model.api());
    for part in rest {
        address.push('/');
        address.push_str(&crate::coding::encode(part));
    }
    if !ask.raw_query.is_empty() {
        address = format!("{address}?{}", ask.raw_query);
    }
    Reply::bytes(
        301,
        "text/plain",
        format!("This resource has been moved permanently to {address}."),
    )
    .header("location", address)
}

/// Whether the caller gets at the project at all, then the call.
fn guarded(model: &mut Model, ask: &Ask, caller: Caller, id: u64, rest: &[&str]) -> Reply {
    let Some(project) = model.projects.get(&id) else {
        return not_found("Project");
    };
    let level = caller.user.and_then(|user| project.level(user));
    if level.is_none() && !project.public {
        return if caller.user.is_none() && !ask.reads() {
            error(401, "401 Unauthorized")
        } else {
            not_found("Project")
        };
    }
    let caller = Caller {
        level: level.unwrap_or(0),
        ..caller
    };
    if !ask.reads() {
        if caller.user.is_none() {
            return error(401, "401 Unauthorized");
        }
        if project.archived || (caller.level < GUEST && !project.public) {
            return forbidden();
        }
    }
    match (ask.method.as_str(), rest) {
        ("GET", []) => Reply::json(200, render::project(model, project, caller.user)),
        ("GET", ["members", "all", user]) => {
            let user = user
                .parse()
                .ok()
                .and_then(|user: u64| model.users.get(&user));
            match user.and_then(|user| Some((user, project.level(user.id)?))) {
                Some((user, level)) => Reply::json(200, render::member(model, user, level)),
                None => not_found(""),
            }
        }
        ("GET", ["labels"]) => {
            let wanted = ask.query("search").unwrap_or_default().to_lowercase();
            let found = project
                .labels
                .iter()
                .filter(|(_, name)| name.to_lowercase().contains(&wanted));
            let mut found: Vec<(&u64, &String)> = found.collect();
            found.sort_by_key(|(_, name)| name.to_lowercase());
            let items = found
                .into_iter()
                .map(|(id, name)| render::label_full(project, *id, name));
            page(model, ask, id, "labels", items.collect())
        }
        (_, ["issues", ..]) if !project.issues_enabled => forbidden(),
        (_, ["issues", rest @ ..]) => issues::answer(model, ask, caller, id, rest),
        (_, ["merge_requests" | "repository", ..]) if !project.repository_enabled => forbidden(),
        (_, ["merge_requests", rest @ ..]) => merge_requests::answer(model, ask, caller, id, rest),
        ("GET", ["repository", rest @ ..]) => repositories::answer(model, ask, caller, id, rest),
        _ => no_such_call(ask),
    }
}
