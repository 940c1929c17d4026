//! Creating a key that only one caller may create.

use super::KvStore;
use super::http::place;
use super::wire::{Condition, Put, Wire};
use lifecycle::ports::{Guard, StoreError};
use serde_json::Value;

impl<W: Wire> KvStore<W> {
    /// Creates a key, and says who did when it was there.
    ///
    /// After a lost answer the content tells whether the creation was this one, so it has to be
    /// unlike that of any other caller.
    pub(super) async fn create(&self, key: &str, content: &Value) -> Result<Guard, StoreError> {
        let mut may_be_ours = false;
        let mut detail = "it comes and goes".to_owned();
        for attempt in 1..=self.timing.tries {
            if attempt > 1 {
                self.wire
                    .pause(self.timing.wait_for_service(None, attempt))
                    .await;
            }
            match self.wire.put(key, content, Condition::Absent).await? {
                Put::Accepted => return Ok(Guard::Created),
                Put::Refused => {}
                // A bare 500 mostly means that somebody else has just created it.
                Put::Unknown(what) => {
                    may_be_ours = true;
                    detail = what;
                }
                Put::Busy(wait) => {
                    detail = "the service is busy".into();
                    self.wire
                        .pause(self.timing.wait_for_service(wait, attempt))
                        .await;
                    continue;
                }
                Put::TooLarge(size) => {
                    let size = size.unwrap_or_else(|| content.to_string().len());
                    return Err(StoreError::TooLarge {
                        place: place(key),
                        size,
                    });
                }
            }
            match self.wire.get(key).await? {
                Some((found, _)) if may_be_ours && found == *content => return Ok(Guard::Created),
                Some((found, _)) => return Ok(Guard::Exists(found)),
                None => {}
            }
        }
        Err(StoreError::Unavailable {
            place: place(key),
            detail,
        })
    }
}
