//! See `fuzz_targets::documents`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::documents::target(data));
