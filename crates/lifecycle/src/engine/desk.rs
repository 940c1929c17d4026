//! The desk: where a poll keeps the document it works on.
//!
//! Every change is an idempotent function of the document (an [`Effect`]). The desk applies it in a
//! transaction, makes the document fit, and remembers it: at the end of the poll all effects
//! are applied once more to the document as it stands then, so that a write that was overtaken
//! on a store without exclusive writes is made good.

use crate::document::{Document, Record, Schema, size};
use crate::ports::{Change, Store, StoreError};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

/// An idempotent change of a document: "make it so".
pub type Effect = Rc<dyn Fn(&mut Document)>;

/// How often a document that the service found too large is shrunk and tried again.
const SHRINK_ATTEMPTS: u32 = 4;

/// Whether an effect found room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It is in the document.
    Found,
    /// The document is full of what must stay, or the service has no room; nothing was changed.
    None,
}

/// How badly an effect needs to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// New work: only if there is room for its result as well.
    WithReserve,
    /// What has happened already.
    Must,
}

pub(crate) struct Desk<'a, S> {
    store: &'a S,
    current: RefCell<Document>,
    effects: RefCell<Vec<Effect>>,
    in_force: RefCell<Option<HashSet<String>>>,
    budget: Cell<usize>,
}

impl<'a, S: Store> Desk<'a, S> {
    pub(crate) fn new(store: &'a S, schema: &'static Schema, target: &str) -> Self {
        Self {
            store,
            current: RefCell::new(Document::empty(schema, target)),
            effects: RefCell::new(Vec::new()),
            in_force: RefCell::new(None),
            budget: Cell::new(store.budget()),
        }
    }

    pub(crate) fn store(&self) -> &'a S {
        self.store
    }

    /// The document as last seen.
    pub(crate) fn current(&self) -> Document {
        self.current.borrow().clone()
    }

    /// Reads the document.
    pub(crate) async fn load(&self) -> Result<Document, StoreError> {
        let document = self.store.load().await?;
        self.current.replace(document.clone());
        Ok(document)
    }

    /// Says which ended records may not be dropped because their trigger is in force.
    pub(crate) fn know_in_force(&self, tasks: Option<HashSet<String>>) {
        self.in_force.replace(tasks);
    }

    /// Applies an effect in a transaction and remembers it for the end of the poll.
    pub(crate) async fn apply(&self, now: f64, effect: Effect) -> Result<Room, StoreError> {
        let room = self.transact_once(now, effect.clone()).await?;
        if room == Room::Found {
            self.later(effect);
        }
        Ok(room)
    }

    /// Applies an effect in a transaction without remembering it.
    pub(crate) async fn transact_once(&self, now: f64, effect: Effect) -> Result<Room, StoreError> {
        self.transact(now, &[effect], &|_| (), Need::Must).await
    }

    /// The same for new work: it needs room for all that will follow from it.
    pub(crate) async fn transact_new_once(
        &self,
        now: f64,
        effect: Effect,
    ) -> Result<Room, StoreError> {
        self.transact(now, &[effect], &|_| (), Need::WithReserve)
            .await
    }

    /// Remembers an effect that can wait for the end of the poll.
    pub(crate) fn later(&self, effect: Effect) {
        self.effects.borrow_mut().push(effect);
    }

    /// Applies everything once more, then `tidy`. Writes only if that changes something.
    pub(crate) async fn flush_with(
        &self,
        now: f64,
        tidy: &dyn Fn(&mut Document),
    ) -> Result<Room, StoreError> {
        let effects = self.effects.borrow().clone();
        self.transact(now, &effects, tidy, Need::Must).await
    }

    /// Makes the document smaller, so that there is room for a key beside it on services that limit
    /// all keys together. Tells whether that gave any.
    pub(crate) async fn make_room(&self, now: f64) -> Result<bool, StoreError> {
        let before = size::wire_size(&self.current.borrow().to_value());
        self.lower_budget();
        let budget = self.budget.get();
        let in_force = |task: &str, record: &Record| self.in_force(task, record);
        let mut change = |document: &mut Document| {
            let before = document.clone();
            // As small as it gets is small enough: nothing is added to it.
            let _ = size::fit(document, budget, &in_force);
            if *document == before {
                return Change::Keep;
            }
            document.set("updated_at", now);
            Change::Write
        };
        let document = self.store.update(&mut change).await?;
        let after = size::wire_size(&document.to_value());
        self.current.replace(document);
        Ok(after < before)
    }

    fn lower_budget(&self) {
        let used = size::wire_size(&self.current.borrow().to_value());
        self.budget
            .set(self.budget.get().min(used.max(1024)) / 4 * 3);
    }

    /// Bytes that the document may take.
    pub(crate) fn store_budget(&self) -> usize {
        self.budget.get()
    }

    /// Whether applying everything to the document as last seen would change it.
    pub(crate) fn is_settled(&self) -> bool {
        let mut document = self.current();
        let before = document.clone();
        for effect in self.effects.borrow().iter() {
            effect(&mut document);
        }
        document == before
    }

    async fn transact(
        &self,
        now: f64,
        effects: &[Effect],
        tidy: &dyn Fn(&mut Document),
        need: Need,
    ) -> Result<Room, StoreError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut room = Room::Found;
            let budget = self.budget.get();
            let mut change = |document: &mut Document| {
                let before = document.clone();
                for effect in effects {
                    effect(document);
                }
                tidy(document);
                if *document == before {
                    room = Room::Found;
                    return Change::Keep;
                }
                let in_force = |task: &str, record: &Record| self.in_force(task, record);
                let fits = match need {
                    Need::WithReserve => size::fit(document, budget, &in_force).is_ok(),
                    // What is under way may use what its claim has reserved. Should that not be
                    // enough, because the share has shrunk meanwhile, it is as small as it gets, and
                    // the service has the last word: losing track of work would be worse.
                    Need::Must => {
                        let room = budget + size::reserved(document);
                        let _ = size::fit(document, room, &in_force);
                        true
                    }
                };
                if !fits {
                    *document = before;
                    room = Room::None;
                    return Change::Keep;
                }
                room = Room::Found;
                if *document == before {
                    // All that was new is what has to go first when there is no room.
                    return Change::Keep;
                }
                document.set("updated_at", now);
                Change::Write
            };
            match self.store.update(&mut change).await {
                Ok(document) => {
                    self.current.replace(document);
                    return Ok(room);
                }
                // The service counts differently than we do, or others fill its room.
                Err(StoreError::TooLarge { .. }) if attempt < SHRINK_ATTEMPTS => {
                    self.lower_budget();
                }
                Err(StoreError::TooLarge { .. }) => return Ok(Room::None),
                Err(error) => return Err(error),
            }
        }
    }

    fn in_force(&self, task: &str, _record: &Record) -> bool {
        self.in_force
            .borrow()
            .as_ref()
            .is_none_or(|tasks| tasks.contains(task))
    }
}
