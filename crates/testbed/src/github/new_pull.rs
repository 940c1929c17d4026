//! A pull request as a test writes it down before it is opened.

use crate::tree::{Entry, files};

/// A pull request that is about to be opened: by `dev`, from a branch of the repository itself,
/// ready for review, with one new file, unless said otherwise.
#[derive(Clone, Debug)]
pub struct NewPull {
    pub(super) title: String,
    pub(super) body: Option<String>,
    pub(super) author: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) fork: Option<String>,
    pub(super) base: Option<String>,
    pub(super) draft: bool,
    pub(super) files: Vec<(String, Entry)>,
    pub(super) number: Option<u64>,
    pub(super) sha: Option<String>,
}

impl NewPull {
    /// A pull request with this title.
    pub fn titled(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            body: Some("A change.".to_owned()),
            author: Some("dev".to_owned()),
            branch: None,
            fork: None,
            base: None,
            draft: false,
            files: Vec::new(),
            number: None,
            sha: None,
        }
    }

    /// Its description; `None` is `null`.
    #[must_use]
    pub fn body<'a>(mut self, body: impl Into<Option<&'a str>>) -> Self {
        self.body = body.into().map(str::to_owned);
        self
    }

    /// Who opens it; `None` is an account that is gone.
    #[must_use]
    pub fn by<'a>(mut self, login: impl Into<Option<&'a str>>) -> Self {
        self.author = login.into().map(str::to_owned);
        self
    }

    /// The branch that it comes from.
    #[must_use]
    pub fn branch(mut self, name: &str) -> Self {
        self.branch = Some(name.to_owned());
        self
    }

    /// The branch that it goes to.
    #[must_use]
    pub fn onto(mut self, branch: &str) -> Self {
        self.base = Some(branch.to_owned());
        self
    }

    /// The fork that it comes from, `owner/name`.
    #[must_use]
    pub fn from_fork(mut self, full_name: &str) -> Self {
        self.fork = Some(full_name.to_owned());
        self
    }

    /// Opens it as a draft.
    #[must_use]
    pub fn draft(mut self) -> Self {
        self.draft = true;
        self
    }

    /// The files that its first commit changes.
    #[must_use]
    pub fn files<P: Into<String>, E: Into<Entry>>(
        mut self,
        changed: impl IntoIterator<Item = (P, E)>,
    ) -> Self {
        self.files = files(changed);
        self
    }

    /// The number that it gets.
    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.number = Some(number);
        self
    }

    /// The commit id that its head gets, for inputs that name one.
    #[must_use]
    pub fn at_sha(mut self, sha: &str) -> Self {
        self.sha = Some(sha.to_owned());
        self
    }
}
