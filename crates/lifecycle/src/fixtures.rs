//! The fixtures of this crate's tests, and where the texts that it writes are kept for reading.

#![expect(clippy::disallowed_methods, reason = "fixtures are files")]

use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The bytes of a file of the project, named from its top.
pub(crate) fn bytes(path: &str) -> Vec<u8> {
    let path = root().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of a file of the project.
pub(crate) fn text(path: &str) -> String {
    String::from_utf8(bytes(path)).unwrap()
}

/// A file of the project as JSON; a byte order mark is passed over.
pub(crate) fn json(path: &str) -> Value {
    let bytes = bytes(path);
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).unwrap()
}

/// The paths of all files in a folder of the project, in order.
pub(crate) fn files(folder: &str) -> Vec<String> {
    let mut paths: Vec<String> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} is empty");
    paths
}

/// Compares a text that people or agents will read with the one in `tests/texts/`.
pub(crate) fn shown(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/texts"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
