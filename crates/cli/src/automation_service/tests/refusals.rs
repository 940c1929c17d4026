//! What goes wrong with a service, as the error that it is.

use super::draft;
use crate::automation_service::{AutomationService, Capabilities, Change, Host, ServiceError};
use http_client::{Client, HttpError, Policy, Secret};
use testbed::ClosedPort;
use testbed::automation_service::{API_KEY, AutomationService as StandIn, MAX_UPLOAD_BYTES};
use testbed::faults::Fault;

/// An id that no automation has.
const NONE: &str = "00000000-0000-4000-8000-000000000000";

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn connect(
    host: &str,
    key: &str,
) -> Result<(AutomationService, Option<Capabilities>), ServiceError> {
    let policy = Policy {
        retry_pause: std::time::Duration::from_millis(1),
        ..Policy::default()
    };
    let client = Client::new(policy).unwrap();
    let host = Host::parse(host).unwrap();
    block_on(AutomationService::connect(
        client,
        host,
        Secret::new(key.to_owned()),
    ))
}

fn connected(stand_in: &StandIn) -> AutomationService {
    connect(stand_in.host(), API_KEY).unwrap().0
}

/// The error of a place that is no service, or does not let the key pass.
fn not_connected(host: &str, key: &str) -> ServiceError {
    let error = connect(host, key).unwrap_err();
    assert!(!error.is_effect_unknown());
    error
}

#[test]
fn a_place_where_nobody_answers_or_somebody_else_does() {
    let closed = ClosedPort::take().unwrap();
    let error = not_connected(closed.base_url(), API_KEY);
    assert!(
        matches!(&error, ServiceError::Unreachable { host, source: HttpError::Connect { .. } }
            if host == closed.base_url()),
        "{error:?}"
    );
    let service = StandIn::start().unwrap();
    let faults = service.server().faults();
    let page = Fault::wrong_body("text/html", "<html>Welcome</html>");
    faults.add(page.on("GET", "/health"));
    assert_eq!(
        not_connected(service.host(), API_KEY),
        ServiceError::NotThere {
            host: service.host().to_owned(),
            found: "status 200 and text/html".to_owned(),
        }
    );
    let moved = Fault::status(308).header("location", "https://other.example.com/");
    faults.add(moved.on("GET", "/health"));
    assert_eq!(
        not_connected(service.host(), API_KEY),
        ServiceError::Moved {
            host: service.host().to_owned(),
            to: "https://other.example.com/".to_owned(),
        }
    );
}

#[test]
fn a_key_that_is_not_accepted_and_one_that_may_not() {
    let service = StandIn::start().unwrap();
    assert_eq!(
        not_connected(service.host(), "wrong-key-0123"),
        ServiceError::KeyRefused {
            host: service.host().to_owned(),
        }
    );
    let words = r#"{"detail": "Requires view_automations permission"}"#;
    let forbidden = Fault::status(403).body("application/json", words);
    let faults = service.server().faults();
    faults.add(forbidden.on("GET", "/v1/capabilities"));
    let error = not_connected(service.host(), API_KEY);
    assert!(
        matches!(&error, ServiceError::Forbidden { call, why }
            if call.starts_with("GET ") && call.ends_with("/v1/capabilities")
                && why == "Requires view_automations permission"),
        "{error:?}"
    );
}

#[test]
fn an_automation_that_is_not_there_whatever_is_asked_of_it() {
    let stand_in = StandIn::start().unwrap();
    let service = connected(&stand_in);
    // An id that is none is not even asked for.
    for id in [NONE, "", "../v1", "a/b", "a?b"] {
        let before = stand_in.server().log().len();
        let errors = [
            block_on(service.automation(id)).unwrap_err(),
            block_on(service.change(id, &Change::default())).unwrap_err(),
            block_on(service.dispatch(id)).unwrap_err(),
            block_on(service.runs(id, 1)).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error, ServiceError::NoSuchAutomation { id: id.to_owned() });
        }
        let asked = stand_in.server().log().len() - before;
        assert_eq!(asked, if id == NONE { 4 } else { 0 }, "{id}");
    }
    block_on(service.remove(NONE)).unwrap();
}

#[test]
fn a_draft_that_is_refused_says_what_is_wrong_with_it() {
    let stand_in = StandIn::start().unwrap();
    let service = connected(&stand_in);
    let mut wrong = draft();
    wrong.trigger.schedule = "every day".to_owned();
    let error = block_on(service.create(&wrong)).unwrap_err();
    assert!(
        matches!(&error, ServiceError::Refused { call, why }
            if call.starts_with("POST ") && why.contains("schedule")),
        "{error:?}"
    );
    assert!(!error.is_effect_unknown());
    assert!(stand_in.automations().is_empty());
}

#[test]
fn an_archive_that_is_too_large_and_one_that_could_not_be_kept() {
    let stand_in = StandIn::start().unwrap();
    let service = connected(&stand_in);
    let bytes = MAX_UPLOAD_BYTES + 1;
    let error = block_on(service.upload("big", vec![0; bytes])).unwrap_err();
    assert_eq!(error, ServiceError::TooLarge { bytes });
    let failed = r#"{"id": "b0", "status": "FAILED", "tarball_path": null,
        "error_message": "The disk is full"}"#;
    let failed = Fault::status(201).body("application/json", failed);
    stand_in
        .server()
        .faults()
        .add(failed.on("POST", "/v1/uploads"));
    let error = block_on(service.upload("small", vec![0; 9])).unwrap_err();
    assert_eq!(
        error,
        ServiceError::UploadFailed {
            why: "The disk is full".to_owned(),
        }
    );
    let log = stand_in.server().log();
    assert_eq!(log.count("DELETE", "/v1/uploads/b0"), 1, "{log:?}");
    assert_eq!(stand_in.uploads(), 0);
}

/// A service in trouble may have done what it was asked; one whose answer is odd has answered.
#[test]
fn no_answer_or_an_odd_one_is_told_as_it_came() {
    let stand_in = StandIn::start().unwrap();
    let service = connected(&stand_in);
    let faults = stand_in.server().faults();
    faults.add(Fault::status(500).on("POST", "/v1"));
    let error = block_on(service.create(&draft())).unwrap_err();
    assert!(
        matches!(
            &error,
            ServiceError::Http(HttpError::Status { status: 500, .. })
        ),
        "{error:?}"
    );
    assert!(error.is_effect_unknown());
    faults.add(Fault::answer_lost().on("POST", "/v1"));
    let error = block_on(service.create(&draft())).unwrap_err();
    assert!(
        matches!(&error, ServiceError::Http(HttpError::Broken { .. })),
        "{error:?}"
    );
    assert!(error.is_effect_unknown());
    faults.add(Fault::wrong_body("text/html", "<html>").on("GET", "/v1"));
    let error = block_on(service.automations()).unwrap_err();
    assert!(
        matches!(&error, ServiceError::Http(HttpError::Body { .. })),
        "{error:?}"
    );
}
