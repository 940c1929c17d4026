//! The key-value service on the wire: under the real client of `state-store`.

use super::Link;
use crate::mutation::Mutation;
use crate::world::{Fault, Service};
use lifecycle::ports::StoreError;
use serde_json::Value;
use state_store::{Condition, KvStore, Put, Slot, StoreEnv, Timing, Wire};
use std::time::Duration;

/// A document in the key-value service.
pub(crate) type Keys = KvStore<Link>;

/// How often a call that may be repeated is made.
const TRIES: u32 = 4;
/// A pause that the client makes to let a write settle is asked for with this much or more; all
/// others are far shorter.
const SETTLE_MARK: Duration = Duration::from_secs(10);

/// Opens the document of the target for a run.
pub(crate) fn open(link: &Link) -> Keys {
    let world = link.world.borrow();
    let slot = Slot::new(
        world.schema(),
        Some(crate::world::AUTOMATION_ID),
        world.target(),
    );
    let env = StoreEnv {
        run_id: format!("run-{}", link.run),
        targets: world.plan.targets,
        timing: Timing {
            settle: SETTLE_MARK,
            ..Timing::default()
        },
        ..StoreEnv::default()
    };
    KvStore::new(link.clone(), slot, &env)
}

impl Link {
    fn check_token(&self, key: &str) -> Result<(), StoreError> {
        let world = self.world.borrow();
        if world.now < world.runs[self.run].token_until {
            return Ok(());
        }
        Err(StoreError::Unauthorized {
            place: key.to_owned(),
            detail: "expired".into(),
        })
    }

    fn out_of_reach(key: &str, fault: Fault) -> StoreError {
        StoreError::Unavailable {
            place: key.to_owned(),
            detail: format!("{fault:?}"),
        }
    }

    /// A call that may be repeated, until it is answered or has been made often enough.
    async fn persist<R: 'static>(
        &self,
        key: &str,
        what: &str,
        effect: impl Fn(&mut crate::world::World, usize, &str) -> R + Clone + 'static,
        writes: bool,
    ) -> Result<R, StoreError> {
        let mut last = Fault::OutOfTime;
        for _ in 0..TRIES {
            self.check_token(key)?;
            let call = Self::call_of(Service::Keys, writes, format!("{what} {key}"));
            let (effect, name) = (effect.clone(), key.to_owned());
            let outcome = self.call(call, move |world, run| effect(world, run, &name));
            match outcome.await {
                Ok(outcome) => return Ok(outcome),
                Err(fault @ (Fault::Status(_) | Fault::Lost)) => last = fault,
                Err(fault) => return Err(Self::out_of_reach(key, fault)),
            }
            let pause = self.world.borrow_mut().rng.between(50_000, 400_000);
            self.pause(pause).await;
        }
        Err(Self::out_of_reach(key, last))
    }
}

impl Wire for Link {
    async fn get(&self, key: &str) -> Result<Option<(Value, u64)>, StoreError> {
        let began = self.world.borrow().now;
        let read = move |world: &mut crate::world::World, run: usize, key: &str| {
            world.runs[run].read_at = began;
            let lie = world.lie_to(run, key);
            let version = world.keys.version;
            lie.or_else(|| world.keys.values.get(key).cloned())
                .map(|value| (value, version))
        };
        self.persist(key, "reads", read, false).await
    }

    async fn put(&self, key: &str, value: &Value, condition: Condition) -> Result<Put, StoreError> {
        self.check_token(key)?;
        let what = format!("writes {key} if {condition:?}");
        let (name, value) = (key.to_owned(), value.clone());
        let call = Self::call_of(Service::Keys, true, what);
        let put = self.deferred(call, move |world, run, done| {
            let (what, written) = (name.clone(), value.clone());
            world.put(run, &name, value, condition, move |world, put| {
                world.runs[run].took = world.now - world.runs[run].read_at;
                if put == Put::Accepted {
                    world.runs[run].last_written = Some((what, written));
                }
                world.note(|_| format!("           run {run}: {put:?}"));
                done(world, put);
            });
        });
        Ok(match put.await {
            Ok(put) => put,
            Err(Fault::Status(409 | 429)) => Put::Busy(None),
            Err(fault @ (Fault::Lost | Fault::Status(_))) => Put::Unknown(format!("{fault:?}")),
            Err(fault) => return Err(Self::out_of_reach(key, fault)),
        })
    }

    async fn delete(&self, key: &str) -> Result<bool, StoreError> {
        let delete = |world: &mut crate::world::World, _: usize, key: &str| world.delete_key(key);
        self.persist(key, "deletes", delete, true).await
    }

    async fn keys(&self) -> Result<Option<Vec<String>>, StoreError> {
        Ok(None)
    }

    /// The client measures real time, which stands still here: where it lets a write settle, its
    /// rule is applied to the time of this world.
    async fn pause(&self, duration: Duration) {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let pause = if duration < SETTLE_MARK {
            micros(duration)
        } else {
            let mut world = self.world.borrow_mut();
            let settle = micros(Timing::default().settle);
            let full = settle.max(world.runs[self.run].took * 2);
            let drawn = full + world.rng.below(full);
            drawn.min(settle * 40)
        };
        Link::pause(self, pause).await;
    }
}

impl crate::world::World {
    /// With the read-back switched off, a run finds what it has written, whatever is there.
    fn lie_to(&mut self, run: usize, key: &str) -> Option<Value> {
        if !self.is_mutated(Mutation::ReadBack) {
            return None;
        }
        let just_wrote = self.runs[run].last_written.take()?;
        (just_wrote.0 == key).then_some(just_wrote.1)
    }
}
