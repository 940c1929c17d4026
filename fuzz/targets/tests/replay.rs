//! Plays `fixtures/fuzz/` back: what campaigns have found once, and what reaches far.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests say what they show by their names, and fail where they stand"
)]

use fuzz_targets::TARGETS;
use std::path::Path;

#[test]
fn everything_that_was_kept_is_played_back() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz");
    let mut played = 0;
    for target in TARGETS {
        let folder = kept.join(target.name);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            let result = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(result.is_ok(), "{}: {}", target.name, path.display());
            played += 1;
        }
    }
    assert!(played >= TARGETS.len());
}

/// A folder that no target owns would never be played back.
#[test]
fn every_folder_belongs_to_a_target() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz");
    for entry in std::fs::read_dir(kept).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(TARGETS.iter().any(|target| name == target.name), "{name:?}");
    }
}
