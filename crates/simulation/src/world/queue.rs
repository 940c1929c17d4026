//! What will happen and when. Time is virtual: it jumps from one event to the next.

use super::World;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::task::Waker;

/// Microseconds since the beginning of the world.
pub(crate) type Micros = u64;

/// One second.
pub(crate) const SECOND: Micros = 1_000_000;

/// Something that happens to the world.
pub(crate) type Effect = Box<dyn FnOnce(&mut World)>;

/// One thing that will happen.
pub(crate) enum What {
    /// A call of a poll ends, or a pause of it.
    Wake { poll: usize, waker: Waker },
    /// A call of a poll reaches the service and has its effect.
    Arrive {
        poll: usize,
        call: u64,
        /// It does not leave the machine: it is not on its way when its run is dead.
        is_local: bool,
        effect: Effect,
    },
    /// Something that needs no poll: an agent works, a person acts, a service goes on.
    Happen(Effect),
    /// A run is started.
    Begin { poll: usize },
    /// A run that did not end in time is stopped.
    Stop { poll: usize },
}

pub(crate) struct Event {
    pub(crate) at: Micros,
    order: u64,
    pub(crate) what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    /// The earliest is the greatest, so that it comes out of the heap first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

/// All that will happen, in order.
#[derive(Default)]
pub(crate) struct Queue {
    events: BinaryHeap<Event>,
    order: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, at: Micros, what: What) {
        self.order += 1;
        let order = self.order;
        self.events.push(Event { at, order, what });
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// When the next thing happens.
    pub(crate) fn next_at(&self) -> Option<Micros> {
        self.events.peek().map(|event| event.at)
    }

    /// The calls of a poll that are under way, in the order in which they were made, and whether
    /// they stay on the machine.
    pub(crate) fn under_way(&self, of: usize) -> Vec<(u64, bool)> {
        let calls = self.events.iter().filter_map(|event| match &event.what {
            What::Arrive {
                poll,
                call,
                is_local,
                ..
            } if *poll == of => Some((*call, *is_local)),
            _ => None,
        });
        let mut calls: Vec<(u64, bool)> = calls.collect();
        calls.sort_unstable();
        calls
    }
}
