//! What a GitHub holds, as plain data: people, tokens, repositories, commits, pull requests, events,
//! comments, reviews. Nothing here knows of HTTP; the verbs change it, the answers read it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use super::archive::Archive;
use super::limits::Limits;
use crate::tree::{Entry, Tree};

/// Everything.
pub(super) struct Model {
    /// Base of the API without a slash at the end, `/api/v3` included.
    pub(super) api: String,
    /// Base of the download host.
    pub(super) codeload: String,
    /// Base of the pages for people.
    pub(super) html: String,
    /// The time it is, seconds since the epoch, and when that was set; `None` is the real one.
    pub(super) fixed_time: Option<f64>,
    /// Tokens and what they may do.
    pub(super) tokens: BTreeMap<String, Token>,
    /// Ids of people by lowercase login; those deleted are taken out.
    pub(super) people: BTreeMap<String, Person>,
    /// Repositories by id.
    pub(super) repos: BTreeMap<u64, Repo>,
    /// Former full names (lowercase) and the repository they lead to.
    pub(super) moved: BTreeMap<String, u64>,
    /// One-time tokens of the download host and the repository they open.
    pub(super) downloads: BTreeMap<String, u64>,
    /// How many requests are left, and refusals to come.
    pub(super) limits: Limits,
    /// How many requests there have been.
    pub(super) requests: u64,
    /// The last id given out.
    last_id: u64,
}

/// A token: whose it is and what holds it back.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// Login of the owner.
    pub(super) login: String,
    /// Whether it may write.
    pub(super) writes: bool,
    /// Whether it is an installation's: such a token may not ask whose it is over REST.
    pub(super) app: bool,
}

/// A person or a bot.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) id: u64,
    pub(super) login: String,
    pub(super) bot: bool,
}

/// What stands between a valid token and a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Barrier {
    /// Nothing.
    #[default]
    None,
    /// The organization asks for single sign-on and the token is not authorized for it.
    Sso,
    /// The organization has a list of addresses that may come in.
    IpAllowList,
    /// The repository was taken down (451).
    Legal,
}

/// A repository.
pub(super) struct Repo {
    pub(super) id: u64,
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) private: bool,
    pub(super) archived: bool,
    pub(super) barrier: Barrier,
    /// Lowercase logins that see a private repository.
    pub(super) members: BTreeSet<String>,
    pub(super) default_branch: String,
    pub(super) branches: BTreeMap<String, String>,
    pub(super) commits: BTreeMap<String, Commit>,
    /// Archives that are not made from a commit's tree, by commit.
    pub(super) archives: BTreeMap<String, Archive>,
    /// Id and spelling of every label, by lowercase name.
    pub(super) labels: BTreeMap<String, (u64, String)>,
    pub(super) pulls: BTreeMap<u64, PullData>,
    pub(super) last_number: u64,
    pub(super) created_at: f64,
    pub(super) pushed_at: f64,
}

/// A commit and its whole tree.
#[derive(Clone)]
pub(super) struct Commit {
    pub(super) tree: Tree,
    pub(super) parent: Option<String>,
}

/// Where a pull request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A branch of the repository itself.
    Same,
    /// A fork, by full name, with its own id.
    Fork { full_name: String, id: u64 },
    /// A fork that was deleted; the login of its former owner.
    DeletedFork { owner: String },
}

/// A pull request.
pub(super) struct PullData {
    pub(super) id: u64,
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: Option<String>,
    pub(super) author: Option<String>,
    pub(super) open: bool,
    pub(super) merged_at: Option<f64>,
    pub(super) closed_at: Option<f64>,
    pub(super) draft: bool,
    /// Lowercase label names, in the order of their coming.
    pub(super) labels: Vec<String>,
    pub(super) source: Source,
    pub(super) head_ref: String,
    pub(super) head_sha: String,
    /// Every commit that ever was its head, oldest first.
    pub(super) heads: Vec<String>,
    pub(super) base_ref: String,
    pub(super) base_sha: String,
    pub(super) created_at: f64,
    pub(super) updated_at: f64,
    /// Gone: every call about it is a 404, listings pass it over.
    pub(super) vanished: bool,
    /// Unified diff given by hand; otherwise it is made from the trees.
    pub(super) diff: Option<String>,
    /// Changed files, additions and deletions given by hand.
    pub(super) size: Option<(u64, u64, u64)>,
    pub(super) events: Vec<EventData>,
    pub(super) comments: Vec<CommentData>,
    pub(super) reviews: Vec<ReviewData>,
}

/// An event on a pull request.
#[derive(Clone, Debug)]
pub(super) struct EventData {
    pub(super) id: u64,
    pub(super) kind: String,
    pub(super) actor: Option<String>,
    /// The label as it was spelt.
    pub(super) label: Option<String>,
    pub(super) at: f64,
}

