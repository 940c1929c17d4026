//! The readers of answers and the makers of names for the fuzz targets, without service and disk.
//! Not part of the interface.

use crate::Slot;

pub use crate::kv::fuzzed_answer as answer;

/// All names that the documents, guards and caches of a slot may get: keys and names of files.
pub fn names(slot: &Slot, guard: &str) -> (Vec<String>, Vec<String>) {
    let mut keys = slot.kv_keys();
    keys.extend(slot.legacy_kv_key());
    keys.extend([slot.guard_key(guard), slot.cache_key()]);
    let mut files = slot.file_names();
    files.extend(slot.legacy_file_name());
    files.push(slot.cache_file_name());
    (keys, files)
}
