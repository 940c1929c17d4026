//! The fixtures of this crate's tests, read from `fixtures/gitlab/`.

use forge_http::answers::Item;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn read<T: DeserializeOwned>(name: &str) -> T {
    testbed::fixtures::read(&format!("gitlab/{name}")).unwrap()
}

/// A fixture as JSON.
pub(crate) fn json(name: &str) -> Value {
    read(name)
}

/// A fixture as one value that is not yet read.
pub(crate) fn raw(name: &str) -> Item {
    read(name)
}

/// The items of a list, not yet read.
pub(crate) fn items(list: &Value) -> Vec<Item> {
    serde_json::from_str(&list.to_string()).unwrap()
}