/// A comment in the conversation of a pull request.
#[derive(Clone, Debug)]
pub(super) struct CommentData {
    pub(super) id: u64,
    pub(super) author: Option<String>,
    pub(super) body: String,
    pub(super) at: f64,
}

/// A review.
#[derive(Clone, Debug)]
pub(super) struct ReviewData {
    pub(super) id: u64,
    pub(super) author: Option<String>,
    pub(super) state: ReviewState,
    pub(super) body: String,
    pub(super) commit: String,
    pub(super) submitted_at: Option<f64>,
    pub(super) comments: Vec<InlineComment>,
}

/// State of a review, as GitHub names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Written, not submitted: only its author sees it.
    Pending,
    /// Submitted without a verdict.
    Commented,
    /// Submitted, approving.
    Approved,
    /// Submitted, asking for changes.
    ChangesRequested,
    /// Taken back by a maintainer.
    Dismissed,
}

impl ReviewState {
    /// The word in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Commented => "COMMENTED",
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Dismissed => "DISMISSED",
        }
    }
}

/// A comment of a review on a line of the diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineComment {
    /// File, relative to the repository.
    pub path: String,
    /// Line in the file, or position in the diff if the request named one.
    pub line: u64,
    /// Which side of the diff the line is on.
    pub side: Side,
    /// The text.
    pub body: String,
}

/// A side of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The file before the change.
    Left,
    /// The file after it.
    Right,
}

impl Model {
    /// An empty GitHub; the addresses are filled in once the sockets are open.
    pub(super) fn new() -> Self {
        Self {
            api: String::new(),
            codeload: String::new(),
            html: "https://github.com".to_owned(),
            fixed_time: None,
            tokens: BTreeMap::new(),
            people: BTreeMap::new(),
            repos: BTreeMap::new(),
            moved: BTreeMap::new(),
            downloads: BTreeMap::new(),
            limits: Limits::new(),
            requests: 0,
            last_id: 1_000_000,
        }
    }

    /// The time it is, seconds since the epoch.
    pub(super) fn now(&self) -> f64 {
        self.fixed_time.unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |past| past.as_secs_f64())
        })
    }

    /// A fresh id; ids of everything rise together, as those of events do on GitHub.
    pub(super) fn fresh_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The person of a login, created when first heard of.
    pub(super) fn person(&mut self, login: &str) -> Person {
        let key = login.to_lowercase();
        if let Some(known) = self.people.get(&key) {
            return known.clone();
        }
        let person = Person {
            id: self.fresh_id(),
            login: login.to_owned(),
            bot: login.ends_with("[bot]"),
        };
        self.people.insert(key, person.clone());
        person
    }

    /// The repository of that full name, case aside, following no rename.
    pub(super) fn repo_named(&self, owner: &str, name: &str) -> Option<&Repo> {
        self.repos.values().find(|repo| {
            repo.owner.eq_ignore_ascii_case(owner) && repo.name.eq_ignore_ascii_case(name)
        })
    }

    /// Creates a repository with a README on `main`.
    pub(super) fn create_repo(&mut self, owner: &str, name: &str) -> u64 {
        let id = self.fresh_id();
        let now = self.now();
        self.person(owner);
        let mut repo = Repo {
            id,
            owner: owner.to_owned(),
            name: name.to_owned(),
            private: false,
            archived: false,
            barrier: Barrier::None,
            members: BTreeSet::new(),
            default_branch: "main".to_owned(),
            branches: BTreeMap::new(),
            commits: BTreeMap::new(),
            archives: BTreeMap::new(),
            labels: BTreeMap::new(),
            pulls: BTreeMap::new(),
            last_number: 0,
            created_at: now,
            pushed_at: now,
        };
        let readme = vec![("README.md".to_owned(), Entry::from(format!("# {name}\n")))];
        let sha = repo.commit(None, readme);
        repo.branches.insert("main".to_owned(), sha);
        self.repos.insert(id, repo);
        id
    }

    /// Writes down that something happened to a pull request, and that it was updated then.
    pub(super) fn record(
        &mut self,
        repo: u64,
        number: u64,
        kind: &str,
        actor: Option<&str>,
        label: Option<&str>,
    ) -> u64 {
        let id = self.fresh_id();
        let at = self.now();
        if let Some(login) = actor {
            self.person(login);
        }
        if let Some(pull) = self
            .repos
            .get_mut(&repo)
            .and_then(|repo| repo.pulls.get_mut(&number))
        {
            pull.updated_at = at;
            pull.events.push(EventData {
                id,
                kind: kind.to_owned(),
                actor: actor.map(str::to_owned),
                label: label.map(str::to_owned),
                at,
            });
        }
        id
    }
}
