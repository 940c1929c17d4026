//! The moments of a run at which it can be killed: as each of its requests arrives, as each answer
//! is due, and at evenly spread times.

use super::matrix::Phase;
use crate::stage::process::Process;
use crate::stage::scenes::Scene;
use std::time::{Duration, Instant};
use testbed::StandIn;
use testbed::faults::{Fault, FaultId};

/// Where a run is when it is killed.
#[derive(Clone, Debug)]
pub enum Point {
    /// A request has arrived and has had no effect.
    Before(Request),
    /// A request has had its effect and its answer is under way.
    After(Request),
    /// So long after the start.
    Time(Duration),
}

/// A request of a run, told by the service and its number there.
#[derive(Clone, Debug)]
pub struct Request {
    /// Index in [`Scene::services`].
    pub service: usize,
    /// How many requests of the same run came to that service before.
    pub earlier: u32,
    /// For people.
    pub line: String,
}

/// A moment in one of the runs of a piece of work.
#[derive(Clone, Debug)]
pub struct Moment {
    pub phase: Phase,
    pub point: Point,
}

/// What a run that nobody kills does.
pub struct Course {
    pub requests: Vec<Request>,
    pub took: Duration,
}

/// Runs once and notes what is asked, in the order of arrival.
pub fn course(scene: &dyn Scene) -> Course {
    let services = scene.services();
    for service in &services {
        service.log().clear();
    }
    let ran = scene.stage().run().ok();
    let mut arrived: Vec<(Instant, Request)> = Vec::new();
    for (index, service) in services.iter().enumerate() {
        for (earlier, one) in service.log().all().into_iter().enumerate() {
            let request = Request {
                service: index,
                earlier: u32::try_from(earlier).unwrap(),
                line: format!("{} {} {}", service.name(), one.method, one.path),
            };
            arrived.push((one.at, request));
        }
    }
    arrived.sort_by_key(|(at, _)| *at);
    Course {
        requests: arrived.into_iter().map(|(_, request)| request).collect(),
        took: ran.took,
    }
}

/// `count` moments spread evenly over the runs: two of three by requests, the others by time.
pub fn spread(courses: &[(Phase, Course)], count: usize) -> Vec<Moment> {
    let mut by_request = Vec::new();
    for (phase, course) in courses {
        for request in &course.requests {
            for point in [
                Point::Before(request.clone()),
                Point::After(request.clone()),
            ] {
                by_request.push(Moment {
                    phase: *phase,
                    point,
                });
            }
        }
    }
    let timed = count / 3;
    let mut moments: Vec<Moment> = evenly(by_request.len(), count - timed)
        .map(|index| by_request[index].clone())
        .collect();
    let whole: Duration = courses.iter().map(|(_, course)| course.took).sum();
    for number in 0..timed {
        let mut at = whole.mul_f64((number as f64 + 0.5) / timed as f64);
        for (phase, course) in courses {
            if at < course.took {
                let point = Point::Time(at);
                moments.push(Moment {
                    phase: *phase,
                    point,
                });
                break;
            }
            at -= course.took;
        }
    }
    moments
}

/// `count` indexes below `length`, evenly spread; more than there are come round again.
fn evenly(length: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |number| {
        if count <= length {
            (2 * number + 1) * length / (2 * count)
        } else {
            number % length
        }
    })
}

/// A point that is prepared: the run stops there until it is killed.
pub struct Trap<'a> {
    service: Option<(&'a StandIn, FaultId)>,
    point: Point,
}

impl Point {
    /// Prepares the services so that the run stays at this point for a while.
    pub fn set_trap<'a>(&self, scene: &'a dyn Scene) -> Trap<'a> {
        let fault = |request: &Request, fault: Fault| {
            let service = scene.services()[request.service];
            let id = service.faults().add(fault.skip(request.earlier));
            Some((service, id))
        };
        // The report of the end must not be lost to a run that goes on: it is only slow.
        let is_report = |request: &Request| request.line.ends_with("/complete");
        let slow = || Fault::delay(Duration::from_millis(150));
        let service = match self {
            Self::Before(request) | Self::After(request) if is_report(request) => {
                fault(request, slow())
            }
            Self::Before(request) => fault(request, Fault::hang()),
            Self::After(request) => fault(request, Fault::hang().after_effect()),
            Self::Time(_) => None,
        };
        Trap {
            service,
            point: self.clone(),
        }
    }
}

impl Trap<'_> {
    /// Waits until the run is there; `false` when it ended without coming there.
    pub fn has_sprung(&self, process: &mut Process) -> bool {
        match (&self.point, self.service) {
            (Point::Time(after), _) => {
                std::thread::sleep(*after);
                process.is_running()
            }
            (point, Some((service, id))) => {
                let sprung = process.wait_until(|| service.faults().hits(id) > 0);
                if sprung && matches!(point, Point::After(_)) {
                    // Time for the effect.
                    std::thread::sleep(Duration::from_millis(40));
                }
                sprung
            }
            (_, None) => false,
        }
    }
}
