//! The three trades: a day with feeds, pull requests that ask for a review, issues that ask for
//! work; and what they have in common for tests that do the same to each.

mod issues;
mod news;
mod pulls;

pub use cli::clock::system_now as now;
pub use issues::{GITLAB_TOKEN, Issues};
pub use news::NewsDay;
pub use pulls::{GITHUB_TOKEN, PullRequests, Reviewing};

use super::{A_WHILE, Automation, Backend, Stage};
use testbed::StandIn;

/// A scene with one piece of work in it.
pub trait Scene: Sync {
    fn stage(&self) -> &Stage;

    fn stage_mut(&mut self) -> &mut Stage;

    /// The stand-ins beside those of the stage.
    fn around(&self) -> Vec<&StandIn>;

    /// What is wrong with what the world has seen so far: something came twice.
    fn doubled(&self) -> Result<(), String>;

    /// Whether the work has come to its one good end, for the world to see.
    fn is_done(&self) -> Result<(), String>;

    fn services(&self) -> Vec<&StandIn> {
        let mut services = self.stage().services();
        services.extend(self.around());
        services
    }

    /// No run fails any more, time passes, agents come to their ends: until there is nothing left
    /// to do, and one run more. The number of runs that it took.
    fn polls_until_quiet(&self) -> Result<usize, String> {
        let stage = self.stage();
        let mut why = String::new();
        for number in 1..=7 {
            stage.agents_finish();
            stage.let_time_pass(A_WHILE);
            let ran = stage.run();
            if ran.status.code() != Some(0) {
                return Err(format!("a later run failed: {}", ran.all()));
            }
            self.doubled()?;
            match stage.is_quiet() {
                Ok(()) => {
                    let before = stage.records();
                    let ran = stage.run();
                    if ran.status.code() != Some(0) || stage.records() != before {
                        return Err(format!("it was not quiet after all: {}", ran.all()));
                    }
                    return self.is_done().map(|()| number);
                }
                Err(reason) => why = format!("{reason}\nlast run: {}", ran.all()),
            }
        }
        Err(format!("it does not come to rest: {why}"))
    }
}

/// Exactly one of something, or what there is instead.
pub fn exactly_one(what: &str, count: usize) -> Result<(), String> {
    if count == 1 {
        Ok(())
    } else {
        Err(format!("{count} {what}"))
    }
}

/// At most one of something.
pub fn at_most_one(what: &str, count: usize) -> Result<(), String> {
    if count <= 1 {
        Ok(())
    } else {
        Err(format!("{count} {what}"))
    }
}

/// The scene of an automation with one piece of fresh work.
pub fn fresh_work(automation: Automation, backend: Backend) -> Box<dyn Scene> {
    match automation {
        Automation::News => Box::new(NewsDay::with_three_feeds(backend)),
        Automation::Review => Box::new(PullRequests::one_labelled(backend)),
        Automation::Issue => Box::new(Issues::one_labelled(backend)),
    }
}
