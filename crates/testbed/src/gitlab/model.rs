//! What a GitLab holds, as plain data: users, tokens, projects with their issues, labels, notes and
//! merge requests, and where their bare repositories are. Nothing here knows of HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use super::git::Bare;
use super::limits::Limits;
use crate::calendar;

/// Access levels, as GitLab numbers them.
pub(super) const GUEST: u32 = 10;
/// The least that sees what is confidential.
pub(super) const REPORTER: u32 = 20;
/// The least that can push and open merge requests.
pub(super) const DEVELOPER: u32 = 30;

/// Everything.
pub(super) struct Model {
    /// Address of the instance without a slash at the end, its path included.
    pub(super) base: String,
    /// The time it is, seconds since the epoch; `None` is the real one.
    pub(super) fixed_time: Option<f64>,
    /// Hours by which the instance writes its times ahead of UTC.
    pub(super) hours_ahead: u8,
    pub(super) users: BTreeMap<u64, User>,
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) projects: BTreeMap<u64, Project>,
    /// Former paths (lowercase) and the project they lead to.
    pub(super) moved: BTreeMap<String, u64>,
    pub(super) limits: Limits,
    /// Whether lists tell how long they are.
    pub(super) totals: bool,
    /// Whether it is an older instance: 422 in place of 409.
    pub(super) older: bool,
    last_id: u64,
}

/// A user, a bot or the bot of an access token.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) id: u64,
    pub(super) username: String,
    pub(super) name: String,
    pub(super) email: String,
    pub(super) bot: bool,
}

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) user: u64,
    /// Whether its scope allows writing.
    pub(super) writes: bool,
    pub(super) revoked: bool,
}

/// A project.
pub(super) struct Project {
    pub(super) id: u64,
    /// The full path, groups included.
    pub(super) path: String,
    pub(super) public: bool,
    pub(super) archived: bool,
    pub(super) issues_enabled: bool,
    pub(super) repository_enabled: bool,
    pub(super) default_branch: Option<String>,
    /// Access levels by user.
    pub(super) members: BTreeMap<u64, u32>,
    /// Access levels that come from the group.
    pub(super) group_members: BTreeMap<u64, u32>,
    /// Whether `permissions` states nobody's role.
    pub(super) roles_unstated: bool,
    pub(super) protected: BTreeSet<String>,
    /// Names of labels by id.
    pub(super) labels: BTreeMap<u64, String>,
    /// Those of them that belong to a group above.
    pub(super) group_labels: BTreeSet<u64>,
    pub(super) issues: BTreeMap<u64, IssueData>,
    pub(super) merge_requests: BTreeMap<u64, MergeRequestData>,
    pub(super) bare: Bare,
    /// How many merge requests in a row are refused after each push, and how many still are.
    pub(super) refused_after_push: u32,
    pub(super) refused_now: u32,
    /// How many answers about a fresh merge request lack what is still being prepared.
    pub(super) unprepared_answers: u32,
    /// Where git is sent instead.
    pub(super) git_redirect: Option<String>,
    /// Commands that texts carried out.
    pub(super) quick_actions: Vec<String>,
    pub(super) created_at: f64,
    pub(super) last_activity: f64,
}

/// An issue.
pub(super) struct IssueData {
    pub(super) id: u64,
    pub(super) iid: u64,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) author: u64,
    pub(super) open: bool,
    pub(super) confidential: bool,
    /// Ids of labels, in the order of their coming.
    pub(super) labels: Vec<u64>,
    pub(super) created_at: f64,
    pub(super) updated_at: f64,
    pub(super) closed_at: Option<f64>,
    pub(super) events: Vec<LabelEvent>,
    pub(super) notes: Vec<NoteData>,
}

/// A label that was put on an issue or taken off.
#[derive(Clone, Debug)]
pub(super) struct LabelEvent {
    pub(super) id: u64,
    pub(super) user: Option<u64>,
    pub(super) at: f64,
    pub(super) label: u64,
    pub(super) add: bool,
}

