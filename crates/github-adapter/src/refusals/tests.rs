use super::*;

use http_client::Secret;

use crate::fixtures;

fn refusal(status: u16, headers: &Value, body: &[u8]) -> ForgeError {
    let token = Secret::new("ghp_abcdefghijklmnopqrstuvwxyz012345");
    read(&Refusal {
        call: "GET /repos/acme/widget/pulls".to_owned(),
        status,
        header: &|name| headers[name].as_str().map(str::to_owned),
        body,
        token: &token,
    })
}

#[test]
fn every_way_to_say_no_is_told_apart() {
    let cases = fixtures::json("refusals.json");
    let text = testbed::fixtures::refusals(&cases, refusal);
    assert!(!text.contains("abcdefghij") && !text.contains("ONE_TIME_SECRET"));
    assert!(!text.contains("AZSCKtL4U8"));
    insta::assert_snapshot!("refusals", text);
}

#[test]
fn a_repository_that_does_not_answer_may_be_hidden() {
    let error = hidden(refusal(404, &Value::Null, b"{\"message\": \"Not Found\"}"));
    insta::assert_snapshot!("hidden-repository", error);
    let other = refusal(401, &Value::Null, b"");
    assert_eq!(hidden(other.clone()), other);
}

#[test]
fn hostile_bodies_stay_short_lines() {
    let long = "x\n".repeat(1_000_000);
    for body in [
        long.as_bytes(),
        b"\xff\xfe\x00",
        b"[]",
        b"{\"message\": 5}",
        b"{\"errors\": {\"a\": 1}}",
    ] {
        let error = refusal(422, &Value::Null, body).to_string();
        assert!(
            error.chars().count() < 500 && !error.contains(['\n', '\0']),
            "{error}"
        );
    }
}
