//! The ports of the core, filled by the world. Every call is a point at which the scheduler may let
//! others go first, kill the run, drop the answer, or refuse.

mod agents;
mod files;
mod issues;
mod keys;
mod news;
mod reviews;
mod tampered;
mod workspaces;

pub(crate) use files::Files;
pub(crate) use keys::open;
pub(crate) use tampered::{Mutated, Tampered};

use crate::world::{Call, Fault, Micros, Service, What, World};
use lifecycle::ports::{Clock, ForgeError, Journal};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// What one run sees of the world.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) world: Rc<RefCell<World>>,
    pub(crate) run: usize,
}

impl Link {
    /// Makes a call: `effect` is what it does when it arrives.
    pub(crate) async fn call<R: 'static>(
        &self,
        call: Call,
        effect: impl FnOnce(&mut World, usize) -> R + 'static,
    ) -> Result<R, Fault> {
        self.deferred(call, |world, run, done| {
            let outcome = effect(world, run);
            done(world, outcome);
        })
        .await
    }

    /// Makes a call whose outcome may come later than its arrival.
    pub(crate) async fn deferred<R: 'static>(
        &self,
        call: Call,
        effect: impl FnOnce(&mut World, usize, Done<R>) + 'static,
    ) -> Result<R, Fault> {
        let run = self.run;
        let slot: Rc<RefCell<Option<R>>> = Rc::default();
        let (fault, answered) = {
            let mut world = self.world.borrow_mut();
            if call.writes && world.runs[run].is_dry {
                world.broken(|| format!("a dry run made a call that writes: {}", call.what));
            }
            let course = world.course(run, &call);
            let (what, service) = (call.what, call.service);
            if let Some(at) = course.arrives {
                world.calls += 1;
                let number = world.calls;
                let slot = slot.clone();
                let effect = move |world: &mut World| {
                    world.note(|_| format!("run {run}: {what}"));
                    let done: Done<R> = Box::new(move |_, outcome| {
                        slot.replace(Some(outcome));
                    });
                    effect(world, run, done);
                };
                world.queue.push(
                    at,
                    What::Arrive {
                        poll: run,
                        call: number,
                        is_local: service == Service::Disk,
                        effect: Box::new(effect),
                    },
                );
                if course.fault.is_some() {
                    let until = course.answered;
                    world.note(|_| {
                        format!("run {run}: its next answer is lost (gives up at {until})")
                    });
                }
            } else {
                let fault = course.fault;
                world.note(|_| format!("run {run}: {what} … {fault:?}, no effect"));
            }
            (course.fault, course.answered)
        };
        self.until(answered).await;
        if let Some(fault) = fault {
            return Err(fault);
        }
        // The service may need a moment longer than the way there and back.
        loop {
            if let Some(outcome) = slot.take() {
                return Ok(outcome);
            }
            let soon = self.world.borrow().now + 25_000;
            self.until(soon).await;
        }
    }

    async fn until(&self, at: Micros) {
        Pause {
            link: self.clone(),
            at,
            is_set: false,
        }
        .await;
    }

    /// Waits.
    pub(crate) async fn pause(&self, micros: Micros) {
        let at = self.world.borrow().now + micros;
        self.until(at).await;
    }

    pub(crate) fn call_of(service: Service, writes: bool, what: String) -> Call {
        Call {
            service,
            writes,
            what,
        }
    }
}

/// Hands the outcome of a call to its caller.
pub(crate) type Done<R> = Box<dyn FnOnce(&mut World, R)>;

struct Pause {
    link: Link,
    at: Micros,
    is_set: bool,
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut world = self.link.world.borrow_mut();
        if world.now >= self.at {
            return Poll::Ready(());
        }
        if !self.is_set {
            let wake = What::Wake {
                poll: self.link.run,
                waker: context.waker().clone(),
            };
            world.queue.push(self.at, wake);
            drop(world);
            self.is_set = true;
        }
        Poll::Pending
    }
}

/// What the adapters of the forges make of a call that brought no result.
fn forge_error(fault: Fault, what: &str) -> ForgeError {
    let call = what.to_owned();
    let detail = format!("{fault:?}");
    match fault {
        Fault::Status(401) => ForgeError::BadToken { call, detail },
        Fault::Status(403) => ForgeError::NoAccess { call, detail },
        Fault::Status(404) => ForgeError::NotFound { call, detail },
        Fault::Status(429) => ForgeError::Limited {
            call,
            resets_at: None,
        },
        Fault::Status(status @ (400 | 409 | 422)) => ForgeError::Refused {
            call,
            status,
            detail,
        },
        _ => ForgeError::Unavailable { call, detail },
    }
}

impl Clock for Link {
    fn now(&self) -> f64 {
        self.world.borrow().clock_of(self.run)
    }

    #[expect(clippy::cast_precision_loss, reason = "small")]
    fn time_left(&self) -> f64 {
        let world = self.world.borrow();
        let spent = world.now - world.runs[self.run].began;
        (crate::world::RUN_SECONDS as f64 - spent as f64 / 1e6).max(0.0)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and an hour at most"
    )]
    async fn sleep(&self, seconds: f64) {
        self.pause((seconds.clamp(0.0, 3600.0) * 1e6) as Micros)
            .await;
    }
}

impl Journal for Link {
    fn note(&self, _target: &str, item: &str, text: &str) {
        let mut world = self.world.borrow_mut();
        world.check_text("the log", text);
        let run = self.run;
        world.note(|_| format!("run {run}: says {item}: {text}"));
    }

    fn warn(&self, _target: &str, item: &str, text: &str) {
        let mut world = self.world.borrow_mut();
        world.check_text("the log", text);
        let run = self.run;
        world.note(|_| format!("run {run}: warns {item}: {text}"));
    }

    fn digest(&self, period: &str, text: &str) {
        let mut world = self.world.borrow_mut();
        world.check_text("a digest", text);
        let run = self.run;
        world.note(|_| format!("run {run}: prints the digest of {period}"));
        world.watch_digest(period);
    }
}
