//! A GitLab to test against: projects at any depth, issues with label events and notes, merge
//! requests, members, and real git over HTTP from bare repositories in a temporary directory, below
//! a path of the instance and behind TLS with a private authority if wanted. Written from GitLab's
//! REST documentation (v4); its answers are checked against the shapes in `fixtures/gitlab/`.
//!
//! What is not in here: groups as resources, pipelines, discussions, approvals, GraphQL. A call
//! that is not modelled is a 404 and counts as unexpected.
//!
//! ```
//! use testbed::{call::Call, gitlab::{GitLab, NewIssue}};
//!
//! let gitlab = GitLab::start()?;
//! gitlab.token("glpat-1", "automation");
//! let project = gitlab.project("group/team/service")?;
//! project.set_member("automation", 30);
//! let issue = project.open_issue(NewIssue::titled("Retry uploads"));
//! issue.label("openhands", "alice");
//!
//! let url = format!("{}/projects/group%2Fteam%2Fservice/issues", gitlab.api_url());
//! let answer = Call::get(&url).header("private-token", "glpat-1").send()?;
//! assert_eq!(answer.json()[0]["labels"][0], "openhands");
//! assert_eq!(project.files("main").keys().collect::<Vec<_>>(), ["README.md"]);
//! # Ok::<(), testbed::TestbedError>(())
//! ```

mod backend;
mod code;
mod git;
mod history;
mod hooks;
mod issue;
mod issues;
mod limits;
mod merge_requests;
mod model;
mod project;
mod quick_actions;
mod render;
mod render_code;
mod replies;
mod repositories;
mod routes;
#[cfg(test)]
mod tests;

pub use code::MergeRequest;
pub use history::{Commit, Push};
pub use issue::{Issue, NewIssue, Note};
pub use project::Project;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use tempfile::TempDir;

use crate::rest::Ask;
use crate::tls::{PrivateCa, TlsFront};
use crate::tree::{Entry, files};
use crate::{StandIn, TestbedError};
use git::Bare;
use model::{Model, Token};

/// The content type of GitLab's JSON.
const JSON: &str = "application/json";

/// The model as the socket and the verbs share it.
type Shared = Arc<Mutex<Model>>;

/// A running GitLab; it serves until it is dropped. Handles to its parts stay usable for as long.
pub struct GitLab {
    // The front goes first: lines through it end before the server behind does.
    front: Option<TlsFront>,
    server: StandIn,
    model: Shared,
    scratch: TempDir,
}

impl GitLab {
    /// Starts one at the root of its host.
    ///
    /// # Errors
    /// [`TestbedError`] when a port or a temporary directory cannot be had.
    pub fn start() -> Result<Self, TestbedError> {
        Self::start_with("", None)
    }

    /// Starts one below a path such as `/gitlab`.
    ///
    /// # Errors
    /// [`TestbedError`] when a port or a temporary directory cannot be had.
    pub fn start_below(path: &str) -> Result<Self, TestbedError> {
        Self::start_with(path, None)
    }

    /// Starts one below a path (or at the root: `""`) behind TLS with a certificate of `ca`.
    ///
    /// # Errors
    /// [`TestbedError`] when a port, a certificate or a temporary directory cannot be had.
    pub fn start_tls(path: &str, ca: &PrivateCa) -> Result<Self, TestbedError> {
        Self::start_with(path, Some(ca))
    }

    fn start_with(path: &str, ca: Option<&PrivateCa>) -> Result<Self, TestbedError> {
        let scratch = tempfile::tempdir().map_err(|source| TestbedError::Scratch {
            path: "a temporary directory".to_owned(),
            source,
        })?;
        let model = Arc::new(Mutex::new(Model::new()));
        let prefix: Arc<str> = Arc::from(path.trim_end_matches('/'));
        let shared = (Arc::clone(&model), Arc::clone(&prefix));
        let server = StandIn::start("GitLab", |_| {
            Router::new()
                .route("/", axum::routing::any(serve))
                .route("/{*path}", axum::routing::any(serve))
                .with_state(shared)
        })?;
        let front = match ca {
            Some(ca) => Some(TlsFront::start(ca, server.address())?),
            None => None,
        };
        let host = front
            .as_ref()
            .map_or_else(|| server.base_url().to_owned(), TlsFront::base_url);
        lock(&model).base = format!("{host}{prefix}");
        Ok(Self {
            front,
            server,
            model,
            scratch,
        })
    }

    /// The address of the instance, its path included, without a slash at the end.
    pub fn url(&self) -> String {
        lock(&self.model).base.clone()
    }

    /// The base of the API, without a slash at the end.
    pub fn api_url(&self) -> String {
        lock(&self.model).api()
    }

    /// The socket: its log, its faults, its latency. Behind TLS it is the plain one.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// The final check: nothing was asked that nobody expected, no text carried out a command.
    ///
    /// # Errors
    /// [`TestbedError::Unexpected`] lists what was.
    pub fn check(&self) -> Result<(), TestbedError> {
        self.server.check()
    }

    /// The id of a user, who is created when first heard of. A name with `_bot` in it is a bot, as
    /// those of project and group access tokens are.
    pub fn user(&self, username: &str) -> u64 {
        lock(&self.model).user_id(username)
    }

