//! How a call goes: when it arrives, when its answer comes, and what happens in between.

use super::{Micros, SECOND, World};

/// Which service a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Forge,
    Git,
    Agents,
    Keys,
    Disk,
    Feeds,
}

impl Service {
    fn is_remote(self) -> bool {
        self != Self::Disk
    }
}

/// A call that a poll makes.
pub(crate) struct Call {
    pub(crate) service: Service,
    /// Whether it changes anything for others to see.
    pub(crate) writes: bool,
    /// What it is, for the schedule.
    pub(crate) what: String,
}

/// Why a call brings no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It was answered with this status and had no effect.
    Status(u16),
    /// It could not be sent, or nothing of it was heard before its effect.
    Unreachable,
    /// The time of the run is used up: it was not sent.
    OutOfTime,
    /// Its effect is there, but nobody was told.
    Lost,
    /// The disk is full, or refuses.
    Disk,
}

/// How a call goes.
pub(crate) struct Course {
    /// When it has its effect, if it has any.
    pub(crate) arrives: Option<Micros>,
    /// When the caller goes on.
    pub(crate) answered: Micros,
    pub(crate) fault: Option<Fault>,
}

/// After this long a call without an answer is given up.
const CALL_SECONDS: u64 = 30;

impl World {
    /// Decides how a call goes.
    pub(crate) fn course(&mut self, run: usize, call: &Call) -> Course {
        let at = |offset: Micros| self.now + offset;
        let spent = self.now.saturating_sub(self.runs[run].began) / SECOND;
        if call.service.is_remote() && spent >= super::RUN_SECONDS {
            return Course {
                arrives: None,
                answered: at(1),
                fault: Some(Fault::OutOfTime),
            };
        }
        let now = self.now;
        let trouble = self.plan.trouble;
        let quick = match call.service {
            Service::Disk => self.rng.between(50, 5_000),
            Service::Keys => self.rng.between(1_000, 12_000),
            _ => self.rng.between(5_000, 150_000),
        };
        let troubled = !self.is_quiet;
        let takes = if troubled && call.service.is_remote() && self.rng.chance(trouble.slow) {
            self.rng.seconds(1, CALL_SECONDS - 1)
        } else {
            quick
        };
        let arrives = now + self.rng.between(0, takes);
        if troubled && self.rng.chance(trouble.refuse) {
            let fault = self.refusal(call.service);
            self.counts.refused += 1;
            let takes = if fault == Fault::Unreachable {
                CALL_SECONDS * SECOND
            } else {
                takes
            };
            return Course {
                arrives: None,
                answered: now + takes,
                fault: Some(fault),
            };
        }
        if troubled && call.writes && self.rng.chance(trouble.lose) {
            self.counts.lost += 1;
            let takes = if self.rng.chance(300) {
                CALL_SECONDS * SECOND
            } else {
                takes
            };
            return Course {
                arrives: Some(arrives),
                answered: (now + takes).max(arrives),
                fault: Some(Fault::Lost),
            };
        }
        Course {
            arrives: Some(arrives),
            answered: now + takes,
            fault: None,
        }
    }

    fn refusal(&mut self, service: Service) -> Fault {
        match service {
            Service::Disk => Fault::Disk,
            Service::Forge => self.rng.weighted(&[
                (2, Fault::Status(429)),
                (4, Fault::Status(500)),
                (2, Fault::Status(404)),
                (1, Fault::Status(409)),
                (1, Fault::Status(400)),
                (1, Fault::Status(401)),
                (1, Fault::Status(403)),
                (2, Fault::Unreachable),
            ]),
            Service::Agents => self.rng.weighted(&[
                (2, Fault::Status(429)),
                (3, Fault::Status(500)),
                (1, Fault::Status(400)),
                (1, Fault::Status(401)),
                (2, Fault::Unreachable),
            ]),
            Service::Keys => self.rng.weighted(&[
                (3, Fault::Status(409)),
                (3, Fault::Status(500)),
                (1, Fault::Status(429)),
                (1, Fault::Unreachable),
            ]),
            Service::Git => self.rng.weighted(&[
                (2, Fault::Status(403)),
                (3, Fault::Unreachable),
                (1, Fault::Disk),
            ]),
            Service::Feeds => Fault::Unreachable,
        }
    }
}
