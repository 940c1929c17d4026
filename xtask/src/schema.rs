//! The JSON Schemas of the state documents, written from the one table that the code uses.

use crate::console::say;
use crate::error::TaskError;
use crate::process::root;

/// Writes the schemas, or checks that the committed ones are up to date.
pub(crate) fn run(check: bool) -> Result<(), TaskError> {
    let schemas = [
        &lifecycle::document::NEWS,
        &lifecycle::document::REVIEW,
        &lifecycle::document::ISSUE,
    ];
    for schema in schemas {
        let path = root().join(format!("docs/state/{}.schema.json", schema.automation));
        let value = lifecycle::document::json_schema(schema);
        let text = format!(
            "{}\n",
            serde_json::to_string_pretty(&value).unwrap_or_default()
        );
        let present = std::fs::read_to_string(&path).unwrap_or_default();
        if present == text {
            continue;
        }
        let name = path
            .strip_prefix(root())
            .unwrap_or(&path)
            .display()
            .to_string();
        if check {
            return Err(TaskError::found(format!(
                "{name} is out of date; run `cargo xtask schema` and commit it"
            )));
        }
        std::fs::write(&path, text).map_err(|error| TaskError::file(&path, error))?;
        say(&format!("wrote {name}"));
    }
    Ok(())
}
