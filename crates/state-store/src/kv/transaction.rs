//! One transaction: read, apply, write, let it settle, read it back; until the effect stands.

use super::KvStore;
use super::http::place;
use super::wire::{Condition, Put, Wire};
use crate::shelf::{self, Held, Spot, Under, locate};
use lifecycle::document::{Document, size};
use lifecycle::ports::{Change, StoreError};
use serde_json::json;
use std::time::{Duration, Instant};

/// How a transaction has gone so far.
#[derive(Default)]
struct Progress {
    /// What it had to put up with from the service itself.
    borne: u32,
    made_room: bool,
    /// How long it last took from reading to writing.
    took: Duration,
    /// Others write at the same time.
    has_company: bool,
    /// A write of its own was overtaken; whether its effect is still there has to be seen twice.
    is_unconfirmed: bool,
}

impl Progress {
    fn bear<W: Wire>(&mut self, store: &KvStore<W>, detail: String) -> Result<(), StoreError> {
        self.borne += 1;
        if self.borne < store.timing.tries {
            Ok(())
        } else {
            Err(store.unavailable(detail))
        }
    }
}

impl<W: Wire> KvStore<W> {
    pub(super) async fn transact(
        &self,
        change: &mut dyn FnMut(&mut Document) -> Change,
    ) -> Result<Document, StoreError> {
        self.check_writable()?;
        let mut progress = Progress::default();
        for attempt in 1..=self.timing.attempts {
            if attempt > 1 {
                self.wire.pause(self.timing.backoff(attempt)).await;
            }
            let started = Instant::now();
            let mut spot = locate(self, &self.slot, &self.names()).await?;
            if change(&mut spot.document) == Change::Keep && !spot.must_write {
                if !std::mem::take(&mut progress.is_unconfirmed) {
                    return Ok(spot.document);
                }
                self.settle(&progress).await;
            } else {
                shelf::check(self, &spot)?;
                if let Some(document) = self.write(spot, started, &mut progress).await? {
                    return Ok(document);
                }
            }
        }
        Err(StoreError::Contended {
            place: self.place(),
            attempts: self.timing.attempts,
        })
    }

    /// Writes a document once and tells whether it stands. `started` is when it was read.
    async fn write(
        &self,
        spot: Spot<u64>,
        started: Instant,
        progress: &mut Progress,
    ) -> Result<Option<Document>, StoreError> {
        let Spot {
            name,
            under,
            mut document,
            ..
        } = spot;
        let mark = self.signature.next();
        document.set("written_by", mark.as_str());
        self.slot.sign(&mut document);
        let condition = match under {
            Under::Nothing => Condition::Absent,
            Under::Good(version) | Under::Damaged(Held { stamp: version, .. }) => {
                Condition::Version(version)
            }
        };
        let value = document.to_value();
        match self.wire.put(&name, &value, condition).await? {
            Put::Accepted => {}
            Put::Unknown(detail) => progress.bear(self, detail)?,
            Put::Refused => {
                progress.has_company = true;
                return Ok(None);
            }
            Put::Busy(wait) => {
                progress.bear(self, "the service is busy".into())?;
                self.wire
                    .pause(self.timing.wait_for_service(wait, progress.borne + 1))
                    .await;
                return Ok(None);
            }
            Put::TooLarge(size) => {
                let size = size.unwrap_or_else(|| size::wire_size(&value));
                self.make_room(&name, size, progress).await?;
                return Ok(None);
            }
        }
        progress.took = started.elapsed();
        let times = if progress.has_company { 2 } else { 1 };
        for _ in 0..times {
            self.settle(progress).await;
            let found = self.wire.get(&name).await?;
            if found.is_none_or(|(found, _)| found.get("written_by") != Some(&json!(mark))) {
                progress.has_company = true;
                progress.is_unconfirmed = true;
                return Ok(None);
            }
        }
        Ok(Some(document))
    }

    /// Waits until a writer that has read what was there before has landed.
    async fn settle(&self, progress: &Progress) {
        self.wire.pause(self.timing.settling(progress.took)).await;
    }

    /// Older services count all keys together: what is kept for speed only goes first, once.
    async fn make_room(
        &self,
        name: &str,
        size: usize,
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let has_room = !progress.made_room && self.wire.delete(&self.slot.cache_key()).await?;
        progress.made_room = true;
        self.cached.take();
        if has_room {
            Ok(())
        } else {
            Err(StoreError::TooLarge {
                place: place(name),
                size,
            })
        }
    }
}
