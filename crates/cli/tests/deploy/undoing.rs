//! Bad moments: what was begun is undone or named, and what has happened all the same is found.

use crate::bench::Bench;
use serde_json::json;
use testbed::faults::Fault;

/// The call that creates: after the preflight and the upload.
fn create(fault: Fault) -> Fault {
    fault.on("POST", "/v1").skip(2)
}

#[test]
fn an_upload_that_fails_leaves_nothing() {
    let bench = Bench::new();
    let faults = bench.service.server().faults();
    faults.add(Fault::status(500).on("POST", "/v1/uploads"));
    let ended = bench.reviewer(&[]).run();
    assert!(ended.refused(1).contains("status 500"), "{ended:?}");
    bench.is_untouched();

    faults.add(Fault::status(413).on("POST", "/v1/uploads"));
    assert!(
        bench
            .reviewer(&[])
            .run()
            .refused(1)
            .contains("takes at most 1048576")
    );
    bench.is_untouched();

    // Taken, and not kept.
    let failed = json!({
        "id": "b0000000-0000-4000-8000-0000000000ff", "status": "FAILED", "size_bytes": 9,
        "tarball_path": null, "error_message": "File size exceeds limit of 1048576 bytes",
    });
    let failed = Fault::status(201).body("application/json", failed.to_string());
    faults.add(failed.on("POST", "/v1/uploads"));
    let ended = bench.reviewer(&[]).run();
    assert!(
        ended
            .refused(1)
            .contains("could not keep the archive: File size exceeds"),
        "{ended:?}"
    );
    let removed = bench
        .service
        .server()
        .log()
        .count("DELETE", "/v1/uploads/b0000000-0000-4000-8000-0000000000ff");
    assert_eq!(removed, 1);
    bench.is_untouched();
}

#[test]
fn a_creation_that_fails_takes_its_archive_along() {
    let bench = Bench::new();
    for fault in [
        Fault::status(500),
        Fault::status(403),
        Fault::status(422),
        Fault::reset(),
    ] {
        let id = bench.service.server().faults().add(create(fault));
        bench.reviewer(&[]).run().refused(1);
        bench.service.server().faults().remove(id);
        bench.is_untouched();
    }
    let faults = bench.service.server().faults();
    faults.add(create(Fault::status(500)));
    faults.add(Fault::status(500).on("DELETE", "/v1/uploads"));
    let ended = bench.reviewer(&[]).run();
    let error = ended.refused(1);
    assert!(
        error.contains("the archive that was uploaded is left behind (b0000000-"),
        "{error}"
    );
    assert_eq!(
        (bench.service.uploads(), bench.service.automations().len()),
        (1, 0)
    );
}

#[test]
fn a_creation_whose_answer_is_lost_is_found() {
    let bench = Bench::new();
    bench
        .service
        .server()
        .faults()
        .add(create(Fault::answer_lost()));
    let ended = bench.reviewer(&["--dispatch"]).run();
    ended.said(0);
    assert_eq!(
        (bench.service.uploads(), bench.service.automations().len()),
        (1, 1)
    );
    assert_eq!(bench.service.runs().len(), 1);
}

#[test]
fn what_is_not_known_is_said() {
    let bench = Bench::new();
    let faults = bench.service.server().faults();
    faults.add(create(Fault::answer_lost()));
    faults.add(Fault::status(401).on("GET", "/v1?").skip(1).always());
    let ended = bench.reviewer(&[]).run();
    let error = ended.refused(1);
    assert!(
        error.contains("Whether github-pr-reviewer was created is not known"),
        "{error}"
    );
    assert!(error.contains("oh-internal://uploads/b0000000-"), "{error}");
}

#[test]
fn a_change_that_fails_leaves_all_as_it_was() {
    let bench = Bench::new();
    let id = bench.script("Reviews", None);
    let before = bench.service.automation(&id).unwrap();
    let faults = bench.service.server().faults();
    for fault in [Fault::status(403), Fault::status(422)] {
        faults.add(fault.on("PATCH", &id));
        let ended = bench.reviewer(&["--update", &id]).run();
        let error = ended.refused(1);
        assert!(
            error.contains("Reviews") && error.contains("is as it was"),
            "{error}"
        );
        assert_eq!(bench.service.automation(&id).unwrap(), before);
        assert_eq!(bench.service.uploads(), 1);
    }
    // It is repeated, and looked for, before it counts as failed.
    let stubborn = faults.add(Fault::status(500).on("PATCH", &id).always());
    bench.reviewer(&["--update", &id]).run().refused(1);
    assert_eq!(bench.service.automation(&id).unwrap(), before);
    assert_eq!(bench.service.uploads(), 1);
    faults.remove(stubborn);

    let lost = Fault::status(500).after_effect().on("PATCH", &id);
    faults.add(lost);
    bench.reviewer(&["--update", &id]).run().said(0);
    assert_eq!(
        bench.service.automation(&id).unwrap()["entrypoint"],
        "./bin/github-pr-reviewer"
    );
    assert_eq!(bench.service.uploads(), 2);
}

#[test]
fn a_run_that_cannot_be_started_or_followed_is_no_failed_deployment() {
    let bench = Bench::new();
    let faults = bench.service.server().faults();
    faults.add(Fault::status(500).on("POST", "/dispatch"));
    let ended = bench.reviewer(&["--dispatch"]).run();
    assert!(
        ended.refused(1).contains("is deployed (a0000000-"),
        "{ended:?}"
    );
    assert_eq!(bench.service.automations().len(), 1);

    // A service that is down for a moment is waited for.
    faults.add(Fault::reset().on("GET", "/runs").times(5));
    let ended = bench.reviewer(&["--dispatch", "--name", "Second"]).run();
    ended.said(0);
}
