//! What is asked of GitLab, as plain values: method, address, body. Nothing is sent here and no
//! credential appears here.

use forge_http::{Ask, below};
use lifecycle::ports::MergeRequestDraft;
use serde_json::{Value, json};
use url::Url;

/// Items on a page; the most that GitLab gives.
const PER_PAGE: &str = "100";

/// The form of GitLab's answers.
const JSON: &str = "application/json";

/// A read of an address as it is, such as that of a next page.
pub(crate) fn get(url: Url) -> Ask {
    Ask::get(url, JSON)
}

fn post(url: Url, body: Value) -> Ask {
    Ask::post(url, JSON, body)
}

/// A list, asked for in the longest pages.
fn list(mut url: Url, query: &[(&str, &str)]) -> Ask {
    url.query_pairs_mut()
        .extend_pairs(query)
        .append_pair("per_page", PER_PAGE);
    get(url)
}

/// Builds the requests about one project.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    api: Url,
    /// What names the project in an address: its full path, which is encoded whole, or its number.
    project: String,
}

impl Requests {
    pub(crate) fn new(api: Url, project: &str) -> Self {
        Self {
            api,
            project: project.to_owned(),
        }
    }

    /// The same for a project that is named by its number. GitLab takes no writes under the former
    /// path of a project that was moved.
    pub(crate) fn by_number(&self, id: u64) -> Self {
        Self {
            api: self.api.clone(),
            project: id.to_string(),
        }
    }

    /// The token's own user.
    pub(crate) fn user(&self) -> Ask {
        get(below(&self.api, &["user"]))
    }

    /// The project itself.
    pub(crate) fn project(&self) -> Ask {
        get(self.in_project(&[]))
    }

    /// The project's labels that hold a text, those of its groups included. The server's search
    /// ignores case and gives quotation marks a meaning of their own.
    pub(crate) fn labels(&self, text: &str) -> Ask {
        let url = self.in_project(&["labels"]);
        if text.contains('"') {
            list(url, &[])
        } else {
            list(url, &[("search", text)])
        }
    }

    /// Open issues with a label, those that changed last first. A label that the server's filter
    /// would take apart or take for a word of its own is not asked for: all open issues come then,
    /// and the caller looks at their labels.
    pub(crate) fn open_issues(&self, label: &str) -> Ask {
        let url = self.in_project(&["issues"]);
        let mut query = vec![("state", "opened")];
        if !is_special_to_filter(label) {
            query.push(("labels", label));
        }
        query.extend([("order_by", "updated_at"), ("sort", "desc")]);
        list(url, &query)
    }

    /// One issue.
    pub(crate) fn issue(&self, iid: u64) -> Ask {
        get(self.in_project(&["issues", &iid.to_string()]))
    }

    /// The label events of an issue, oldest first.
    pub(crate) fn label_events(&self, iid: u64) -> Ask {
        list(
            self.in_project(&["issues", &iid.to_string(), "resource_label_events"]),
            &[],
        )
    }

    /// The notes of an issue, newest first.
    pub(crate) fn notes(&self, iid: u64) -> Ask {
        let query = [("order_by", "created_at"), ("sort", "desc")];
        list(
            self.in_project(&["issues", &iid.to_string(), "notes"]),
            &query,
        )
    }

    /// Posts a note on an issue.
    pub(crate) fn new_note(&self, iid: u64, body: &str) -> Ask {
        let url = self.in_project(&["issues", &iid.to_string(), "notes"]);
        post(url, json!({ "body": body }))
    }

    /// An account's membership in the project, those in groups above it included.
    pub(crate) fn member(&self, user_id: u64) -> Ask {
        get(self.in_project(&["members", "all", &user_id.to_string()]))
    }

    /// A branch; `None` for a name that git does not allow and that an address cannot hold.
    pub(crate) fn branch(&self, name: &str) -> Option<Ask> {
        if matches!(name, "" | "." | "..") {
            return None;
        }
        Some(get(self.in_project(&["repository", "branches", name])))
    }

    /// Merge requests from a branch in any state, newest first.
    pub(crate) fn merge_requests(&self, branch: &str) -> Ask {
        let query = [
            ("state", "all"),
            ("source_branch", branch),
            ("order_by", "created_at"),
            ("sort", "desc"),
        ];
        list(self.in_project(&["merge_requests"]), &query)
    }

    /// Opens a merge request.
    pub(crate) fn new_merge_request(&self, draft: &MergeRequestDraft) -> Ask {
        let body = json!({
            "source_branch": draft.source_branch,
            "target_branch": draft.target_branch,
            "title": draft.title,
            "description": draft.description,
        });
        post(self.in_project(&["merge_requests"]), body)
    }

    /// The best common ancestor of two commits.
    pub(crate) fn merge_base(&self, one: &str, other: &str) -> Ask {
        let mut url = self.in_project(&["repository", "merge_base"]);
        url.query_pairs_mut()
            .append_pair("refs[]", one)
            .append_pair("refs[]", other);
        get(url)
    }

    fn in_project(&self, rest: &[&str]) -> Url {
        let mut parts = vec!["projects", self.project.as_str()];
        parts.extend(rest);
        below(&self.api, &parts)
    }
}

/// Whether the filter of issues would not take a label as it is: it splits at commas, cuts blanks
/// off, and knows words of its own.
fn is_special_to_filter(label: &str) -> bool {
    label.contains(',')
        || label.trim() != label
        || ["any", "none"]
            .iter()
            .any(|word| label.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
