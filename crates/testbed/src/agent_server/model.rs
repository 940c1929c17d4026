//! The state of the agent server, and how a conversation goes from one status to the next.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::deeds::{self, Deed, Visit};
use super::script::{Pace, Script, Status};
use super::start_body::Start;
use super::{Conversation, SESSION_KEY};
use crate::kv::now;

#[derive(Debug)]
pub(super) struct Held {
    start: Start,
    status: Status,
    script: Script,
    step: usize,
    looks: u32,
    /// The script no longer applies: interrupted, or set by the test.
    stopped: bool,
    /// A step is under way: its deeds are being done.
    stepping: bool,
    started: bool,
    response: String,
    created_at: f64,
    updated_at: f64,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) key: String,
    pub(super) secrets: BTreeMap<String, String>,
    pub(super) llm: Value,
    pub(super) mcp_config: Value,
    pub(super) profiles: BTreeMap<String, Value>,
    pub(super) capacity: Option<usize>,
    pub(super) heeds_ids: bool,
    pub(super) git_init: bool,
    pub(super) script: Script,
    pub(super) queue: VecDeque<Script>,
    pub(super) by_prompt: Vec<(String, Script)>,
    pub(super) created: Vec<String>,
    pub(super) attempts: HashMap<String, usize>,
    pub(super) conversations: HashMap<String, Held>,
    pub(super) failed_deeds: Vec<String>,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            key: SESSION_KEY.to_owned(),
            secrets: BTreeMap::new(),
            llm: json!({"model": "openai/scripted", "api_key": "llm-key"}),
            mcp_config: json!({}),
            profiles: BTreeMap::new(),
            capacity: None,
            heeds_ids: true,
            git_init: false,
            script: Script::finishes(),
            queue: VecDeque::new(),
            by_prompt: Vec::new(),
            created: Vec::new(),
            attempts: HashMap::new(),
            conversations: HashMap::new(),
            failed_deeds: Vec::new(),
        }
    }
}

/// What became of a request to start a conversation.
pub(super) enum Started {
    /// It is new; its pace tells whether it must be moved along by the clock.
    New { id: String, pace: Pace },
    /// It was there already and nothing has changed.
    Known { id: String },
    /// There is no room for another one.
    Full,
}

impl Model {
    pub(super) fn snapshot(&self, id: &str) -> Option<Conversation> {
        let held = self.conversations.get(id)?;
        Some(Conversation {
            id: id.to_owned(),
            status: held.status,
            working_dir: held.start.working_dir.clone(),
            prompt: held.start.prompt.clone(),
            body: held.start.body.clone(),
            response: held.response.clone(),
            created_at: held.created_at,
            looks: held.looks,
        })
    }

    /// Creation and last change of a conversation, in seconds since the epoch.
    pub(super) fn times(&self, id: &str) -> Option<(f64, f64)> {
        self.conversations
            .get(id)
            .map(|held| (held.created_at, held.updated_at))
    }

    pub(super) fn start(&mut self, start: Start) -> Started {
        if let Some(id) = &start.id {
            *self.attempts.entry(id.clone()).or_default() += 1;
        }
        let wanted = start.id.clone().filter(|_| self.heeds_ids);
        if let Some(id) = wanted
            .clone()
            .filter(|id| self.conversations.contains_key(id))
        {
            return Started::Known { id };
        }
        let taken = self
            .conversations
            .values()
            .filter(|held| held.status.takes_room())
            .count();
        if self.capacity.is_some_and(|capacity| taken >= capacity) {
            return Started::Full;
        }
        let id = wanted.unwrap_or_else(|| own_id(self.created.len()));
        let script = self.script_of(&start.prompt);
        let (status, pace) = (script.statuses[0], script.pace);
        let now = now();
        let never_runs = start.silent || start.stillborn.is_some();
        let (status, pace) = if never_runs {
            (Status::Idle, Pace::Told)
        } else {
            (status, pace)
        };
        let held = Held {
            start,
            status,
            script,
            step: 0,
            looks: 0,
            stopped: never_runs,
            stepping: false,
            started: false,
            response: String::new(),
            created_at: now,
            updated_at: now,
        };
        self.created.push(id.clone());
        self.conversations.insert(id.clone(), held);
        Started::New { id, pace }
    }

    fn script_of(&mut self, prompt: &str) -> Script {
        let fitting = self
            .by_prompt
            .iter()
            .find(|(part, _)| prompt.contains(part.as_str()));
        if let Some((_, script)) = fitting {
            return script.clone();
        }
        self.queue
            .pop_front()
            .unwrap_or_else(|| self.script.clone())
    }

