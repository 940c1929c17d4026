//! What ends a poll before it has begun.

use super::*;
use crate::decide::Stopped;
use crate::document::{DocumentError, NEWS};
use crate::engine::{Parts, Run};
use crate::news::{Interests, NewsPolicy};
use crate::ports::{
    AgentError, Change, Clock, Feeds, Guard, News, Silent, StartConversation, Started, StoreError,
    WorkspaceError, Workspaces,
};
use serde_json::Value;
use std::cell::RefCell;

/// A store that cannot be read. Whoever asks it for more, or anybody else for anything, has begun
/// something on a guess.
struct Unreadable(StoreError);

/// Everybody else.
struct Untouched;

impl Store for Unreadable {
    async fn load(&self) -> Result<Document, StoreError> {
        Err(self.0.clone())
    }
    async fn update(
        &self,
        _change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        unreachable!("it was not read")
    }
    async fn create_guard(&self, _name: &str, _content: &Value) -> Result<Guard, StoreError> {
        unreachable!("it was not read")
    }
    async fn read_guard(&self, _name: &str) -> Result<Option<Value>, StoreError> {
        unreachable!("it was not read")
    }
    async fn delete_guard(&self, _name: &str) -> Result<(), StoreError> {
        unreachable!("it was not read")
    }
    fn budget(&self) -> usize {
        1000
    }
    async fn load_cache(&self) -> Option<Value> {
        unreachable!("it was not read")
    }
    async fn save_cache(&self, _cache: &Value) {
        unreachable!("it was not read")
    }
}

impl Agents for Untouched {
    async fn start(&self, _request: &StartConversation) -> Result<Started, AgentError> {
        unreachable!("no document names it")
    }
    async fn observe(&self, _ids: &[String]) -> Vec<Observation> {
        unreachable!("no document names it")
    }
    async fn final_response(&self, _conversation_id: &str) -> Result<String, AgentError> {
        unreachable!("no document names it")
    }
    async fn interrupt(&self, _conversation_id: &str) -> Result<(), AgentError> {
        unreachable!("no document names it")
    }
    fn is_sandbox(&self) -> bool {
        false
    }
    fn conversation_url(&self, _conversation_id: &str) -> String {
        unreachable!("no document names it")
    }
}

impl Workspaces for Untouched {
    async fn create(&self, _parts: &[&str]) -> Result<String, WorkspaceError> {
        unreachable!("nothing is claimed")
    }
    fn path_of(&self, _parts: &[&str]) -> String {
        unreachable!("nothing is claimed")
    }
    async fn remove(&self, _dir: &str, _stopped: &Stopped) -> Result<(), WorkspaceError> {
        unreachable!("no document names it")
    }
    async fn read_file(
        &self,
        _dir: &str,
        _path: &str,
        _max: u64,
    ) -> Result<Option<String>, WorkspaceError> {
        unreachable!("no document names it")
    }
    async fn exists(&self, _dir: &str) -> Result<bool, WorkspaceError> {
        unreachable!("no document names it")
    }
}

impl Clock for Untouched {
    fn now(&self) -> f64 {
        1_787_044_320.0
    }
    fn time_left(&self) -> f64 {
        480.0
    }
    async fn sleep(&self, _seconds: f64) {
        unreachable!("there is nothing to wait for")
    }
}

impl Feeds for Untouched {
    async fn read(&self, _seen: &[String], _now: f64) -> News {
        unreachable!("what was told is not known")
    }
}

/// The error of a poll whose store answers so, and what its report says.
async fn ended_by(error: StoreError, dry_run: bool) -> (TargetError, TargetReport) {
    let store = Unreadable(error);
    let world = Parts {
        store: &store,
        agents: &Untouched,
        workspaces: &Untouched,
        clock: &Untouched,
        journal: &Silent,
    };
    let policy = NewsPolicy {
        feeds: &Untouched,
        interests: Interests::default(),
    };
    let mut run = Run::new("run-1", "automation-1");
    run.dry_run = dry_run;
    let engine = || Engine {
        run: &run,
        world: &world,
        policy: &policy,
        desk: crate::engine::Desk::new(&store, &NEWS, policy.target()),
        report: RefCell::new(TargetReport::new(policy.target())),
    };
    (engine().steps().await.unwrap_err(), engine().poll().await)
}

#[tokio::test]
async fn a_store_that_cannot_be_read_ends_the_poll_before_anything_is_asked() {
    let place = || "KV key state".to_owned();
    for error in [
        StoreError::Unavailable {
            place: place(),
            detail: "500".into(),
        },
        StoreError::NotConfigured { place: place() },
        StoreError::Document {
            place: place(),
            error: DocumentError::NewerVersion { found: 9, known: 1 },
            kept: None,
        },
    ] {
        for dry_run in [false, true] {
            let (ended, report) = ended_by(error.clone(), dry_run).await;
            assert_eq!(ended, TargetError::Store(error.clone()));
            assert!(!ended.is_limited());
            assert_eq!(report.status, "failed");
            assert_eq!(report.error, Some(error.to_string()));
            assert_eq!(report.in_flight, 0);
        }
    }
}
