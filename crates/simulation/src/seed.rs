//! The course of one seed: bursts of runs with trouble, then quiet until all is done.

use crate::Options;
use crate::plan::{Automation, Plan};
use crate::rng::Rng;
use crate::scheduler::Scheduler;
use crate::world::{Counts, SECOND, World};
use lifecycle::report::SkipReason;

/// What became of one seed.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) violation: Option<String>,
    pub(crate) counts: Counts,
    pub(crate) schedule: Vec<String>,
}

/// Runs in quiet, and the minutes before each.
const QUIET: [(u32, u64); 3] = [(20, 10), (20, 30), (40, 60)];

/// Runs one seed.
pub(crate) fn run_seed(seed: u64, options: Options, with_schedule: bool) -> Outcome {
    // The client of the key store draws its pauses from this one.
    fastrand::seed(seed);
    let mut rng = Rng::new(seed);
    let mut plan = Plan::draw(&mut rng, options.automation, options.mutation);
    if options.only_ground {
        plan.mutation = None;
    }
    let mut world = World::new(plan, rng, with_schedule);
    world.know_days();
    let mut scheduler = Scheduler::new(world);
    let bursts = scheduler.world.borrow().plan.bursts;
    for _ in 0..bursts {
        burst(&mut scheduler);
    }
    quiet(&mut scheduler);
    drop(scheduler.last_report.take());
    let mut world = scheduler.world.borrow_mut();
    world.counts.no_room += world.watch.skipped_for_room.len() as u64;
    world.counts.keys_left += world.keys.guards().count() as u64;
    Outcome {
        violation: world.violation.take(),
        counts: world.counts,
        schedule: world.schedule.take().unwrap_or_default(),
    }
}

/// Some runs that overlap, while people and agents do what they do.
fn burst(scheduler: &mut Scheduler) {
    if scheduler.is_over() {
        return;
    }
    let (count, apart) = {
        let mut world = scheduler.world.borrow_mut();
        let often = world.plan.trouble.full_disk;
        world.disk_is_full = world.rng.chance(often);
        world.plan_people(900);
        let (most, usual) = (world.plan.polls, world.plan.apart);
        let other = world
            .rng
            .pick(&[30_000, 2 * SECOND, 60 * SECOND, 500 * SECOND]);
        let apart = if world.rng.chance(500) { usual } else { other };
        (world.rng.between(1, most), apart)
    };
    for _ in 0..count {
        let pause = scheduler.world.borrow_mut().rng.between(0, apart);
        scheduler.plan_run(pause);
    }
    scheduler.run_to_idle();
    // Whatever a killed run has sent has arrived by then.
    scheduler.pass(40 * SECOND);
    if scheduler.is_over() {
        return;
    }
    scheduler.world.borrow_mut().check_at_rest();
    let pause = {
        let mut world = scheduler.world.borrow_mut();
        world.disk_is_full = false;
        let often = world.plan.trouble.clock;
        if world.rng.chance(often) {
            world.move_clock();
        }
        let (first, last) =
            world
                .rng
                .weighted(&[(3, (20, 60)), (4, (300, 1200)), (3, (1200, 10_800))]);
        world.rng.seconds(first, last)
    };
    scheduler.pass(pause);
}

/// The faults stop; runs go on one after the other until nothing is left to do.
fn quiet(scheduler: &mut Scheduler) {
    {
        let mut world = scheduler.world.borrow_mut();
        world.is_quiet = true;
        world.note(|_| "the faults stop".into());
    }
    for (rounds, minutes) in QUIET {
        for _ in 0..rounds {
            if scheduler.is_over() {
                return;
            }
            scheduler.pass(minutes * 60 * SECOND);
            scheduler.plan_run(0);
            scheduler.run_to_idle();
            note_room(scheduler);
            let mut world = scheduler.world.borrow_mut();
            if world.violation.is_none() && world.unrest().is_none() {
                world.check_told();
                return;
            }
        }
    }
    let mut world = scheduler.world.borrow_mut();
    if let Some(unrest) = world.unrest() {
        world.broken(|| format!("in the end, {unrest}"));
    }
}

/// Remembers for which triggers the document has no room.
fn note_room(scheduler: &mut Scheduler) {
    let Some(report) = &scheduler.last_report else {
        return;
    };
    let full: Vec<String> = report
        .skipped
        .iter()
        .filter(|skipped| skipped.reason == SkipReason::NoRoom)
        .map(|skipped| skipped.item.clone())
        .collect();
    let mut world = scheduler.world.borrow_mut();
    let is_news = world.plan.automation == Automation::News;
    let tasks = full.into_iter().filter_map(|item| {
        if is_news {
            return Some(lifecycle::identity::day_task(&item));
        }
        let number = item.parse().ok()?;
        world.item(number)?.task_in_force()
    });
    let tasks = tasks.collect();
    world.watch.skipped_for_room = tasks;
}
