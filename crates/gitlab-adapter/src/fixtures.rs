//! The fixtures of this crate's tests, read from `fixtures/gitlab/`.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::answers::Item;

/// The text of a fixture.
pub(crate) fn text(name: &str) -> String {
    let path = format!(
        "{}/../../fixtures/gitlab/{name}",
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
