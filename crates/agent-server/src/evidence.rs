//! Whether an `idle` conversation is one that has not begun or one that is done.
//!
//! A fresh conversation is `idle` and may stay so while it queues. Two things together show that
//! the agent has worked, without a further request: the conversation's newest event is no longer
//! our message, and the statistics count something that an LLM was asked. Either alone is no
//! proof: the server asks the LLM for a title of the conversation too, and events of its own may
//! come first. Servers that tell neither are asked for the final response instead.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Whether statistics count any use of an LLM. Reads any JSON; what is not understood counts for
/// nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Used(pub(crate) bool);

/// Members that are limits and properties, not counts.
const NO_COUNTS: [&str; 4] = [
    "max_budget_per_task",
    "context_window",
    "model",
    "model_name",
];

impl<'de> Deserialize<'de> for Used {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Counts)
    }
}

struct Counts;

impl<'de> Visitor<'de> for Counts {
    type Value = Used;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Used, E> {
        Ok(Used(false))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Used, E> {
        Ok(Used(value > 0))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Used, E> {
        Ok(Used(value > 0))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Used, E> {
        Ok(Used(value > 0.0))
    }

    fn visit_str<E>(self, _: &str) -> Result<Used, E> {
        Ok(Used(false))
    }

    fn visit_unit<E>(self) -> Result<Used, E> {
        Ok(Used(false))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Used, A::Error> {
        let mut used = Used(false);
        while items.next_element::<IgnoredAny>()?.is_some() {
            used = Used(true);
        }
        Ok(used)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Used, A::Error> {
        let mut used = Used(false);
        while let Some(name) = members.next_key::<String>()? {
            if NO_COUNTS.contains(&name.as_str()) {
                members.next_value::<IgnoredAny>()?;
            } else {
                used.0 |= members.next_value::<Used>()?.0;
            }
        }
        Ok(used)
    }
}
