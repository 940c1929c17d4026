//! From a request to the answer: who asks, whether the budget allows it, which repository is meant
//! (by name, by number, by a former name), and which call it is. Everything here is a plain
//! function of the model and the request.

use serde_json::json;

use super::model::{Barrier, Model, Repo};
use super::replies::{conditional, error, not_found};
use super::{posts, reads, render};
use crate::rest::{Ask, Reply};

/// Versions of the API that GitHub knows.
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// Login of the token's owner; `None` without a token.
    pub(super) login: Option<String>,
    /// Whether the token may write.
    pub(super) writes: bool,
    /// Whether the token is an installation's.
    pub(super) app: bool,
}

/// The answer to a request, as GitHub would give it.
pub(super) fn answer(model: &mut Model, ask: &Ask, prefix: &str) -> Reply {
    let now = model.now();
    model.requests += 1;
    let reply = refused(model, ask).unwrap_or_else(|| {
        let caller = match caller(model, ask) {
            Ok(caller) => caller,
            Err(reply) => return reply,
        };
        let known = caller.login.is_some();
        let reply = conditional(ask, dispatch(model, ask, prefix, &caller));
        // Nothing new costs nothing, but only for those who say who they are.
        if reply.status == 304 && known {
            model.limits.give_back();
        }
        reply
    });
    let request_id = format!("C0DE:{:04X}", model.requests);
    model
        .limits
        .headers(now, reply)
        .header("x-github-request-id", request_id)
        .header("x-github-media-type", "github.v3; format=json")
        .header("x-github-api-version-selected", "2022-11-28")
}

/// What is wrong with a request whatever it asks for.
fn refused(model: &mut Model, ask: &Ask) -> Option<Reply> {
    if ask.header("user-agent").is_none_or(str::is_empty) {
        let message = "Request forbidden by administrative rules. Please make sure your request \
                       has a User-Agent header.";
        return Some(error(403, message, "/rest").unexpected("no User-Agent header"));
    }
    if let Some(version) = ask.header("x-github-api-version")
        && !VERSIONS.contains(&version)
    {
        let message = format!("{version} is not a supported version");
        return Some(error(400, &message, "/rest").unexpected("unknown API version"));
    }
    let now = model.now();
    if ask.path.ends_with("/rate_limit") {
        None
    } else {
        model.limits.take(now)
    }
}

/// Who the `Authorization` header says it is.
fn caller(model: &Model, ask: &Ask) -> Result<Caller, Reply> {
    let Some(header) = ask.header("authorization") else {
        return Ok(Caller {
            login: None,
            writes: false,
            app: false,
        });
    };
    let token = header.split_once(' ').map_or("", |(scheme, token)| {
        let known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token");
        if known { token.trim() } else { "" }
    });
    match model.tokens.get(token) {
        Some(token) => Ok(Caller {
            login: Some(token.login.clone()),
            writes: token.writes,
            app: token.app,
        }),
        None => Err(error(401, "Bad credentials", "/rest")),
    }
}

fn dispatch(model: &mut Model, ask: &Ask, prefix: &str, caller: &Caller) -> Reply {
    let graphql = prefix.strip_suffix("/v3").unwrap_or(prefix);
    if ask.path == format!("{graphql}/graphql") {
        return viewer(ask, caller);
    }
    let Some(segments) = ask.segments(prefix) else {
        return not_found().unexpected("outside the API's path");
    };
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    match (ask.method.as_str(), parts.as_slice()) {
        ("GET", ["user"]) if caller.app => error(
            403,
            "Resource not accessible by integration",
            "/rest/users/users",
        ),
        ("GET", ["user"]) => match &caller.login {
            Some(login) => Reply::json(200, render::own_user(model, login)),
            None => error(401, "Requires authentication", "/rest/users/users"),
        },
        ("GET", ["rate_limit"]) => {
            let overview = model.limits.overview(model.now());
            Reply::json(200, overview)
        }
        (_, ["repos", owner, name, rest @ ..]) => {
            if let Some(repo) = model.repo_named(owner, name) {
                let id = repo.id;
                return guarded(model, ask, caller, id, rest);
            }
            match model.moved.get(&format!("{owner}/{name}").to_lowercase()) {
                Some(id) => moved(model, ask, *id, rest),
                None => not_found(),
            }
        }
        (_, ["repositories", id, rest @ ..]) => match id.parse() {
            Ok(id) if model.repos.contains_key(&id) => guarded(model, ask, caller, id, rest),
            _ => not_found(),
        },
        _ => not_found().unexpected(format!("no such call: {} {}", ask.method, ask.path)),
    }
}

