use std::fmt::Write as _;

use super::*;
use crate::fixtures;

fn refusal(status: u16, headers: &Value, body: &[u8]) -> ForgeError {
    let token = Secret::new("ghp_abcdefghijklmnopqrstuvwxyz012345");
    Refusal {
        call: "GET /repos/acme/widget/pulls".to_owned(),
        status,
        header: &|name| headers[name].as_str().map(str::to_owned),
        body,
        token: &token,
    }
    .read()
}

#[test]
fn every_way_to_say_no_is_told_apart() {
    let mut text = String::new();
    for case in fixtures::json("refusals.json").as_array().unwrap() {
        let body = case["text"]
            .as_str()
            .map_or_else(|| case["body"].to_string(), str::to_owned);
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let error = refusal(status, &case["headers"], body.as_bytes());
        let kind = format!("{error:?}");
        let kind = kind.split(' ').next().unwrap();
        writeln!(
            text,
            "{}: {kind}\n  {error}",
            case["shows"].as_str().unwrap()
        )
        .unwrap();
    }
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
