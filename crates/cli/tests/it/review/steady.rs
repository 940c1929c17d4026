//! What a poll costs when nothing has changed, and what an archive costs.

use crate::stage::scenes::{PullRequests, now};
use crate::stage::{A_MINUTE, Backend};
use std::time::Duration;
use testbed::agent_server::Status;
use testbed::faults::Fault;
use testbed::github::{Archive, NewPull};

/// 30 open pull requests, ten of them under review; nothing has happened for ten minutes.
fn thirty_of_which_ten() -> PullRequests {
    let scene = PullRequests::none(Backend::LikeSqlite);
    scene.github.set_now(now() - 600.0);
    for number in 1..=30 {
        if number % 3 == 0 {
            scene.labelled(&format!("Change {number}"));
        } else {
            scene
                .repo
                .open_pull(NewPull::titled(&format!("Change {number}")));
        }
    }
    let ran = scene.stage.run().ok();
    assert_eq!(ran.count("started"), 10, "{}", ran.all());
    scene.stage.set_status(Status::Running);
    scene.stage.let_time_pass(A_MINUTE);
    scene.stage.run().ok();
    scene
}

#[test]
fn an_unchanged_repository_costs_four_requests_at_most() {
    let scene = thirty_of_which_ten();
    scene.stage.let_time_pass(A_MINUTE);
    scene.github.server().log().clear();
    scene.github.codeload().log().clear();
    let agent = scene.stage.agent.server();
    agent.log().clear();
    let ran = scene.stage.run().ok();
    assert_eq!(ran.target()["in_flight"], 10);
    let requests = scene.requests();
    assert!(requests.len() <= 4, "{requests:#?}");
    // The ten conversations are one request.
    let looks = agent.log().count("GET", "/api/conversations");
    assert_eq!(looks, 1, "{:#?}", agent.log().lines());
    scene.check();
}

#[test]
fn an_unchanged_repository_costs_three_round_trips() {
    const TRIP: Duration = Duration::from_millis(150);
    let scene = thirty_of_which_ten();
    scene.stage.let_time_pass(A_MINUTE);
    let services: Vec<_> = {
        use crate::stage::scenes::Scene as _;
        scene.services()
    };
    for service in &services {
        service.log().clear();
        service.faults().set_latency(TRIP);
    }
    let ran = scene.stage.run().ok();
    // A request of the next trip arrives when one of the trip before has been answered.
    let mut arrived: Vec<_> = services
        .iter()
        .flat_map(|service| service.log().all())
        .map(|one| (one.at, one.line()))
        .filter(|(_, line)| !line.contains("/complete"))
        .collect();
    arrived.sort();
    let mut trips: Vec<Vec<String>> = Vec::new();
    let mut began = None;
    for (at, line) in arrived {
        match began {
            Some(moment) if at.duration_since(moment) < TRIP => {}
            _ => {
                began = Some(at);
                trips.push(Vec::new());
            }
        }
        trips.last_mut().unwrap().push(line);
    }
    assert!(trips.len() <= 3, "{trips:#?}\n{}", ran.all());
    scene.check();
}

#[test]
fn an_archive_of_sixty_megabytes_is_unpacked_in_constant_memory() {
    const MIB: u64 = 1024 * 1024;
    for noise in [false, true] {
        let scene = PullRequests::one_labelled(Backend::LikeSqlite);
        let head = scene.pull(1).head_sha();
        let archive = Archive::Large {
            files: 60,
            bytes_each: MIB,
            noise,
        };
        scene.repo.set_archive(&head, archive);
        // The callback comes last: while it waits, the peak of the process can be read.
        let callbacks = scene.stage.callbacks.server();
        let waiting = Fault::delay(Duration::from_millis(300)).on("POST", "/complete");
        let waiting = callbacks.faults().add(waiting);
        let mut process = scene.stage.begin();
        assert!(process.wait_until(|| callbacks.faults().hits(waiting) == 1));
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
        let ran = process.end(&scene.stage).ok();
        assert_eq!(ran.count("started"), 1, "{}", ran.all());
        let peak: u64 = status
            .lines()
            .find_map(|line| {
                line.strip_prefix("VmHWM:")?
                    .split_whitespace()
                    .next()?
                    .parse()
                    .ok()
            })
            .unwrap();
        println!("noise {noise}: peak {peak} KiB");
        assert!(peak < 32 * 1024, "{peak} KiB");
        let dir = scene.stage.record()["workspace_dir"]
            .as_str()
            .unwrap()
            .to_owned();
        let unpacked = std::fs::read_dir(format!("{dir}/data")).unwrap();
        let bytes: u64 = unpacked
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        assert_eq!(bytes, 60 * MIB);
    }
}
