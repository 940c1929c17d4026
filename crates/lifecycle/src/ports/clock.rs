//! Time, as the core sees it.

/// The clock of the run.
pub trait Clock {
    /// Seconds since the epoch.
    fn now(&self) -> f64;

    /// Seconds that the run may still take before it has to stop on its own.
    fn time_left(&self) -> f64;

    /// Waits for a number of seconds.
    fn sleep(&self, seconds: f64) -> impl Future<Output = ()>;
}
