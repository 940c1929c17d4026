//! The two kinds of deployment, and how long a run may take in each.

use clap::ValueEnum;
use serde::Serialize;

/// What outlives a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(in crate::commands) enum Mode {
    /// One agent server for all runs, as on a self-hosted installation
    Local,
    /// A sandbox with an agent server of its own for each run, as in the cloud
    Sandbox,
}

/// The longest timeout that the service allows, unless it says otherwise.
pub(super) const LONGEST: u64 = 1800;
/// What a run takes when the configuration does not say: its default time budget.
const USUAL_BUDGET: u64 = 480;
/// The service's own default.
const USUAL_TIMEOUT: u64 = 600;
/// From the end of the time budget to the timeout: one call that hangs (45 s), and the start.
const MARGIN: u64 = 60;
/// The least that the configuration allows as a time budget.
const LEAST_BUDGET: u64 = 30;

/// How long a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timing {
    /// When the service ends it, in seconds.
    pub(super) timeout: u64,
    /// The `time_budget_seconds` that has to be added to the configuration.
    pub(super) budget: Option<u64>,
}

/// Fits the service's timeout and the run's own time budget to each other. `asked` is what was
/// said, `configured` the budget that the configuration states, `current` the timeout that the
/// automation has, `longest` what the service allows.
pub(super) fn timing(
    mode: Mode,
    asked: Option<u64>,
    configured: Option<u64>,
    current: Option<u64>,
    longest: u64,
) -> Result<Timing, String> {
    let needed = configured.unwrap_or(USUAL_BUDGET) + MARGIN;
    let timeout = match (asked, mode) {
        (Some(asked), _) => asked,
        // The work ends with the run.
        (None, Mode::Sandbox) => longest,
        (None, Mode::Local) => current
            .filter(|current| *current >= needed)
            .unwrap_or(USUAL_TIMEOUT.max(needed))
            .min(longest),
    };
    if timeout > longest {
        return Err(format!(
            "--timeout {timeout}: this service allows at most {longest} seconds"
        ));
    }
    let room = timeout.saturating_sub(MARGIN);
    if room < LEAST_BUDGET {
        let least = LEAST_BUDGET + MARGIN;
        return Err(format!(
            "a run needs a timeout of at least {least} seconds, not {timeout}"
        ));
    }
    match configured {
        Some(budget) if budget > room => Err(format!(
            "`time_budget_seconds` is {budget}, and a run needs {MARGIN} seconds more than that, \
             but its timeout is {timeout}; lower the one or raise the other (at most {longest}) \
             with --timeout"
        )),
        Some(_) => Ok(Timing {
            timeout,
            budget: None,
        }),
        None => Ok(Timing {
            timeout,
            budget: (mode == Mode::Sandbox || room < USUAL_BUDGET).then_some(room),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        (mode, asked, configured, current): (Mode, Option<u64>, Option<u64>, Option<u64>),
        expected: (u64, Option<u64>),
    ) {
        let found = timing(mode, asked, configured, current, LONGEST).unwrap();
        assert_eq!(
            (found.timeout, found.budget),
            expected,
            "{mode:?} {asked:?} {configured:?}"
        );
    }

    #[test]
    fn a_shared_server_needs_no_more_than_the_run() {
        check((Mode::Local, None, None, None), (600, None));
        check((Mode::Local, None, Some(900), None), (960, None));
        check((Mode::Local, None, None, Some(1200)), (1200, None));
        check((Mode::Local, None, None, Some(120)), (600, None));
        check((Mode::Local, Some(300), None, Some(1200)), (300, Some(240)));
        check((Mode::Local, Some(540), None, None), (540, None));
    }

    #[test]
    fn a_sandbox_stays_for_the_work() {
        check((Mode::Sandbox, None, None, None), (1800, Some(1740)));
        check((Mode::Sandbox, None, None, Some(600)), (1800, Some(1740)));
        check((Mode::Sandbox, None, Some(700), None), (1800, None));
        check((Mode::Sandbox, Some(900), None, None), (900, Some(840)));
        let short = timing(Mode::Sandbox, None, None, None, 1200).unwrap();
        assert_eq!((short.timeout, short.budget), (1200, Some(1140)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (asked, configured) in [(Some(1801), None), (Some(89), None), (Some(600), Some(541))] {
            assert!(timing(Mode::Local, asked, configured, None, LONGEST).is_err());
        }
        assert!(timing(Mode::Local, None, Some(1740), None, 1200).is_err());
        assert!(timing(Mode::Local, Some(90), None, None, LONGEST).is_ok());
    }
}