/// The one question to GraphQL that is modelled: whose token this is.
fn viewer(ask: &Ask, caller: &Caller) -> Reply {
    let Some(login) = &caller.login else {
        return error(401, "Requires authentication", "/graphql");
    };
    let query = ask.json()["query"].as_str().unwrap_or_default().to_owned();
    let words: Vec<&str> = query
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    match words.as_slice() {
        ["viewer", "login"] | ["query", "viewer", "login"] => {
            Reply::json(200, json!({"data": {"viewer": {"login": login}}}))
        }
        _ => Reply::json(200, json!({"errors": [{"message": "not modelled"}]}))
            .unexpected(format!("no such query: {query}")),
    }
}

/// A former name leads to the number: reads with 301, writes with 307.
fn moved(model: &Model, ask: &Ask, id: u64, rest: &[&str]) -> Reply {
    let mut address = format!("{}/repositories/{id}", model.api);
    for part in rest {
        address.push('/');
        address.push_str(&crate::coding::encode(part));
    }
    if !ask.raw_query.is_empty() {
        address = format!("{address}?{}", ask.raw_query);
    }
    let (status, message) = if ask.reads() {
        (301, "Moved Permanently")
    } else {
        (307, "Temporary Redirect")
    };
    let body = json!({
        "message": message,
        "url": address,
        "documentation_url": "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects",
    });
    Reply::json(status, body).header("location", address)
}

/// Whether the caller gets at the repository at all, then the call.
fn guarded(model: &mut Model, ask: &Ask, caller: &Caller, id: u64, rest: &[&str]) -> Reply {
    let Some(repo) = model.repos.get(&id) else {
        return not_found();
    };
    let login = caller.login.as_ref().map(|login| login.to_lowercase());
    let member = login.is_some_and(|login| {
        repo.members.contains(&login) || repo.owner.eq_ignore_ascii_case(&login)
    });
    if repo.private && !member {
        return not_found();
    }
    if let Some(reply) = barrier(repo) {
        return reply;
    }
    if ask.reads() {
        return reads::read(model, ask, caller, id, rest);
    }
    if caller.login.is_none() {
        return error(401, "Requires authentication", "/rest");
    }
    if !caller.writes {
        return error(
            403,
            "Resource not accessible by personal access token",
            "/rest",
        );
    }
    if repo.archived {
        return error(403, "Repository was archived so is read-only.", "/rest");
    }
    posts::post(model, ask, caller, id, rest)
}

fn barrier(repo: &Repo) -> Option<Reply> {
    let owner = &repo.owner;
    match repo.barrier {
        Barrier::None => None,
        Barrier::Sso => {
            let message = "Resource protected by organization SAML enforcement. You must grant \
                           your Personal Access token access to this organization.";
            let address = format!("https://github.com/orgs/{owner}/sso?authorization_request=AAAA");
            let reply = error(
                403,
                message,
                "/articles/authenticating-to-a-github-organization",
            );
            Some(reply.header("x-github-sso", format!("required; url={address}")))
        }
        Barrier::IpAllowList => {
            let message = format!(
                "Although you appear to have the correct authorization credentials, the \
                 `{owner}` organization has an IP allow list enabled, and your IP address is not \
                 permitted to access this resource."
            );
            Some(error(403, &message, "/rest"))
        }
        Barrier::Legal => Some(error(451, "Repository access blocked", "/rest")),
    }
}