    /// Deletes an account: whatever it did now names nobody (`null`).
    pub fn delete_user(&self, username: &str) {
        lock(&self.model)
            .users
            .retain(|_, user| user.username != username);
    }

    /// Makes a token known that may read and write, over REST and with git.
    pub fn token(&self, token: &str, username: &str) {
        self.add_token(token, username, true);
    }

    /// Makes a token known that may only read (scope `read_api`, `read_repository`).
    pub fn read_only_token(&self, token: &str, username: &str) {
        self.add_token(token, username, false);
    }

    fn add_token(&self, token: &str, username: &str, writes: bool) {
        let mut model = lock(&self.model);
        let user = model.user_id(username);
        model.tokens.insert(
            token.to_owned(),
            Token {
                user,
                writes,
                revoked: false,
            },
        );
    }

    /// Revokes a token: 401 with GitLab's words for it.
    pub fn revoke(&self, token: &str) {
        if let Some(token) = lock(&self.model).tokens.get_mut(token) {
            token.revoked = true;
        }
    }

    /// The private project of that full path, created with a README on `main` when first asked for.
    ///
    /// # Errors
    /// [`TestbedError`] when its repository cannot be made.
    pub fn project(&self, path: &str) -> Result<Project, TestbedError> {
        self.project_with(path, [("README.md", format!("# {path}\n"))])
    }

    /// The same with an initial commit of these files.
    ///
    /// # Errors
    /// [`TestbedError`] when its repository cannot be made.
    pub fn project_with<P: Into<String>, E: Into<Entry>>(
        &self,
        path: &str,
        initial: impl IntoIterator<Item = (P, E)>,
    ) -> Result<Project, TestbedError> {
        let known = lock(&self.model)
            .project_named(path)
            .map(|project| project.id);
        if let Some(id) = known {
            return Ok(Project {
                model: Arc::clone(&self.model),
                id,
            });
        }
        let project = self.empty_project(path)?;
        project.commit_to("main", "Initial commit", files(initial))?;
        project.set_default_branch("main");
        project.protect("main")?;
        Ok(project)
    }

    /// A project whose repository has no commit yet.
    ///
    /// # Errors
    /// [`TestbedError`] when its repository cannot be made.
    pub fn empty_project(&self, path: &str) -> Result<Project, TestbedError> {
        let id = lock(&self.model).fresh_id();
        let bare = Bare::create(self.scratch.path().join(format!("{id}.git")))?;
        let mut model = lock(&self.model);
        let project = model::Project::new(id, path, bare, model.now());
        model.projects.insert(id, project);
        Ok(Project {
            model: Arc::clone(&self.model),
            id,
        })
    }

    /// Stops the clock at this moment, seconds since the epoch. Without it the real time counts.
    pub fn set_now(&self, now: f64) {
        lock(&self.model).fixed_time = Some(now);
    }

    /// Moves a stopped clock on; stops it first if it was not.
    pub fn advance(&self, seconds: f64) {
        let mut model = lock(&self.model);
        model.fixed_time = Some(model.now() + seconds);
    }

    /// Lets it write its times so many hours ahead of UTC, as `…+02:00`.
    pub fn set_hours_ahead(&self, hours: u8) {
        lock(&self.model).hours_ahead = hours;
    }

    /// Whether lists tell how long they are (`x-total`); without, as on large lists, they do not.
    pub fn set_totals(&self, totals: bool) {
        lock(&self.model).totals = totals;
    }

    /// Makes it an older instance: a merge request that is open already is a 422, not a 409.
    pub fn set_older(&self, older: bool) {
        lock(&self.model).older = older;
    }

    /// Sets how many of `limit` requests are left until `reset`, seconds since the epoch.
    pub fn set_rate_limit(&self, limit: u64, remaining: u64, reset: f64) {
        let limits = &mut lock(&self.model).limits;
        limits.limit = limit;
        limits.remaining = remaining.min(limit);
        limits.reset = Some(reset);
    }

    /// Refuses the next `times` REST requests with 429, and the seconds to wait if there are any.
    pub fn refuse_next(&self, times: usize, wait: Option<u64>) {
        lock(&self.model)
            .limits
            .refusals
            .extend(std::iter::repeat_n(wait, times));
    }
}

impl fmt::Debug for GitLab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.front.is_some() { ", TLS" } else { "" };
        write!(f, "GitLab({}{tls})", self.url())
    }
}

async fn serve(State((model, prefix)): State<(Shared, Arc<str>)>, request: Request) -> Response {
    let ask = Ask::read(request).await;
    if backend::is_git(&ask) {
        return backend::serve(&model, &prefix, &ask)
            .await
            .into_response(JSON);
    }
    // Some answers ask git, which takes a moment; the line must not wait for it.
    let answered =
        tokio::task::spawn_blocking(move || routes::answer(&mut lock(&model), &ask, &prefix));
    match answered.await {
        Ok(reply) => reply.into_response(JSON),
        Err(_) => replies::error(500, "500 Internal Server Error").into_response(JSON),
    }
}

/// The model, also after a panic of somebody who held it: the tests are to go on and tell.
fn lock(model: &Shared) -> MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}
