//! Holds the limits: an input that panics, takes too long or too much memory is kept in a file and
//! reported.
//!
//! Time is that of the processor, so that a busy machine finds nothing that is not there. A thread
//! watches it: an input that never ends is found as well, and ends the process.

use fuzz_targets::Target;
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::say;

/// What one input may take: a second, and five times as much where nothing is optimised.
const TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
/// What all of it may take, the program itself included, in bytes.
const MEMORY: u64 = 256 * 1024 * 1024;
/// How often the thread looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often an input that found something is tried in a shorter form.
const SHORTENINGS: usize = 2000;

/// The input that is being run: where it is kept, and the processor's time when it began.
type Running = Arc<Mutex<Option<(PathBuf, Duration)>>>;

/// Runs inputs within limits.
pub(crate) struct Watch {
    folder: PathBuf,
    running: Running,
    slowest: Cell<Duration>,
}

impl Watch {
    /// Starts the thread. What finds something is kept in `folder`.
    pub(crate) fn start(folder: PathBuf) -> Self {
        // The folder is looked at when something is written into it.
        let _later = fs::create_dir_all(&folder);
        let running = Running::default();
        let watched = Arc::clone(&running);
        thread::spawn(move || {
            loop {
                thread::sleep(LOOK_EVERY);
                let running = watched
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if let Some((file, began)) = running
                    && processor_time().saturating_sub(began) > TIME
                {
                    say(&format!(
                        "FOUND: an input that takes over {TIME:?}: {}",
                        file.display()
                    ));
                    std::process::abort();
                }
            }
        });
        std::panic::set_hook(Box::new(|_| {}));
        Self {
            folder,
            running,
            slowest: Cell::default(),
        }
    }

    /// Starts counting anew for a target.
    pub(crate) fn begin(&self, _target: &Target) {
        self.slowest.set(Duration::ZERO);
        // Makes the peak of memory that of now; where that is not possible, the check is stricter.
        let _stricter = fs::write("/proc/self/clear_refs", "5");
    }

    /// Runs one input.
    pub(crate) fn run(&self, target: &Target, input: &[u8]) -> Result<(), String> {
        let file = self.folder.join(format!("{}-current", target.name));
        // What ends the process at once (memory, the stack) can only be found here.
        fs::write(&file, input).map_err(|error| format!("{}: {error}", file.display()))?;
        let began = processor_time();
        self.set(Some((file.clone(), began)));
        let result = quietly(target, input);
        self.set(None);
        let took = processor_time().saturating_sub(began);
        self.slowest.set(self.slowest.get().max(took));
        match result {
            Some(why) => Err(self.keep(target, input, &why)),
            None => Ok(()),
        }
    }

    /// The processor's time that the slowest input took.
    pub(crate) fn slowest(&self) -> Duration {
        self.slowest.get()
    }

    pub(crate) fn check_memory(&self, target: &Target) -> Result<(), String> {
        let peak = peak_memory();
        if peak <= MEMORY {
            return Ok(());
        }
        let file = self.folder.join(format!("{}-current", target.name));
        Err(format!(
            "{}: {} MiB of memory, with {} or an input shortly before it",
            target.name,
            peak >> 20,
            file.display()
        ))
    }

    /// Keeps an input in as short a form as is easily found.
    fn keep(&self, target: &Target, input: &[u8], why: &str) -> String {
        let short = shortened(target, input);
        let file = self.folder.join(format!("{}-found", target.name));
        let kept = fs::write(&file, &short);
        let place = match kept {
            Ok(()) => file.display().to_string(),
            Err(error) => format!("{} could not be written: {error}", file.display()),
        };
        format!(
            "{}: {why}\n  input: {place}\n  again: cargo xtask fuzz --replay {place} {}",
            target.name, target.name
        )
    }

    fn set(&self, running: Option<(PathBuf, Duration)>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}

/// Runs an input; gives the words of its panic.
fn quietly(target: &Target, input: &[u8]) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(|| (target.run)(input))).err()?;
    let words = panic.downcast_ref::<String>().cloned().or_else(|| {
        panic
            .downcast_ref::<&str>()
            .map(|words| (*words).to_owned())
    });
    let words = words.unwrap_or_else(|| "a panic".to_owned());
    Some(words.chars().take(600).collect())
}

fn shortened(target: &Target, input: &[u8]) -> Vec<u8> {
    let mut short = input.to_vec();
    let mut tries = SHORTENINGS;
    let mut piece = short.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < short.len() && tries > 0 {
            let mut without = short.clone();
            without.drain(at..(at + piece).min(short.len()));
            tries -= 1;
            if quietly(target, &without).is_some() {
                short = without;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    short
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// The most memory that the process has had since the target began, in bytes; 0 where the system
/// does not say.
pub(crate) fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}
