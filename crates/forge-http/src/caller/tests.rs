use super::*;

use http_client::Policy;
use serde_json::{Value, json};
use testbed::StandIn;
use testbed::written::{Answer, serve};

use crate::ask::below;

const NOW: f64 = 1_787_044_320.0;
const TOKEN: &str = "0123456789abcdef0123";

static DIALECT: Dialect = Dialect {
    service: "Forge",
    max_bytes: 10_000,
    sign: |request, token| request.credential("x-token", token.clone()),
    refused: |refusal| ForgeError::Refused {
        call: refusal.call.clone(),
        status: refusal.status,
        detail: (refusal.header)("x-why").unwrap_or_default(),
    },
};

fn world(answers: Vec<Answer>) -> (StandIn, Caller, Ask) {
    let server = serve("forge", answers).unwrap();
    let policy = Policy {
        retry_pause: Duration::from_millis(1),
        ..Policy::default()
    };
    let caller = Caller::new(&DIALECT, Client::new(policy).unwrap(), Secret::new(TOKEN));
    let api = server.base_url().parse().unwrap();
    let ask = Ask::get(below(&api, &["a"]), "x/y");
    (server, caller, ask)
}

fn answer(status: u16, headers: &Value) -> Answer {
    Answer::new(status, headers, &json!({}))
}

/// A write, of which no failing status is waited out.
fn write(ask: &Ask) -> Ask {
    Ask::post(ask.url.clone(), ask.accept, json!({"b": 1}))
}

#[tokio::test]
async fn the_token_goes_along_and_values_and_lists_are_read() {
    let list = Answer::ok(&json!([{"c": 1.50}, null]));
    let (server, caller, ask) = world(vec![Answer::ok(&json!(7)), list]);
    assert_eq!(caller.object(&write(&ask)).await.unwrap().get(), "7");
    let (items, response) = caller.list(&ask).await.unwrap();
    assert_eq!((items.len(), response.url), (2, ask.url));
    let first = server.log().last("POST", "/a").unwrap();
    assert_eq!(first.header("x-token"), Some(TOKEN));
    assert_eq!(first.header("accept"), Some("x/y"));
}

#[tokio::test]
async fn a_failing_status_is_read_and_no_answer_is_none() {
    let why = json!({"x-why": "because"});
    let answers = vec![answer(409, &why), answer(409, &why), Answer::ok(&json!({}))];
    let (server, caller, ask) = world(answers);
    let refused = ForgeError::Refused {
        call: "GET /a".to_owned(),
        status: 409,
        detail: "because".to_owned(),
    };
    assert_eq!(caller.send(&ask).await.err(), Some(refused.clone()));
    let streamed = caller.stream(&ask, Duration::from_secs(5), 10).await;
    assert_eq!(streamed.err(), Some(refused));
    // An object where a list is asked for.
    let error = caller.list(&ask).await.err().unwrap();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    drop(server);
    let error = caller.object(&write(&ask)).await.err().unwrap();
    assert!(
        matches!(&error, ForgeError::Unavailable { call, .. } if call == "POST /a"),
        "{error}"
    );
}

#[tokio::test]
async fn limits_end_at_a_moment_once_the_time_is_known() {
    let until = 1_787_211_000.0;
    // Where the date of an answer cannot be read, the moment is taken as it is.
    let moment = json!({"x-ratelimit-remaining": 0, "x-ratelimit-reset": until, "date": "today"});
    for (headers, unknown, known) in [
        (json!({"retry-after": 57}), None, NOW + 57.0),
        (json!({}), None, NOW + UNSTATED_WAIT),
        (moment, Some(until), until),
    ] {
        let end = async |now: Option<f64>| {
            let (_server, mut caller, ask) = world(vec![answer(429, &headers)]);
            if let Some(now) = now {
                caller.set_now(now);
            }
            match caller.send(&write(&ask)).await {
                Err(ForgeError::Limited { resets_at, .. }) => resets_at,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(end(None).await, unknown);
        let late = end(Some(NOW)).await.unwrap() - known;
        assert!((0.0..30.0).contains(&late), "{headers}: {late}");
    }
}

#[tokio::test]
async fn a_refusal_from_elsewhere_is_none_unless_it_was_a_stream() {
    let (elsewhere, ..) = world(vec![answer(404, &json!({})), answer(404, &json!({}))]);
    let led = answer(302, &json!({"location": elsewhere.url("/b")}));
    let (_server, caller, ask) = world(vec![led.clone(), led]);
    let error = caller.send(&ask).await.err().unwrap();
    let place = elsewhere.base_url();
    assert!(
        matches!(&error, ForgeError::Unavailable { detail, .. } if detail.contains(place)),
        "{error}"
    );
    let streamed = caller.stream(&ask, Duration::from_secs(5), 10).await;
    assert!(matches!(
        streamed.err(),
        Some(ForgeError::Refused { status: 404, .. })
    ));
    let log = elsewhere.log().all();
    assert!(log.iter().all(|one| one.header("x-token").is_none()));
    assert_eq!(log.len(), 2);
}
