//! Every cell of the matrix: automation, place of its documents, signal; and every moment of it.

use super::moments::{Course, Moment, Point, course, spread};
use crate::stage::scenes::{Scene, fresh_work};
use crate::stage::{A_MINUTE, Automation, Backend, a_few_at_a_time};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

/// How a run is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killing {
    /// SIGKILL: not a word more.
    Kill,
    /// SIGTERM: it reports and ends.
    Term,
}

/// Which run of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The one that starts it.
    Start,
    /// The one that collects its result.
    Collect,
}

/// One cell.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    automation: Automation,
    backend: Backend,
    killing: Killing,
}

impl Cell {
    pub fn new(automation: Automation, backend: Backend, killing: Killing) -> Self {
        Self {
            automation,
            backend,
            killing,
        }
    }

    /// A scene that stands before the run of this phase.
    fn before(self, phase: Phase) -> Box<dyn Scene> {
        let scene = fresh_work(self.automation, self.backend);
        if phase == Phase::Collect {
            scene.stage().run().ok();
            scene.stage().agents_finish();
            scene.stage().let_time_pass(A_MINUTE);
        }
        scene
    }

    /// The moments of this cell.
    fn moments(self, count: usize) -> Vec<Moment> {
        let courses: Vec<(Phase, Course)> = [Phase::Start, Phase::Collect]
            .map(|phase| (phase, course(self.before(phase).as_ref())))
            .into();
        spread(&courses, count)
    }

    /// Kills a run at this moment and lets later ones finish. How many runs that took, and whether
    /// the run was still at work when it was killed.
    fn survive(self, moment: &Moment) -> Result<(usize, bool), String> {
        let scene = self.before(moment.phase);
        let stage = scene.stage();
        let trap = moment.point.set_trap(scene.as_ref());
        let mut process = stage.begin();
        let in_flight = trap.has_sprung(&mut process);
        process.signal(match self.killing {
            Killing::Kill => Signal::KILL,
            Killing::Term => Signal::TERM,
        });
        let ran = process.end(stage);
        for service in scene.services() {
            service.faults().clear();
        }
        end_orphans(stage.scratch.root());
        // Before it has come to listen for signals, a process cannot say anything.
        let may_be_silent = matches!(moment.point, Point::Time(_)) && ran.was_killed();
        if self.killing == Killing::Term && ran.told.callbacks.len() != 1 && !may_be_silent {
            return Err(format!("it ended without a word: {}", ran.all()));
        }
        scene.doubled()?;
        let runs = scene.polls_until_quiet()?;
        Ok((runs, in_flight))
    }
}

/// What a run that was killed had started ends by itself in the time that passes before the next
/// run: git loses its pipes and its lines. Here no time passes, so it is ended.
fn end_orphans(root: &Path) {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return;
    };
    for process in processes.flatten() {
        let id = process.file_name().to_string_lossy().parse::<i32>().ok();
        let place = std::fs::read_link(process.path().join("cwd"));
        if let (Some(id), Ok(place)) = (id.and_then(Pid::from_raw), place)
            && place.starts_with(root)
        {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

/// What became of a cell.
pub struct Outcome {
    cell: Cell,
    moments: usize,
    in_flight: usize,
    most_runs: usize,
    pub failures: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let automation = match self.cell.automation {
            Automation::News => "news-digest",
            Automation::Review => "github-pr-reviewer",
            Automation::Issue => "gitlab-issue-to-mr",
        };
        let backend = match self.cell.backend {
            Backend::Strict => "KV",
            Backend::LikeSqlite => "KV, SQLite",
            Backend::Files => "files",
        };
        let signal = match self.cell.killing {
            Killing::Kill => "SIGKILL",
            Killing::Term => "SIGTERM",
        };
        let outcome = if self.failures.is_empty() {
            "one conversation, one result, nothing left"
        } else {
            "FAILED"
        };
        write!(
            f,
            "{automation:<20} {backend:<11} {signal:<7} {:>7} {:>10} {:>9} {:>9}  {outcome}",
            self.moments,
            self.in_flight,
            self.most_runs,
            self.failures.len(),
        )
    }
}

/// Goes through all cells with `count` moments each, several scenes at once.
pub fn survives(cells: &[Cell], count: usize) -> Vec<Outcome> {
    let jobs: Vec<(usize, Moment)> = cells
        .iter()
        .enumerate()
        .flat_map(|(index, cell)| cell.moments(count).into_iter().map(move |one| (index, one)))
        .collect();
    let outcomes: Mutex<Vec<Outcome>> = Mutex::new(
        cells
            .iter()
            .map(|cell| Outcome {
                cell: *cell,
                moments: 0,
                in_flight: 0,
                most_runs: 0,
                failures: Vec::new(),
            })
            .collect(),
    );
    a_few_at_a_time(&jobs, |(index, moment)| {
        let cell = cells[*index];
        let survived = cell.survive(moment);
        let outcome = &mut outcomes.lock().unwrap()[*index];
        outcome.moments += 1;
        match survived {
            Ok((runs, in_flight)) => {
                outcome.in_flight += usize::from(in_flight);
                outcome.most_runs = outcome.most_runs.max(runs);
            }
            Err(why) => outcome.failures.push(format!("{cell:?} {moment:?}: {why}")),
        }
    });
    outcomes.into_inner().unwrap()
}
