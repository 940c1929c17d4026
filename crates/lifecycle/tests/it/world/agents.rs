//! An agent server in memory.

use super::{Log, others};
use lifecycle::ports::{AgentError, Agents, Conversation, Observation, StartConversation, Started};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

pub struct FakeAgents {
    conversations: RefCell<BTreeMap<String, (Conversation, String)>>,
    /// What the next starts answer instead; with "lost", the conversation exists all the same.
    pub next_starts: RefCell<VecDeque<AgentError>>,
    pub starts: RefCell<Vec<StartConversation>>,
    /// What the next interrupts answer instead.
    pub next_interrupts: RefCell<VecDeque<AgentError>>,
    /// Interrupts are accepted and change nothing.
    pub is_deaf: Cell<bool>,
    /// What the next questions for last words answer instead.
    pub next_responses: RefCell<VecDeque<AgentError>>,
    pub is_sandbox: Cell<bool>,
    /// Nothing but starts is answered.
    pub is_silent: Cell<bool>,
    /// How long a conversation works before it has finished, in looks.
    pub looks_until_finished: Cell<Option<u32>>,
    log: Log,
}

pub const LOST: &str = "the answer was lost";

impl FakeAgents {
    pub fn new(log: Log) -> Self {
        Self {
            conversations: RefCell::default(),
            next_starts: RefCell::default(),
            starts: RefCell::default(),
            next_interrupts: RefCell::default(),
            is_deaf: Cell::new(false),
            next_responses: RefCell::default(),
            is_sandbox: Cell::new(false),
            is_silent: Cell::new(false),
            looks_until_finished: Cell::new(None),
            log,
        }
    }

    /// Makes a conversation look like this, with these last words.
    pub fn is(&self, id: &str, conversation: Conversation, response: &str) {
        let entry = (conversation, response.to_owned());
        self.conversations.borrow_mut().insert(id.into(), entry);
    }

    pub fn forget(&self, id: &str) {
        self.conversations.borrow_mut().remove(id);
    }

    pub fn knows(&self, id: &str) -> bool {
        self.conversations.borrow().contains_key(id)
    }

    fn answer(&self) -> Result<(), AgentError> {
        if self.is_silent.get() {
            Err(AgentError::Unavailable("connection refused".into()))
        } else {
            Ok(())
        }
    }
}

impl Agents for FakeAgents {
    async fn start(&self, request: &StartConversation) -> Result<Started, AgentError> {
        self.log.add("start");
        others().await;
        let error = self.next_starts.borrow_mut().pop_front();
        let id = request.conversation_id.clone();
        let existed = self.knows(&id);
        if !matches!(&error, Some(error) if !error.to_string().contains(LOST)) && !existed {
            self.starts.borrow_mut().push(request.clone());
            self.is(&id, Conversation::Running, "");
        }
        error.map_or(
            Ok(Started {
                conversation_id: id,
                existed,
            }),
            Err,
        )
    }

    async fn observe(&self, ids: &[String]) -> Vec<Observation> {
        others().await;
        self.log.add(format!("observe {}", ids.len()));
        if let Some(looks) = self.looks_until_finished.get() {
            self.looks_until_finished.set(Some(looks.saturating_sub(1)));
            if looks == 0 {
                for entry in self.conversations.borrow_mut().values_mut() {
                    entry.0 = Conversation::Finished;
                }
            }
        }
        let look = |id: &String| match self.conversations.borrow().get(id) {
            _ if self.is_silent.get() => Observation::Unavailable("connection refused".into()),
            Some((conversation, _)) => Observation::Seen(*conversation),
            None => Observation::Unknown,
        };
        ids.iter().map(look).collect()
    }

    async fn final_response(&self, id: &str) -> Result<String, AgentError> {
        others().await;
        self.answer()?;
        if let Some(error) = self.next_responses.borrow_mut().pop_front() {
            return Err(error);
        }
        match self.conversations.borrow().get(id) {
            Some((_, response)) => Ok(response.clone()),
            None => Err(AgentError::Refused("404".into())),
        }
    }

    async fn interrupt(&self, id: &str) -> Result<(), AgentError> {
        self.log.add("interrupt");
        others().await;
        self.answer()?;
        if let Some(error) = self.next_interrupts.borrow_mut().pop_front() {
            return Err(error);
        }
        if self.is_deaf.get() {
            return Ok(());
        }
        if let Some(entry) = self.conversations.borrow_mut().get_mut(id) {
            entry.0 = Conversation::Paused;
        }
        Ok(())
    }

    fn is_sandbox(&self) -> bool {
        self.is_sandbox.get()
    }

    fn conversation_url(&self, id: &str) -> String {
        format!("https://app.example.com/conversations/{id}")
    }
}
