//! How the service measures a value: JSON as its own writer spells it, with a blank after each
//! comma and colon and letters outside ASCII as they are.

use serde_json::Value;

/// The bytes of a value as the service counts them against its limit.
///
/// ```
/// let value = serde_json::json!({"a": [1, 2]});
/// assert_eq!(value.to_string().len(), 11);
/// assert_eq!(testbed::kv::service_json_bytes(&value), 13);
/// ```
pub fn service_json_bytes(value: &Value) -> usize {
    value.to_string().len() + blanks(value)
}

fn blanks(value: &Value) -> usize {
    match value {
        Value::Array(items) => {
            items.len().saturating_sub(1) + items.iter().map(blanks).sum::<usize>()
        }
        Value::Object(members) => {
            let separators = (2 * members.len()).saturating_sub(1);
            separators + members.values().map(blanks).sum::<usize>()
        }
        _ => 0,
    }
}

/// How deep arrays and objects are nested; a plain value is 0.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(|item| depth(item) + 1).max().unwrap_or(0),
        Value::Object(members) => members
            .values()
            .map(|item| depth(item) + 1)
            .max()
            .unwrap_or(0),
        _ => 0,
    }
}
