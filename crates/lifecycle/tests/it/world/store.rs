//! A store in memory, with transactions that are exclusive (as with files) or with guards (as with
//! the KV store).

use super::{Log, others};
use lifecycle::document::{Document, Schema, size};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

pub type Meanwhile = Box<dyn Fn(&mut Document) -> bool>;

pub struct FakeStore {
    pub document: RefCell<Document>,
    pub guards: RefCell<BTreeMap<String, Value>>,
    pub has_guards: Cell<bool>,
    /// Writes whose effect is lost, as when somebody else's overlapping write stands.
    pub lost_writes: Cell<usize>,
    /// What every call answers instead.
    pub error: RefCell<Option<StoreError>>,
    /// How many more reads of the document succeed, if not all.
    pub loads_fail_after: Cell<Option<usize>>,
    /// What another run does just before a change of ours, if it answers that it did it.
    pub meanwhile: RefCell<Option<Meanwhile>>,
    pub budget: Cell<usize>,
    pub cache: RefCell<Option<Value>>,
    /// Documents longer than this are refused, as by a service with less room than expected.
    pub limit: Rc<Cell<usize>>,
    /// Room for the document and all guards together, on a service that limits their sum.
    pub room: Cell<usize>,
    /// What the next calls that create a guard answer instead.
    pub guard_errors: RefCell<VecDeque<StoreError>>,
    /// Guards that the service does not delete.
    pub undeletable: RefCell<BTreeSet<String>>,
    /// How long each written document was, as the service counts.
    pub sizes: RefCell<Vec<usize>>,
    log: Log,
}

impl FakeStore {
    pub fn new(schema: &'static Schema, target: &str, log: Log) -> Self {
        Self {
            document: RefCell::new(Document::empty(schema, target)),
            guards: RefCell::default(),
            has_guards: Cell::new(false),
            lost_writes: Cell::new(0),
            error: RefCell::new(None),
            loads_fail_after: Cell::new(None),
            meanwhile: RefCell::new(None),
            budget: Cell::new(size::ONE_BYTES),
            cache: RefCell::new(None),
            limit: Rc::new(Cell::new(usize::MAX)),
            room: Cell::new(usize::MAX),
            guard_errors: RefCell::default(),
            undeletable: RefCell::default(),
            sizes: RefCell::default(),
            log,
        }
    }

    /// Changes the document by hand.
    pub fn edit(&self, change: impl FnOnce(&mut Document)) {
        change(&mut self.document.borrow_mut());
    }

    pub fn guard_names(&self) -> Vec<String> {
        self.guards.borrow().keys().cloned().collect()
    }

    /// The longest document that was ever written.
    pub fn largest(&self) -> usize {
        self.sizes.borrow().iter().copied().max().unwrap_or(0)
    }

    fn answer(&self) -> Result<(), StoreError> {
        self.error.borrow().clone().map_or(Ok(()), Err)
    }

    fn bytes_of_guards(&self) -> usize {
        let guards = self.guards.borrow();
        let bytes = guards.iter().map(|(name, held)| bytes_of(name, held));
        bytes.sum()
    }

    fn find_room(&self, bytes: usize) -> Result<(), StoreError> {
        if bytes > self.room.get() {
            return Err(too_large(bytes));
        }
        Ok(())
    }

    fn note_changes(&self, before: &Document, after: &Document) {
        for (task, record) in after.records() {
            if before.record(task).as_ref() != Some(&record) {
                self.log
                    .add(format!("write {task} {}", record.status().name()));
            }
        }
        for (task, _) in before.records().filter(|(task, _)| !after.has_record(task)) {
            self.log.add(format!("write {task} removed"));
        }
        self.log.add("write");
    }
}

fn too_large(size: usize) -> StoreError {
    StoreError::TooLarge {
        place: "KV key".into(),
        size,
    }
}

fn bytes_of(name: &str, held: &Value) -> usize {
    name.len() + size::wire_size(held)
}

impl Store for FakeStore {
    async fn load(&self) -> Result<Document, StoreError> {
        let document = self.document.borrow().clone();
        others().await;
        let left = self.loads_fail_after.get();
        self.loads_fail_after
            .set(left.map(|left| left.saturating_sub(1)));
        if left == Some(0) {
            return Err(StoreError::Unavailable {
                place: "KV key state".into(),
                detail: "503".into(),
            });
        }
        self.answer().map(|()| document)
    }

    async fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        others().await;
        self.answer()?;
        let meanwhile = self.meanwhile.take();
        let done = meanwhile
            .as_ref()
            .is_some_and(|change| change(&mut self.document.borrow_mut()));
        self.meanwhile.replace(meanwhile.filter(|_| !done));
        let before = self.document.borrow().clone();
        let mut after = before.clone();
        if change(&mut after) == Change::Keep {
            return Ok(before);
        }
        // A change may be applied any number of times: it has to say "make it so".
        let once = after.clone();
        change(&mut after);
        assert_eq!(after, once, "the change is not idempotent");
        let bytes = size::wire_size(&after.to_value());
        if bytes > self.limit.get() {
            return Err(too_large(bytes));
        }
        self.find_room(bytes + self.bytes_of_guards())?;
        if self.lost_writes.get() > 0 {
            self.lost_writes.set(self.lost_writes.get() - 1);
            return Ok(after);
        }
        self.note_changes(&before, &after);
        self.sizes.borrow_mut().push(bytes);
        self.document.replace(after.clone());
        others().await;
        Ok(after)
    }

    async fn create_guard(&self, name: &str, content: &Value) -> Result<Guard, StoreError> {
        others().await;
        self.answer()?;
        if !self.has_guards.get() {
            return Ok(Guard::NotNeeded);
        }
        if let Some(error) = self.guard_errors.borrow_mut().pop_front() {
            return Err(error);
        }
        let guards = self.guards.borrow();
        if let Some(held) = guards.get(name) {
            return Ok(Guard::Exists(held.clone()));
        }
        drop(guards);
        let document = size::wire_size(&self.document.borrow().to_value());
        self.find_room(document + self.bytes_of_guards() + bytes_of(name, content))?;
        let mut guards = self.guards.borrow_mut();
        self.log.add(format!("guard {name}"));
        guards.insert(name.into(), content.clone());
        Ok(Guard::Created)
    }

    async fn read_guard(&self, name: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.guards.borrow().get(name).cloned())
    }

    async fn delete_guard(&self, name: &str) -> Result<(), StoreError> {
        others().await;
        if self.undeletable.borrow().contains(name) {
            return Err(StoreError::Unavailable {
                place: format!("KV key {name}"),
                detail: "status 500".into(),
            });
        }
        self.guards.borrow_mut().remove(name);
        Ok(())
    }

    fn budget(&self) -> usize {
        self.budget.get()
    }

    async fn load_cache(&self) -> Option<Value> {
        self.cache.borrow().clone()
    }

    async fn save_cache(&self, cache: &Value) {
        self.log.add("cache");
        self.cache.replace(Some(cache.clone()));
    }
}
