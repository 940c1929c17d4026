//! GitHub's objects as JSON, with the fields that its REST description requires: people and files
//! here, repositories and what belongs to pull requests in the modules below.

mod pull;
mod repo;

pub(super) use pull::{comment, event, file, inline, label, pull_full, pull_simple, review};
pub(super) use repo::{Owned, repository, repository_full};

use serde_json::{Value, json};

use super::model::Model;
use crate::coding::base64;

/// A person in short; `null` once the account is gone.
pub(super) fn user(model: &Model, login: Option<&str>) -> Value {
    let Some(person) = login.and_then(|login| model.people.get(&login.to_lowercase())) else {
        return Value::Null;
    };
    let login = &person.login;
    let url = format!("{}/users/{login}", model.api);
    json!({
        "login": login,
        "id": person.id,
        "node_id": node_id("User", person.id),
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", person.id),
        "gravatar_id": "",
        "url": url,
        "html_url": format!("{}/{login}", model.html),
        "followers_url": format!("{url}/followers"),
        "following_url": format!("{url}/following{{/other_user}}"),
        "gists_url": format!("{url}/gists{{/gist_id}}"),
        "starred_url": format!("{url}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{url}/subscriptions"),
        "organizations_url": format!("{url}/orgs"),
        "repos_url": format!("{url}/repos"),
        "events_url": format!("{url}/events{{/privacy}}"),
        "received_events_url": format!("{url}/received_events"),
        "type": if person.bot { "Bot" } else { "User" },
        "user_view_type": "public",
        "site_admin": false,
    })
}

/// The owner of a token, as `GET /user` gives it to a token with the scope `read:user`.
pub(super) fn own_user(model: &Model, login: &str) -> Value {
    let value = user(model, Some(login));
    let more = json!({
        "name": login,
        "company": null,
        "blog": "",
        "location": null,
        "email": null,
        "hireable": null,
        "bio": null,
        "twitter_username": null,
        "public_repos": model.repos.len(),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    });
    with(value, more)
}

/// An object with the members of another one added.
fn with(mut value: Value, more: Value) -> Value {
    if let (Some(members), Value::Object(more)) = (value.as_object_mut(), more) {
        members.extend(more);
    }
    value
}

/// How the author of something stands to the repository.
fn association(owner: &str, login: Option<&str>) -> &'static str {
    match login {
        Some(login) if login.eq_ignore_ascii_case(owner) => "OWNER",
        Some(_) => "CONTRIBUTOR",
        None => "NONE",
    }
}

/// An opaque id that names the kind of an object, as GitHub's do.
fn node_id(kind: &str, id: u64) -> String {
    base64(format!("{:03}:{kind}{id}", kind.len()).as_bytes())
}

/// `{"href": url}`.
fn href(url: &str) -> Value {
    json!({"href": url})
}
