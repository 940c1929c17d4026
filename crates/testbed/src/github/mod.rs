//! A GitHub to test against: repositories, pull requests, labels, reviews and comments as data, the
//! REST calls an adapter needs over a real socket, and a download host on another port. Written
//! from GitHub's REST documentation (version 2022-11-28) and the description that it
//! publishes, against which the answers are checked.
//!
//! What is not in here: plain issues, branches and commits as resources, search, GraphQL. A call
//! that is not modelled is a 404 and counts as unexpected.
//!
//! ```
//! use testbed::{call::Call, github::{GitHub, NewPull}};
//!
//! let github = GitHub::start()?;
//! github.token("ghp_1", "acme-bot");
//! let repo = github.repo("acme/widget");
//! let pull = repo.open_pull(NewPull::titled("Faster").files([("src/lib.rs", "fn f() {}\n")]));
//! pull.label("openhands-review", "alice");
//!
//! let url = format!("{}/repos/acme/widget/pulls", github.api_url());
//! let answer = Call::get(&url).bearer("ghp_1").header("user-agent", "docs").send()?;
//! assert_eq!(answer.json()[0]["labels"][0]["name"], "openhands-review");
//! assert_eq!(answer.json()[0]["head"]["sha"], pull.head_sha());
//! # Ok::<(), testbed::TestbedError>(())
//! ```

mod archive;
mod codeload;
mod commits;
mod contents;
mod diff;
mod limits;
mod model;
mod new_pull;
mod posts;
mod pull;
mod reads;
mod render;
mod replies;
mod repository;
mod routes;
#[cfg(test)]
mod tests;

pub use archive::Archive;
pub use limits::Refusal;
pub use model::{Barrier, InlineComment, ReviewState, Side};
pub use new_pull::NewPull;
pub use pull::{Posted, Pull, Review};
pub use repository::Repository;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;

use crate::rest::Ask;
use crate::{StandIn, TestbedError};
use model::{Model, Token};

/// The content type of GitHub's JSON.
const JSON: &str = "application/json; charset=utf-8";

/// The model as the sockets and the verbs share it.
type Shared = Arc<Mutex<Model>>;

/// A running GitHub; it serves until it is dropped. Handles to its parts stay usable for as long.
pub struct GitHub {
    api: StandIn,
    codeload: StandIn,
    prefix: &'static str,
    model: Shared,
}

impl GitHub {
    /// Starts one that answers as `https://api.github.com` does.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when a port cannot be had.
    pub fn start() -> Result<Self, TestbedError> {
        Self::start_below("")
    }

    /// Starts one that answers as a GitHub Enterprise Server does, below `/api/v3`.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when a port cannot be had.
    pub fn start_enterprise() -> Result<Self, TestbedError> {
        Self::start_below("/api/v3")
    }

    fn start_below(prefix: &'static str) -> Result<Self, TestbedError> {
        let model = Arc::new(Mutex::new(Model::new()));
        let codeload = StandIn::start("GitHub download", |_| codeload::router(Arc::clone(&model)))?;
        let api = StandIn::start("GitHub", |base| {
            let mut inner = lock(&model);
            inner.api = format!("{base}{prefix}");
            codeload.base_url().clone_into(&mut inner.codeload);
            if !prefix.is_empty() {
                base.clone_into(&mut inner.html);
            }
            let shared = (Arc::clone(&model), prefix);
            Router::new()
                .route("/", axum::routing::any(serve))
                .route("/{*path}", axum::routing::any(serve))
                .with_state(shared)
        })?;
        Ok(Self {
            api,
            codeload,
            prefix,
            model,
        })
    }

    /// The base of the API, without a slash at the end: what goes into `github_api_url`.
    pub fn api_url(&self) -> String {
        self.api.url(self.prefix)
    }

    /// The API's socket: its log, its faults, its latency.
    pub fn server(&self) -> &StandIn {
        &self.api
    }

    /// The download host's socket, likewise.
    pub fn codeload(&self) -> &StandIn {
        &self.codeload
    }

    /// The final check of both sockets.
    ///
    /// # Errors
    /// [`TestbedError::Unexpected`] lists requests that nobody should have made.
    pub fn check(&self) -> Result<(), TestbedError> {
        self.api.check()?;
        self.codeload.check()
    }

    /// Makes a token known that may read and write; it belongs to `login`.
    pub fn token(&self, token: &str, login: &str) {
        self.add_token(token, login, true, false);
    }

    /// Makes a token known that may only read: writes are a 403.
    pub fn read_only_token(&self, token: &str, login: &str) {
        self.add_token(token, login, false, false);
    }

    /// Makes the token of an app's installation known; it belongs to the app's bot (`name[bot]`).
    /// `GET /user` is a 403 for it, GraphQL's `viewer` answers.
    pub fn app_token(&self, token: &str, bot: &str) {
        self.add_token(token, bot, true, true);
    }

    fn add_token(&self, token: &str, login: &str, writes: bool, app: bool) {
        let mut model = lock(&self.model);
        model.person(login);
        model.tokens.insert(
            token.to_owned(),
            Token {
                login: login.to_owned(),
                writes,
                app,
            },
        );
    }

    /// Takes a token away: it is a 401 from now on.
    pub fn revoke(&self, token: &str) {
        lock(&self.model).tokens.remove(token);
    }

    /// The repository `owner/name`, created with a README on `main` when first asked for.
    pub fn repo(&self, full_name: &str) -> Repository {
        let (owner, name) = full_name.split_once('/').unwrap_or(("acme", full_name));
        let mut model = lock(&self.model);
        let known = model.repo_named(owner, name).map(|repo| repo.id);
        let id = known.unwrap_or_else(|| model.create_repo(owner, name));
        Repository {
            model: Arc::clone(&self.model),
            id,
        }
    }

    /// Deletes an account: whatever it did now names nobody (`null`).
    pub fn delete_user(&self, login: &str) {
        lock(&self.model).people.remove(&login.to_lowercase());
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

    /// Sets how many of `limit` requests are left until `reset`, seconds since the epoch.
    pub fn set_rate_limit(&self, limit: u64, remaining: u64, reset: f64) {
        let limits = &mut lock(&self.model).limits;
        limits.limit = limit;
        limits.remaining = remaining.min(limit);
        limits.reset = Some(reset);
    }

    /// How many requests are left.
    pub fn rate_limit_remaining(&self) -> u64 {
        lock(&self.model).limits.remaining
    }

    /// Refuses the next `times` requests in this way, after those refused already.
    pub fn refuse_next(&self, times: usize, refusal: Refusal) {
        lock(&self.model)
            .limits
            .refusals
            .extend(std::iter::repeat_n(refusal, times));
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitHub({})", self.api_url())
    }
}

async fn serve(
    State((model, prefix)): State<(Shared, &'static str)>,
    request: Request,
) -> Response {
    let ask = Ask::read(request).await;
    let reply = routes::answer(&mut lock(&model), &ask, prefix);
    reply.into_response(JSON)
}

/// The model, also after a panic of somebody who held it: the tests are to go on and tell.
fn lock(model: &Shared) -> MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}
