//! The fixtures of this crate's tests, read from `fixtures/github/`.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::answers::Item;

/// The text of a fixture.
pub(crate) fn text(name: &str) -> String {
    let path = format!(
        "{}/../../fixtures/github/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A fixture as JSON.
pub(crate) fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// A fixture as one value that is not yet read.
pub(crate) fn raw(name: &str) -> Box<RawValue> {
    serde_json::from_str(&text(name)).unwrap()
}

/// The items of a list, not yet read.
pub(crate) fn items(list: &Value) -> Vec<Item> {
    serde_json::from_str(&list.to_string()).unwrap()
}

/// A value with each of its members in turn replaced by something else.
pub(crate) fn distorted(value: &Value) -> Vec<Value> {
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