/// A note on an issue.
#[derive(Clone, Debug)]
pub(super) struct NoteData {
    pub(super) id: u64,
    pub(super) author: Option<u64>,
    pub(super) body: String,
    pub(super) at: f64,
    /// Whether GitLab wrote it itself.
    pub(super) system: bool,
}

/// A merge request.
#[derive(Clone, Debug)]
pub(super) struct MergeRequestData {
    pub(super) id: u64,
    pub(super) iid: u64,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) author: u64,
    /// `opened`, `closed` or `merged`.
    pub(super) state: &'static str,
    pub(super) source_branch: String,
    pub(super) target_branch: String,
    /// The last tip of the source branch that was seen.
    pub(super) sha: String,
    pub(super) created_at: f64,
    pub(super) updated_at: f64,
    /// When it was closed or merged.
    pub(super) ended_at: Option<f64>,
    /// Answers left that lack what is being prepared.
    pub(super) unprepared: u32,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            base: String::new(),
            fixed_time: None,
            hours_ahead: 0,
            users: BTreeMap::new(),
            tokens: BTreeMap::new(),
            projects: BTreeMap::new(),
            moved: BTreeMap::new(),
            limits: Limits::new(),
            totals: false,
            older: false,
            last_id: 100,
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

    /// A time as this instance writes it.
    pub(super) fn time(&self, at: f64) -> String {
        if self.hours_ahead == 0 {
            return calendar::milliseconds(at);
        }
        let local = calendar::milliseconds(at + f64::from(self.hours_ahead) * 3_600.0);
        format!("{}+{:02}:00", local.trim_end_matches('Z'), self.hours_ahead)
    }

    /// The base of the API.
    pub(super) fn api(&self) -> String {
        format!("{}/api/v4", self.base)
    }

    /// A fresh id; ids of everything rise together.
    pub(super) fn fresh_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The id of a user, created when first heard of. Names that end in `_bot` are bots.
    pub(super) fn user_id(&mut self, username: &str) -> u64 {
        if let Some(known) = self.users.values().find(|user| user.username == username) {
            return known.id;
        }
        let id = self.fresh_id();
        let user = User {
            id,
            username: username.to_owned(),
            name: format!("{username} (name)"),
            email: format!("{username}@example.org"),
            bot: username.contains("_bot"),
        };
        self.users.insert(id, user);
        id
    }

    /// The project of that full path, case aside, following no move.
    pub(super) fn project_named(&self, path: &str) -> Option<&Project> {
        self.projects
            .values()
            .find(|project| project.path.eq_ignore_ascii_case(path))
    }

    /// Notes what a push changed.
    pub(super) fn pushed(&mut self, project: u64) {
        let now = self.now();
        let Some(project) = self.projects.get_mut(&project) else {
            return;
        };
        project.last_activity = now;
        project.refused_now = project.refused_after_push;
        let branches = project.bare.branches();
        if project.default_branch.is_none() && project.repository_enabled {
            project.default_branch = branches.keys().next().cloned();
        }
        for request in project
            .merge_requests
            .values_mut()
            .filter(|one| one.state == "opened")
        {
            if let Some(sha) = branches.get(&request.source_branch)
                && *sha != request.sha
            {
                request.sha.clone_from(sha);
                request.updated_at = now;
            }
        }
    }
}

impl Project {
    /// The access level of a user, from wherever it comes; `None` for a stranger.
    pub(super) fn level(&self, user: u64) -> Option<u32> {
        self.members
            .get(&user)
            .max(self.group_members.get(&user))
            .copied()
    }

    /// The name of the project without its groups.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The groups above it.
    pub(super) fn namespace(&self) -> &str {
        self.path
            .rsplit_once('/')
            .map_or("", |(namespace, _)| namespace)
    }

    /// The id of a label by its exact name.
    pub(super) fn label_id(&self, name: &str) -> Option<u64> {
        self.labels
            .iter()
            .find(|(_, have)| *have == name)
            .map(|(id, _)| *id)
    }

    /// The names of the labels on an issue.
    pub(super) fn label_names(&self, issue: &IssueData) -> Vec<String> {
        issue
            .labels
            .iter()
            .filter_map(|id| self.labels.get(id).cloned())
            .collect()
    }
}
