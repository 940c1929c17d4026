//! The project, and the accounts that have to do with it.

use forge_http::answers::read;
use lifecycle::ports::{Identity, Project};
use lifecycle::text::one_line;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The project. `configured` is the path that was asked for; another one in the answer (but for
/// case) means that the project was moved.
pub(crate) fn project(value: &RawValue, configured: &str) -> Result<Project, String> {
    #[derive(Deserialize)]
    #[serde(expecting = "a project")]
    struct ProjectWire {
        id: u64,
        path_with_namespace: Option<String>,
        default_branch: Option<String>,
        empty_repo: Option<bool>,
        http_url_to_repo: Option<String>,
        web_url: Option<String>,
        archived: Option<bool>,
        issues_enabled: Option<bool>,
        issues_access_level: Option<String>,
        repository_access_level: Option<String>,
        permissions: Option<Permissions>,
    }
    #[derive(Deserialize)]
    struct Permissions {
        project_access: Option<Access>,
        group_access: Option<Access>,
    }
    #[derive(Deserialize)]
    struct Access {
        access_level: Option<u64>,
    }
    let wire: ProjectWire = read(value)?;
    let is_off = |level: Option<String>| level.as_deref() == Some("disabled");
    let levels = wire
        .permissions
        .map(|held| [held.project_access, held.group_access]);
    let levels = levels
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|access| access.access_level);
    let path = wire
        .path_with_namespace
        .unwrap_or_else(|| configured.to_owned());
    let moved = path.to_lowercase() != configured.to_lowercase();
    Ok(Project {
        id: wire.id,
        // Younger instances name the branch that an empty repository would have.
        default_branch: wire
            .default_branch
            .filter(|branch| !branch.is_empty() && wire.empty_repo != Some(true)),
        http_url: wire.http_url_to_repo.unwrap_or_default(),
        web_url: wire.web_url.unwrap_or_default(),
        archived: wire.archived == Some(true),
        issues_enabled: wire.issues_enabled != Some(false) && !is_off(wire.issues_access_level),
        repository_enabled: !is_off(wire.repository_access_level),
        access_level: levels.max(),
        moved_to: moved.then(|| path.clone()),
        path,
    })
}

/// The token's owner. Commits carry the mail that the account has chosen for them, else its first
/// that is known, else GitLab's own address for those that keep theirs private. `host` is that of
/// the instance.
pub(crate) fn identity(value: &RawValue, host: &str) -> Result<Identity, String> {
    #[derive(Deserialize)]
    #[serde(expecting = "a user")]
    struct UserWire {
        id: u64,
        username: String,
        name: Option<String>,
        commit_email: Option<String>,
        email: Option<String>,
        public_email: Option<String>,
    }
    let wire: UserWire = read(value)?;
    let mails = [wire.commit_email, wire.email, wire.public_email];
    let email = mails
        .into_iter()
        .flatten()
        .map(|mail| for_commit(&mail))
        .find(|mail| {
            mail.split_once('@')
                .is_some_and(|(user, at)| !user.is_empty() && !at.is_empty())
        })
        .unwrap_or_else(|| {
            format!(
                "{}-{}@users.noreply.{host}",
                wire.id,
                for_commit(&wire.username)
            )
        });
    let name = wire
        .name
        .map(|name| for_commit(&name))
        .filter(|name| !name.is_empty());
    Ok(Identity {
        name: name.unwrap_or_else(|| for_commit(&wire.username)),
        username: wire.username,
        email,
    })
}

/// A name or address as git can write it into a commit: on one line, without angle brackets.
fn for_commit(text: &str) -> String {
    one_line(&text.replace(['<', '>'], ""))
}

/// The level of a membership that is in force; `None` for one that is blocked or awaits approval.
pub(crate) fn membership(value: &RawValue) -> Result<Option<u64>, String> {
    #[derive(Deserialize)]
    #[serde(expecting = "a member")]
    struct MemberWire {
        access_level: u64,
        state: Option<String>,
        membership_state: Option<String>,
    }
    let wire: MemberWire = read(value)?;
    let in_force = |state: Option<&str>| {
        !state.is_some_and(|state| {
            state.contains("blocked") || matches!(state, "banned" | "awaiting")
        })
    };
    let counts = in_force(wire.state.as_deref()) && in_force(wire.membership_state.as_deref());
    Ok(counts.then_some(wire.access_level))
}
