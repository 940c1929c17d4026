//! What inputs are made of: the fixtures of the target's area, and what campaigns have kept for it
//! in `fixtures/fuzz/`.

use flate2::read::MultiGzDecoder;
use fuzz_targets::Target;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Larger files make slow inputs that say nothing new, in bytes.
const MAX_BYTES: u64 = 128 * 1024;

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Everything, in an order that does not depend on the file system.
pub(crate) fn inputs(target: &Target) -> Vec<Vec<u8>> {
    let fixtures = root().join("fixtures");
    let mut inputs = BTreeSet::new();
    let kept = Path::new("fuzz").join(target.name);
    let areas = target.seeds.iter().map(Path::new);
    for area in areas.chain([kept.as_path()]) {
        for file in files(&fixtures.join(area)) {
            let mut bytes = Vec::new();
            let opened = std::fs::File::open(&file);
            if opened
                .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
                .is_ok()
            {
                parts(target, &file, &bytes, &mut inputs);
                inputs.insert(bytes);
            }
        }
    }
    inputs.into_iter().collect()
}

/// What a file holds that is an input by itself: texts and values of JSON, what is compressed.
fn parts(target: &Target, file: &Path, bytes: &[u8], inputs: &mut BTreeSet<Vec<u8>>) {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        // What can be read of a damaged one is an input as well.
        let _damaged = MultiGzDecoder::new(bytes)
            .take(MAX_BYTES)
            .read_to_end(&mut unpacked);
        inputs.insert(unpacked);
    }
    if file
        .extension()
        .is_some_and(|extension| extension == "json")
        && let Ok(value) = serde_json::from_slice(bytes)
    {
        let texts = matches!(target.name, "links" | "dates" | "names");
        values(&value, texts, 4, inputs);
    }
}

fn values(value: &Value, texts: bool, depth: usize, inputs: &mut BTreeSet<Vec<u8>>) {
    let inner: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::String(text) if texts => {
            inputs.insert(text.as_bytes().to_vec());
            return;
        }
        _ => return,
    };
    if !texts {
        inputs.insert(value.to_string().into_bytes());
    }
    if depth > 0 {
        for value in inner {
            values(value, texts, depth - 1, inputs);
        }
    }
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry)).collect()
}
