//! Files under the workspace's `fixtures/` as tests need them, and what is made of such a file to show
//! that its reader bears more than it.

use std::fmt::{Debug, Display};
use std::io;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::TestbedError;

/// Reads a file of JSON. `path` is below `fixtures/`, such as `github/user.json`.
///
/// # Errors
/// [`TestbedError::Fixture`] when it is not there, or is not what is asked for.
pub fn read<T: DeserializeOwned>(path: &str) -> Result<T, TestbedError> {
    let place = format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&place);
    text.and_then(|text| serde_json::from_str(&text).map_err(io::Error::from))
        .map_err(|source| TestbedError::Fixture {
            path: path.to_owned(),
            source,
        })
}

/// A value with each of its members in turn replaced by something else.
pub fn distorted(value: &Value) -> Vec<Value> {
    let odd = [
        Value::Null,
        Value::Bool(true),
        (-1).into(),
        1e300.into(),
        u64::MAX.into(),
        "".into(),
        "\u{0}\u{202e}x".into(),
        Value::Array(vec![Value::Null]),
        Value::Object(serde_json::Map::new()),
    ];
    let mut found: Vec<Value> = odd.to_vec();
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                found.extend(distorted(item).into_iter().map(|inner| {
                    let mut whole = value.clone();
                    whole[index] = inner;
                    whole
                }));
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                found.extend(distorted(member).into_iter().map(|inner| {
                    let mut whole = value.clone();
                    whole[name] = inner;
                    whole
                }));
            }
        }
        _ => {}
    }
    found
}

/// What a reader of refusals makes of each of a list of them, as text for a snapshot. A case says
/// what it `shows` and has `status`, `headers` and `body`, or in its place a `text` that is no JSON.
/// `read` is given status, headers and body.
pub fn refusals<E: Debug + Display>(
    cases: &Value,
    read: impl Fn(u16, &Value, &[u8]) -> E,
) -> String {
    let mut told = String::new();
    for case in cases.as_array().into_iter().flatten() {
        let body = case["text"]
            .as_str()
            .map_or_else(|| case["body"].to_string(), str::to_owned);
        let status = case["status"]
            .as_u64()
            .and_then(|status| status.try_into().ok());
        let error = read(
            status.unwrap_or_default(),
            &case["headers"],
            body.as_bytes(),
        );
        let kind = format!("{error:?}");
        let kind = kind.split(' ').next().unwrap_or_default();
        let shows = case["shows"].as_str().unwrap_or_default();
        told.push_str(&format!("{shows}: {kind}\n  {error}\n"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_there_or_something_else_is_named() {
        for path in ["github/none.json", "github/user.json"] {
            let error = read::<Vec<u8>>(path).unwrap_err();
            assert!(
                matches!(&error, TestbedError::Fixture { path: named, .. } if named == path),
                "{error:?}"
            );
            assert!(error.to_string().contains(path), "{error}");
        }
        assert!(read::<Value>("github/user.json").is_ok());
    }

    #[test]
    fn every_member_is_replaced_in_turn() {
        let all = distorted(&json!({"a": [1], "b": "x"}));
        for one in [json!({"a": [null], "b": "x"}), json!({"a": [1], "b": -1})] {
            assert!(all.contains(&one), "{one}");
        }
        assert!(!all.contains(&json!({"a": [1], "b": "x"})));
    }

    #[test]
    fn refusals_are_told_one_by_one() {
        let cases = json!([
            {"shows": "json", "status": 404, "body": {"message": "no"}},
            {"shows": "text", "status": 502, "headers": {"a": "b"}, "text": "<html>"},
        ]);
        let told = refusals(&cases, |status, headers, body| {
            format!("{status} {headers} {}", String::from_utf8_lossy(body))
        });
        assert_eq!(
            told.lines().collect::<Vec<_>>(),
            [
                "json: \"404",
                "  404 null {\"message\":\"no\"}",
                "text: \"502",
                "  502 {\"a\":\"b\"} <html>",
            ]
        );
    }
}
