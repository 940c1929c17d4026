use super::*;

use http_client::Secret;

use crate::fixtures;

fn refusal(status: u16, body: &[u8]) -> ForgeError {
    let token = Secret::new("glpat-abcdefghijklmnopqrst");
    let call = "GET /api/v4/projects/group%2Fservice/issues".to_owned();
    read(&Refusal {
        call,
        status,
        header: &|_| None,
        body,
        token: &token,
    })
}

#[test]
fn every_way_to_say_no_is_told_apart() {
    let cases = fixtures::json("refusals.json");
    let text = testbed::fixtures::refusals(&cases, |status, _, body| refusal(status, body));
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
