//! A document in a file: transactions under a lock, no guards.

use super::Link;
use crate::mutation::Mutation;
use crate::world::{Fault, SECOND, Service, World};
use lifecycle::document::{Document, DocumentError};
use lifecycle::ports::{Change, Guard, Store, StoreError};
use serde_json::{Value, json};

/// How long a lock is waited for.
const LOCK_WAIT: u64 = 10 * SECOND;

/// The document of the target in a file.
pub(crate) struct Files {
    link: Link,
}

fn failed(action: &'static str, fault: Fault) -> StoreError {
    StoreError::Io {
        place: "the state file".into(),
        action,
        detail: format!("{fault:?}"),
    }
}

impl Files {
    pub(crate) fn new(link: Link) -> Self {
        Self { link }
    }

    async fn lock(&self) -> Result<(), StoreError> {
        let until = self.link.world.borrow().now + LOCK_WAIT;
        loop {
            let call = Link::call_of(Service::Disk, false, "takes the lock".into());
            let taken = self.link.call(call, |world, run| {
                let is_free = world.file_lock.is_none_or(|holder| holder == run);
                let taken = world.runs[run].is_alive && is_free
                    || world.is_mutated(Mutation::CompareAndSwap);
                if taken {
                    world.file_lock = Some(run);
                }
                taken
            });
            let failed = |fault| failed("locking", fault);
            if taken.await.map_err(failed)? {
                return Ok(());
            }
            if self.link.world.borrow().now >= until {
                return Err(StoreError::Unavailable {
                    place: "the state file".into(),
                    detail: "another run has held the lock for long".into(),
                });
            }
            let pause = self.link.world.borrow_mut().rng.between(1_000, 25_000);
            self.link.pause(pause).await;
        }
    }

    fn unlock(&self) {
        let mut world = self.link.world.borrow_mut();
        if world.file_lock == Some(self.link.run) {
            world.file_lock = None;
        }
    }

    async fn read(&self) -> Result<Document, StoreError> {
        let call = Link::call_of(Service::Disk, false, "reads the document".into());
        let value = self.link.call(call, |world, run| world.file_seen_by(run));
        let value = value.await.map_err(|fault| failed("reading", fault))?;
        let (schema, target) = {
            let world = self.link.world.borrow();
            (world.schema(), world.target())
        };
        match value {
            None => Ok(Document::empty(schema, target)),
            Some(value) => Document::from_value(schema, value).map_err(damaged),
        }
    }

    async fn write(&self, document: &Document) -> Result<(), StoreError> {
        let value = document.to_value();
        let call = Link::call_of(Service::Disk, true, "writes the document".into());
        let written = self.link.call(call, move |world, run| {
            if world.disk_is_full {
                return false;
            }
            world.write_file(run, value);
            true
        });
        match written.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed("writing", Fault::Disk)),
            Err(fault) => Err(failed("writing", fault)),
        }
    }
}

fn damaged(error: DocumentError) -> StoreError {
    StoreError::Document {
        place: "the state file".into(),
        error,
        kept: None,
    }
}

impl World {
    /// The file as a run finds it.
    fn file_seen_by(&self, run: usize) -> Option<Value> {
        let own = self.file_pending.as_ref().filter(|(by, _)| *by == run);
        own.map(|(_, value)| value.clone())
            .or_else(|| self.file.clone())
    }

    fn write_file(&mut self, run: usize, value: Value) {
        if !self.is_mutated(Mutation::RecordFirst) {
            let before = self.file.replace(value.clone());
            self.check_document(run, before.as_ref(), &value);
            return;
        }
        // It is in memory only for a while, and gone if the run is killed meanwhile.
        self.file_pending = Some((run, value));
        let pause = self.rng.seconds(0, 60);
        self.after(pause, move |world| {
            let lives = world.runs[run].is_alive || world.runs[run].ended_well;
            if let Some((by, value)) = world.file_pending.take_if(|(by, _)| *by == run)
                && lives
            {
                let before = world.file.replace(value.clone());
                world.check_document(by, before.as_ref(), &value);
            }
        });
    }
}

impl Store for Files {
    async fn load(&self) -> Result<Document, StoreError> {
        self.read().await
    }

    async fn update(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        self.lock().await?;
        let done = async {
            let mut document = self.read().await?;
            if change(&mut document) == Change::Write {
                document.set("written_by", json!(format!("run-{}", self.link.run)));
                self.write(&document).await?;
            }
            Ok(document)
        }
        .await;
        self.unlock();
        done
    }

    async fn create_guard(&self, _name: &str, _content: &Value) -> Result<Guard, StoreError> {
        Ok(Guard::NotNeeded)
    }

    async fn read_guard(&self, _name: &str) -> Result<Option<Value>, StoreError> {
        Ok(None)
    }

    async fn delete_guard(&self, _name: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn budget(&self) -> usize {
        self.link.world.borrow().plan.budget()
    }

    async fn load_cache(&self) -> Option<Value> {
        self.link.world.borrow().file_cache.clone()
    }

    async fn save_cache(&self, cache: &Value) {
        let mut world = self.link.world.borrow_mut();
        world.check_text("the cache", &cache.to_string());
        world.file_cache = Some(cache.clone());
    }
}
