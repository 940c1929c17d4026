use std::fmt::Write as _;

use super::*;
use crate::fixtures;

fn refusal(status: u16, body: &[u8]) -> ForgeError {
    let token = Secret::new("glpat-abcdefghijklmnopqrst");
    let call = "GET /api/v4/projects/group%2Fservice/issues".to_owned();
    Refusal {
        call,
        status,
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
        let error = refusal(status, body.as_bytes());
        let kind = format!("{error:?}");
        let kind = kind.split(' ').next().unwrap();
        writeln!(
            text,
            "{}: {kind}\n  {error}",
            case["shows"].as_str().unwrap()
        )
        .unwrap();
    }
    assert!(!text.contains("abcdefghij") && !text.contains("zyxwvutsr"));
    insta::assert_snapshot!("refusals", text);
}

#[test]
fn hostile_bodies_stay_short_lines() {
    let long = "x\n".repeat(1_000_000);
    let wide = format!("{{\"message\": [{}]}}", vec!["\"a\\nb\""; 10_000].join(","));
    let deep = format!("{{\"message\": {}{}}}", "[".repeat(100), "]".repeat(100));
    for body in [
        long.as_bytes(),
        wide.as_bytes(),
        deep.as_bytes(),
        b"\xff\xfe\x00",
        b"[]",
        b"{\"message\": 5}",
    ] {
        let error = refusal(422, body).to_string();
        assert!(
            error.chars().count() < 500 && !error.contains(['\n', '\0']),
            "{error}"
        );
    }
}
