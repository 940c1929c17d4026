//! What a seed stands for: which automation, on what kind of ground, with which kinds of trouble.

use crate::mutation::Mutation;
use crate::rng::Rng;
use crate::world::{Micros, SECOND};

/// The automation that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    /// The news digest.
    News,
    /// The pull request reviewer.
    Review,
    /// The issue automation.
    Issue,
}

impl Automation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::News, Self::Review, Self::Issue];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::News => "news",
            Self::Review => "review",
            Self::Issue => "issue",
        }
    }

    /// The automation of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// Where documents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Files: transactions are exclusive, there are no guards.
    Files,
    /// A key-value service whose conditional write is exclusive.
    Strict,
    /// One that lets two conditional writes win when they overlap.
    Overlapping,
}

/// Measured: two conditional writes that start further apart than this never both win.
const GAP: Micros = 20_000;

/// How often things go wrong while they may, in a thousand calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trouble {
    /// The poll is killed at this point.
    pub(crate) kill: u32,
    /// The call is refused and has no effect.
    pub(crate) refuse: u32,
    /// The call has its effect, but no answer comes.
    pub(crate) lose: u32,
    /// The answer comes late.
    pub(crate) slow: u32,
    /// A burst of polls finds the disk full.
    pub(crate) full_disk: u32,
    /// A poll loses its KV token at some moment.
    pub(crate) token: u32,
    /// The clock is moved between two bursts.
    pub(crate) clock: u32,
}

/// One seed's world, before anything happens.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) automation: Automation,
    pub(crate) ground: Ground,
    /// Each run has an agent server and a disk of its own.
    pub(crate) sandbox: bool,
    /// Sandboxes outlive their runs.
    pub(crate) keep_alive: bool,
    /// Documents that share the room of the automation.
    pub(crate) targets: usize,
    /// How far check and write of a conditional write lie apart at most, where they overlap.
    pub(crate) gap: Micros,
    /// Bytes that all keys together may take; 0 for no such limit.
    pub(crate) kv_room: usize,
    /// Pull requests or issues.
    pub(crate) items: u64,
    pub(crate) max_new: usize,
    pub(crate) max_active: usize,
    pub(crate) wait_seconds: f64,
    /// Groups of polls with pauses between them.
    pub(crate) bursts: u64,
    /// Polls of a burst at most.
    pub(crate) polls: u64,
    /// How far apart they begin at most; every other burst has a choice of its own.
    pub(crate) apart: Micros,
    /// What people do in a burst, at most.
    pub(crate) people: u64,
    pub(crate) trouble: Trouble,
    /// Seconds by which the forge's clock is ahead of true time.
    pub(crate) forge_skew: f64,
    /// `WORKSPACE_BASE` differs from run to run.
    pub(crate) base_per_run: bool,
    /// An older program has left a document.
    pub(crate) legacy: bool,
    /// Ended records of the past that fill the document.
    pub(crate) history: u64,
    pub(crate) keep_failed_work: bool,
    /// Issues: who labels must be allowed to.
    pub(crate) checks_role: bool,
    pub(crate) mutation: Option<Mutation>,
}

impl Plan {
    pub(crate) fn draw(
        rng: &mut Rng,
        automation: Option<Automation>,
        mutation: Option<Mutation>,
    ) -> Self {
        let automation = automation.unwrap_or_else(|| rng.pick(&Automation::ALL));
        let ground = rng.weighted(&[
            (3, Ground::Files),
            (2, Ground::Strict),
            (4, Ground::Overlapping),
        ]);
        // Without a KV store nothing outlives a sandbox.
        let sandbox = ground != Ground::Files && rng.chance(200);
        let trouble = trouble(rng);
        let crowded = rng.chance(150);
        let targets = if crowded {
            usize::try_from(rng.between(8, 24)).unwrap_or(8)
        } else {
            rng.pick(&[1, 1, 1, 3])
        };
        // Older services: what the documents leave of 64 KB is for guards and caches.
        let kv_room = if rng.chance(150) {
            lifecycle::document::size::share(targets) + rng.pick(&[1024, 4096])
        } else {
            0
        };
        let plan = Self {
            automation,
            ground,
            sandbox,
            keep_alive: sandbox && rng.chance(400),
            targets,
            gap: GAP,
            kv_room,
            items: if crowded {
                rng.between(1, 7)
            } else {
                rng.between(1, 4)
            },
            max_new: rng.pick(&[1, 3, 10]),
            max_active: rng.pick(&[0, 0, 0, 2]),
            wait_seconds: if automation == Automation::News {
                rng.pick(&[0.0, 300.0])
            } else {
                rng.pick(&[0.0, 0.0, 120.0])
            },
            bursts: rng.between(2, 7),
            polls: rng.pick(&[1, 2, 3, 4, 8]),
            apart: rng.pick(&[4_000, 30_000, 2 * SECOND, 60 * SECOND, 500 * SECOND]),
            people: rng.pick(&[0, 1, 3, 6]),
            trouble,
            forge_skew: rng.pick(&[0.0, 0.0, -20.0, 20.0]),
            base_per_run: rng.chance(600),
            legacy: rng.chance(250),
            history: if crowded { rng.between(0, 20) } else { 0 },
            keep_failed_work: rng.chance(700),
            checks_role: automation == Automation::Issue && rng.chance(500),
            mutation,
        };
        match mutation {
            Some(mutation) => mutation.ground(&plan, rng),
            None => plan,
        }
    }

    /// Bytes that the document may take.
    pub(crate) fn budget(&self) -> usize {
        lifecycle::document::size::share(self.targets)
    }
}

fn trouble(rng: &mut Rng) -> Trouble {
    // Some seeds know one kind of trouble only, and much of it; most know a little of each.
    let level = |rng: &mut Rng, levels: &[u32]| rng.pick(levels);
    let mut trouble = Trouble {
        kill: level(rng, &[0, 3, 10, 40]),
        refuse: level(rng, &[0, 10, 40, 120]),
        lose: level(rng, &[0, 20, 100, 300]),
        slow: level(rng, &[0, 5, 30, 150]),
        full_disk: level(rng, &[0, 0, 150, 400]),
        token: level(rng, &[0, 0, 100]),
        clock: level(rng, &[0, 0, 300]),
    };
    if rng.chance(80) {
        trouble = Trouble::default();
    }
    trouble
}
