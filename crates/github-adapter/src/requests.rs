//! What is asked of GitHub, as plain values: method, address, accepted form, body. Nothing is sent
//! here and no credential appears here.

use forge_http::{Ask, below};
use lifecycle::moment;
use serde_json::json;
use url::Url;

use crate::config::RepoName;

/// The form of GitHub's JSON answers.
const JSON: &str = "application/vnd.github+json";
/// The form in which a file comes as its bytes.
const RAW: &str = "application/vnd.github.raw+json";
/// Items on a page; the most that GitHub gives.
const PER_PAGE: &str = "100";

/// A read of an address as it is, such as that of a next page.
pub(crate) fn get(url: Url) -> Ask {
    Ask::get(url, JSON)
}

/// Builds the requests about one repository.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    api: Url,
    repo: RepoName,
}

impl Requests {
    pub(crate) fn new(api: Url, repo: RepoName) -> Self {
        Self { api, repo }
    }

    pub(crate) fn api(&self) -> &Url {
        &self.api
    }

    pub(crate) fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// The token's own user.
    pub(crate) fn user(&self) -> Ask {
        get(below(&self.api, &["user"]))
    }

    /// The token's own user by way of GraphQL, which app tokens may ask too. The address is
    /// `/graphql` beside the REST root, on Enterprise Server `/api/graphql` beside `/api/v3`.
    pub(crate) fn viewer(&self) -> Ask {
        let mut url = self.api.clone();
        let path = url.path().trim_end_matches('/');
        let root = path.strip_suffix("/v3").unwrap_or(path);
        url.set_path(&format!("{root}/graphql"));
        let query = json!({"query": "query { viewer { login } }"});
        Ask::post(url, JSON, query)
    }

    /// The repository itself.
    pub(crate) fn repository(&self) -> Ask {
        get(self.in_repo(&[]))
    }

    /// A label of the repository.
    pub(crate) fn label(&self, name: &str) -> Ask {
        get(self.in_repo(&["labels", name]))
    }

    /// Open pull requests, those that changed last first.
    pub(crate) fn open_pulls(&self) -> Ask {
        let mut url = self.in_repo(&["pulls"]);
        url.query_pairs_mut()
            .append_pair("state", "open")
            .append_pair("sort", "updated")
            .append_pair("direction", "desc")
            .append_pair("per_page", PER_PAGE);
        get(url)
    }

    /// One pull request.
    pub(crate) fn pull(&self, number: u64) -> Ask {
        get(self.in_repo(&["pulls", &number.to_string()]))
    }

    /// The events of a pull request, oldest first.
    pub(crate) fn events(&self, number: u64) -> Ask {
        let mut url = self.in_repo(&["issues", &number.to_string(), "events"]);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        get(url)
    }

    /// The reviews of a pull request, oldest first.
    pub(crate) fn reviews(&self, number: u64) -> Ask {
        let mut url = self.in_repo(&["pulls", &number.to_string(), "reviews"]);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        get(url)
    }

    /// The comments in the conversation of a pull request that changed since a moment, oldest first.
    pub(crate) fn comments(&self, number: u64, since: f64) -> Ask {
        let mut url = self.in_repo(&["issues", &number.to_string(), "comments"]);
        url.query_pairs_mut()
            .append_pair("since", &moment::rfc3339(since))
            .append_pair("per_page", PER_PAGE);
        get(url)
    }

    /// Posts a comment into the conversation of a pull request.
    pub(crate) fn new_comment(&self, number: u64, body: &str) -> Ask {
        let url = self.in_repo(&["issues", &number.to_string(), "comments"]);
        Ask::post(url, JSON, json!({ "body": body }))
    }

    /// The bytes of a file at a commit; `None` for a path that leaves the repository or names
    /// nothing.
    pub(crate) fn file(&self, path: &str, reference: &str) -> Option<Ask> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if parts
            .iter()
            .any(|part| part.is_empty() || *part == "." || *part == "..")
        {
            return None;
        }
        let mut url = below(&self.in_repo(&["contents"]), &parts);
        url.query_pairs_mut().append_pair("ref", reference);
        Some(Ask::get(url, RAW))
    }

    /// The archive of a commit. GitHub answers with a redirect to its download host.
    pub(crate) fn archive(&self, commit: &str) -> Ask {
        get(self.in_repo(&["tarball", commit]))
    }

    fn in_repo(&self, rest: &[&str]) -> Url {
        let mut parts = vec!["repos", self.repo.owner(), self.repo.name()];
        parts.extend(rest);
        below(&self.api, &parts)
    }
}

#[cfg(test)]
mod tests;