    /// Counts a look; tells whether the conversation must go a step further before it is shown.
    pub(super) fn look(&mut self, id: &str) -> bool {
        let Some(held) = self.conversations.get_mut(id) else {
            return false;
        };
        held.looks += 1;
        matches!(held.script.pace, Pace::Looks(looks) if held.looks > looks)
            && !held.stopped
            && held.step + 1 < held.script.statuses.len()
    }

    /// Counts the look that brought a step about as the first one at the new status.
    pub(super) fn look_again(&mut self, id: &str) {
        if let Some(held) = self.conversations.get_mut(id) {
            held.looks = held.looks.max(1);
        }
    }

    pub(super) fn set_status(&mut self, id: &str, status: Status) {
        if let Some(held) = self.conversations.get_mut(id) {
            held.stopped = true;
            held.enter(status);
        }
    }

    pub(super) fn set_response(&mut self, id: &str, response: &str) {
        if let Some(held) = self.conversations.get_mut(id) {
            response.clone_into(&mut held.response);
        }
    }

    /// Stops a running agent at once; `false` when there is no such conversation.
    pub(super) fn interrupt(&mut self, id: &str) -> bool {
        let Some(held) = self.conversations.get_mut(id) else {
            return false;
        };
        if matches!(held.status, Status::Idle | Status::Running) {
            held.stopped = true;
            held.enter(Status::Paused);
        }
        true
    }

    /// Begins the next step of a script: what is to be done before it, and where.
    fn begin_step(&mut self, id: &str) -> Option<(Status, Vec<Deed>, Visit)> {
        let visit = self.visit(id)?;
        let held = self.conversations.get_mut(id)?;
        let next = *held.script.statuses.get(held.step + 1)?;
        if held.stopped || held.stepping {
            return None;
        }
        held.stepping = true;
        let mut deeds = Vec::new();
        if !held.started && next != Status::Idle {
            held.started = true;
            deeds.extend(held.script.on_start.iter().cloned());
        }
        if next.is_end() {
            deeds.extend(held.script.on_finish.iter().cloned());
        }
        Some((next, deeds, visit))
    }

    fn end_step(&mut self, id: &str, next: Status, failures: Vec<String>) {
        self.failed_deeds.extend(failures);
        let Some(held) = self.conversations.get_mut(id) else {
            return;
        };
        held.stepping = false;
        if held.stopped {
            return;
        }
        held.step += 1;
        held.enter(next);
        if next.is_end() {
            held.response.clone_from(&held.script.response);
        }
    }

    fn visit(&self, id: &str) -> Option<Visit> {
        let start = &self.conversations.get(id)?.start;
        let granted = start.body["secrets"].as_object();
        let names = granted.into_iter().flat_map(|secrets| secrets.keys());
        let secrets =
            names.filter_map(|name| Some((name.clone(), self.secrets.get(name)?.clone())));
        Some(Visit {
            id: id.to_owned(),
            working_dir: start.working_dir.clone().into(),
            prompt: start.prompt.clone(),
            body: start.body.clone(),
            secrets: secrets.collect(),
        })
    }
}

impl Held {
    fn enter(&mut self, status: Status) {
        self.status = status;
        self.looks = 0;
        self.updated_at = now();
    }
}

/// The model with its lock, and what must be done without holding it.
#[derive(Debug, Default)]
pub(super) struct World {
    model: Mutex<Model>,
}

impl World {
    pub(super) fn lock(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes one step further; deeds are done by the calling thread, without the lock.
    pub(super) fn advance(&self, id: &str) -> bool {
        let Some((next, deeds, visit)) = self.lock().begin_step(id) else {
            return false;
        };
        let failures = deeds.iter().filter_map(|deed| {
            let failure = deed.perform(&visit).err()?;
            Some(format!("conversation {id}: {failure}"))
        });
        let failures = failures.collect();
        self.lock().end_step(id, next, failures);
        true
    }

    /// As [`advance`](Self::advance), away from the thread that serves.
    pub(super) async fn advance_aside(self: Arc<Self>, id: String) -> bool {
        tokio::task::spawn_blocking(move || self.advance(&id))
            .await
            .unwrap_or(false)
    }

    /// Makes the working directory a repository if it exists and is none.
    pub(super) async fn git_init(self: Arc<Self>, working_dir: String) {
        let init = move || {
            let directory = Path::new(&working_dir);
            if directory.is_dir() && !directory.join(".git").exists() {
                let arguments = ["init", "--quiet"].map(str::to_owned);
                if let Err(failure) = deeds::git(directory, &arguments) {
                    self.lock().failed_deeds.push(failure);
                }
            }
        };
        let _ = tokio::task::spawn_blocking(init).await;
    }
}

/// The id that a server chooses by itself: a UUID of version 4 in form.
fn own_id(number: usize) -> String {
    format!("0e4c1d00-0000-4000-8000-{number:012x}")
}
