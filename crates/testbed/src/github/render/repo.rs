//! Repositories as JSON: the form in which they hang on a pull request, and the full one.

use serde_json::{Value, json};

use super::{node_id, user, with};
use crate::calendar;
use crate::github::model::{Model, Repo};

/// What of a repository its JSON needs: forks have no more than that.
pub(in crate::github) struct Owned<'a> {
    pub(in crate::github) id: u64,
    pub(in crate::github) owner: &'a str,
    pub(in crate::github) name: &'a str,
    pub(in crate::github) fork: bool,
    /// The repository it is, or was forked from.
    pub(in crate::github) stem: &'a Repo,
}

/// Addresses of the parts of a repository: member and what follows the repository's own address.
const PARTS: [(&str, &str); 36] = [
    ("archive_url", "/{archive_format}{/ref}"),
    ("assignees_url", "/assignees{/user}"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("branches_url", "/branches{/branch}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("comments_url", "/comments{/number}"),
    ("commits_url", "/commits{/sha}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("contents_url", "/contents/{+path}"),
    ("contributors_url", "/contributors"),
    ("deployments_url", "/deployments"),
    ("downloads_url", "/downloads"),
    ("events_url", "/events"),
    ("forks_url", "/forks"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("hooks_url", "/hooks"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("issue_events_url", "/issues/events{/number}"),
    ("issues_url", "/issues{/number}"),
    ("keys_url", "/keys{/key_id}"),
    ("labels_url", "/labels{/name}"),
    ("languages_url", "/languages"),
    ("merges_url", "/merges"),
    ("milestones_url", "/milestones{/number}"),
    (
        "notifications_url",
        "/notifications{?since,all,participating}",
    ),
    ("pulls_url", "/pulls{/number}"),
    ("releases_url", "/releases{/id}"),
    ("stargazers_url", "/stargazers"),
    ("statuses_url", "/statuses/{sha}"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("tags_url", "/tags"),
    ("teams_url", "/teams"),
    ("trees_url", "/git/trees{/sha}"),
];

/// A repository as it hangs on a pull request.
pub(in crate::github) fn repository(model: &Model, repo: &Owned<'_>) -> Value {
    let full_name = format!("{}/{}", repo.owner, repo.name);
    let url = format!("{}/repos/{full_name}", model.api);
    let html = format!("{}/{full_name}", model.html);
    let open = repo.stem.pulls.values().filter(|pull| pull.open).count();
    let value = json!({
        "id": repo.id,
        "node_id": node_id("Repository", repo.id),
        "name": repo.name,
        "full_name": full_name,
        "owner": user(model, Some(repo.owner)),
        "private": repo.stem.private,
        "visibility": if repo.stem.private { "private" } else { "public" },
        "html_url": html,
        "description": null,
        "fork": repo.fork,
        "url": url,
        "git_url": format!("git://github.com/{full_name}.git"),
        "ssh_url": format!("git@github.com:{full_name}.git"),
        "clone_url": format!("{html}.git"),
        "svn_url": html,
        "mirror_url": null,
        "homepage": null,
        "language": null,
        "license": null,
        "topics": [],
        "default_branch": repo.stem.default_branch,
        "open_issues": open,
        "open_issues_count": open,
        "archived": repo.stem.archived,
        "disabled": false,
        "created_at": calendar::seconds(repo.stem.created_at),
        "updated_at": calendar::seconds(repo.stem.pushed_at),
        "pushed_at": calendar::seconds(repo.stem.pushed_at),
    });
    let parts = PARTS
        .iter()
        .map(|(name, rest)| ((*name).to_owned(), Value::String(format!("{url}{rest}"))));
    with(with(value, settings()), parts.collect())
}

/// What is the same for every repository here.
fn settings() -> Value {
    json!({
        "forks": 0,
        "forks_count": 0,
        "stargazers_count": 0,
        "watchers": 0,
        "watchers_count": 0,
        "size": 108,
        "has_issues": true,
        "has_projects": true,
        "has_wiki": true,
        "has_pages": false,
        "has_downloads": true,
        "has_discussions": false,
        "is_template": false,
        "allow_forking": true,
        "web_commit_signoff_required": false,
    })
}

/// A repository as `GET /repos/{owner}/{repo}` gives it.
pub(in crate::github) fn repository_full(model: &Model, repo: &Repo, writes: bool) -> Value {
    let owned = Owned {
        id: repo.id,
        owner: &repo.owner,
        name: &repo.name,
        fork: false,
        stem: repo,
    };
    let rights = json!({
        "admin": false, "maintain": false, "push": writes, "triage": writes, "pull": true,
    });
    let more = json!({"network_count": 0, "subscribers_count": 1, "permissions": rights});
    with(repository(model, &owned), more)
}
