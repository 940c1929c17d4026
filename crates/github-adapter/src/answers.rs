//! What GitHub answers, read into the words of the core. Wire types stay in here.
//!
//! Members that GitHub may leave out or set to null (deleted accounts, deleted forks, figures of a
//! listing) are optional; what identifies an item is not. The items of a list are read one by one.

use forge_http::answers::{Item, Newest, read, same_label, unreadable};
use http_client::AtMost;
use lifecycle::moment;
use lifecycle::ports::{LabelEvent, Pull, PullDetails, ReviewRef};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::access::Access;

/// Labels of one item; GitHub allows a hundred.
const MAX_LABELS: usize = 1000;

#[derive(Deserialize)]
struct User {
    login: String,
    id: Option<u64>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
}

#[derive(Deserialize)]
struct RepoWire {
    full_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "a branch of a repository")]
struct Side {
    sha: Option<String>,
    #[serde(rename = "ref")]
    branch: Option<String>,
    repo: Option<RepoWire>,
}

#[derive(Deserialize)]
#[serde(expecting = "a pull request")]
struct PullWire {
    number: u64,
    head: Side,
    base: Option<Side>,
    labels: Option<AtMost<Named, MAX_LABELS>>,
    draft: Option<bool>,
    updated_at: Option<String>,
    html_url: Option<String>,
    state: Option<String>,
    title: Option<String>,
    body: Option<String>,
    user: Option<User>,
    changed_files: Option<u64>,
    additions: Option<u64>,
    deletions: Option<u64>,
    commits: Option<u64>,
}

impl PullWire {
    fn pull(&self) -> Result<Pull, String> {
        let head_sha = self.head.sha.as_deref().unwrap_or_default();
        if !is_commit(head_sha) {
            return Err("its head is no commit".to_owned());
        }
        let labels = self
            .labels
            .iter()
            .flat_map(|AtMost(labels)| labels)
            .filter_map(|label| label.name.clone());
        Ok(Pull {
            number: self.number,
            head_sha: head_sha.to_owned(),
            labels: labels.collect(),
            draft: self.draft.unwrap_or(false),
            updated_at: self.updated_at.clone().unwrap_or_default(),
            html_url: self.html_url.clone().unwrap_or_default(),
        })
    }

    /// A head repository that is gone counts as a fork: nobody vouches for it.
    fn is_from_fork(&self) -> bool {
        match (repo_of(Some(&self.head)), repo_of(self.base.as_ref())) {
            (Some(head), Some(base)) => !head.eq_ignore_ascii_case(base),
            _ => true,
        }
    }
}

fn repo_of(side: Option<&Side>) -> Option<&str> {
    side?.repo.as_ref()?.full_name.as_deref()
}

/// Whether a text is the name of a commit (SHA-1 or SHA-256): it becomes part of paths.
pub(crate) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// An item of the list of pull requests, or a line that names it and says what is wrong with it.
/// `place` counts from 1.
pub(crate) fn listed_pull(item: &RawValue, place: usize) -> Result<Pull, String> {
    read::<PullWire>(item)
        .and_then(|wire| wire.pull())
        .map_err(|why| {
            #[derive(Deserialize)]
            struct Identified {
                number: u64,
            }
            let number = read::<Identified>(item).ok().map(|item| item.number);
            unreadable("pull request", number, place, &why)
        })
}

/// The full name of the repository that the items of a list of pull requests belong to.
pub(crate) fn base_repo_name(items: &[Item]) -> Option<String> {
    items.iter().find_map(|item| {
        let wire: PullWire = read(item).ok()?;
        repo_of(wire.base.as_ref()).map(str::to_owned)
    })
}

/// A pull request in full.
pub(crate) fn pull_details(body: &RawValue) -> Result<PullDetails, String> {
    let wire: PullWire = read(body)?;
    let pull = wire.pull()?;
    let from_fork = wire.is_from_fork();
    let open = match wire.state.as_deref() {
        Some("open") => true,
        Some("closed") => false,
        _ => return Err("its state is neither open nor closed".to_owned()),
    };
    let base = wire.base.unwrap_or(Side {
        sha: None,
        branch: None,
        repo: None,
    });
    Ok(PullDetails {
        pull,
        open,
        from_fork,
        title: wire.title.unwrap_or_default(),
        body: wire.body.unwrap_or_default(),
        author: wire.user.map(|user| user.login),
        base_ref: base.branch.unwrap_or_default(),
        base_sha: base.sha.unwrap_or_default(),
        head_ref: wire.head.branch.unwrap_or_default(),
        changed_files: wire.changed_files,
        additions: wire.additions,
        deletions: wire.deletions,
        commits: wire.commits,
    })
}

