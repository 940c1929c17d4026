//! Time for the core: the system's clock, a clock that stands still (for questions as of another
//! moment), and what is left of the run's time.

use lifecycle::ports::Clock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    began: Instant,
    budget: Duration,
    frozen: Option<f64>,
}

impl RunClock {
    /// Starts now. With `as_of` (seconds since the epoch) it tells that moment for ever.
    pub fn start(budget_seconds: f64, as_of: Option<f64>) -> Self {
        let budget = Duration::from_secs_f64(budget_seconds.clamp(1.0, 86_400.0));
        Self {
            began: Instant::now(),
            budget,
            frozen: as_of,
        }
    }

    /// When the run's time is up.
    pub fn deadline(&self) -> Instant {
        self.began + self.budget
    }

    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Clock for RunClock {
    fn now(&self) -> f64 {
        self.frozen.unwrap_or_else(system_now)
    }

    fn time_left(&self) -> f64 {
        self.budget
            .saturating_sub(self.began.elapsed())
            .as_secs_f64()
    }

    async fn sleep(&self, seconds: f64) {
        tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))).await;
    }
}

/// Seconds since the epoch, by the system's clock.
pub fn system_now() -> f64 {
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that reads the system's clock"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