/// The newest event among `items` that put `label` on. Events of other kinds may have any shape;
/// one of this kind that cannot be read is an error, because an older one must not take its place.
pub(crate) fn newest_label_event(
    items: &[Item],
    label: &str,
) -> Result<Option<LabelEvent>, String> {
    #[derive(Deserialize)]
    struct Kind {
        event: Option<String>,
    }
    #[derive(Deserialize)]
    struct EventWire {
        id: u64,
        label: Option<Named>,
        created_at: String,
        actor: Option<User>,
    }
    let mut newest = Newest::default();
    for item in items {
        let kind = read::<Kind>(item).ok().and_then(|kind| kind.event);
        if kind.as_deref() != Some("labeled") {
            continue;
        }
        let wire: EventWire =
            read(item).map_err(|why| format!("a label event cannot be read: {why}"))?;
        let name = wire.label.and_then(|label| label.name);
        if !name.is_some_and(|name| same_label(&name, label)) {
            continue;
        }
        newest.look_at(LabelEvent {
            id: wire.id,
            created_at: wire.created_at,
            actor_id: wire.actor.as_ref().and_then(|actor| actor.id),
            actor: wire.actor.map(|actor| actor.login),
        })?;
    }
    Ok(newest.found())
}

/// What proves that a review was published: whose, of which commit, not before which moment
/// (seconds since the epoch).
pub(crate) struct Proof<'a> {
    pub(crate) login: &'a str,
    pub(crate) head_sha: &'a str,
    pub(crate) since: f64,
}

/// The newest review among `items` that is the proof. What cannot be read proves nothing.
pub(crate) fn published_review(items: &[Item], proof: &Proof<'_>) -> Option<ReviewRef> {
    #[derive(Deserialize)]
    struct ReviewWire {
        id: u64,
        user: User,
        state: String,
        commit_id: String,
        submitted_at: String,
        html_url: Option<String>,
    }
    items.iter().rev().find_map(|item| {
        let wire: ReviewWire = read(item).ok()?;
        let proves = wire.user.login.eq_ignore_ascii_case(proof.login)
            && !wire.state.eq_ignore_ascii_case("PENDING")
            && wire.commit_id.eq_ignore_ascii_case(proof.head_sha)
            && moment::parse_rfc3339(&wire.submitted_at).is_some_and(|at| at >= proof.since);
        proves.then(|| ReviewRef {
            id: wire.id,
            html_url: wire.html_url.unwrap_or_default(),
        })
    })
}

/// The address of the newest comment among `items` that `login` wrote and that holds `marker`:
/// anybody can copy a marker into a comment of their own.
pub(crate) fn marked_comment(items: &[Item], login: &str, marker: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct CommentWire {
        html_url: Option<String>,
        body: String,
        user: User,
    }
    items.iter().rev().find_map(|item| {
        let wire: CommentWire = read(item).ok()?;
        let ours = wire.user.login.eq_ignore_ascii_case(login) && wire.body.contains(marker);
        ours.then(|| wire.html_url.unwrap_or_default())
    })
}

/// The address of a comment that was posted.
pub(crate) fn posted_comment(body: &RawValue) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Posted {
        html_url: String,
    }
    read::<Posted>(body).map(|posted| posted.html_url)
}

/// The login of the token's own user.
pub(crate) fn user(body: &RawValue) -> Result<String, String> {
    read::<User>(body).map(|user| user.login)
}

/// The login that GraphQL gives for the token, as REST writes it: the name of an app carries
/// `[bot]`. `None` when the answer holds none.
pub(crate) fn viewer(body: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        data: Option<Data>,
    }
    #[derive(Deserialize)]
    struct Data {
        viewer: User,
    }
    let login = read::<Answer>(body).ok()?.data?.viewer.login;
    Some(if login.ends_with("[bot]") {
        login
    } else {
        format!("{login}[bot]")
    })
}

/// The full name of a repository.
pub(crate) fn full_name(body: &RawValue) -> Result<Option<String>, String> {
    read::<RepoWire>(body).map(|repo| repo.full_name)
}

/// The repository as the token sees it.
pub(crate) fn access(body: &RawValue) -> Result<Access, String> {
    #[derive(Deserialize)]
    #[serde(expecting = "a repository")]
    struct AccessWire {
        full_name: String,
        archived: Option<bool>,
        permissions: Option<BTreeMap<String, bool>>,
    }
    const ROLES: [(&str, &str); 5] = [
        ("admin", "admin"),
        ("maintain", "maintain"),
        ("push", "write"),
        ("triage", "triage"),
        ("pull", "read"),
    ];
    let wire: AccessWire = read(body)?;
    let held = wire.permissions.unwrap_or_default();
    let role = ROLES
        .iter()
        .find(|(permission, _)| held.get(*permission) == Some(&true));
    Ok(Access {
        full_name: wire.full_name,
        archived: wire.archived.unwrap_or(false),
        role: role.map(|(_, name)| *name),
    })
}

#[cfg(test)]
mod tests;
