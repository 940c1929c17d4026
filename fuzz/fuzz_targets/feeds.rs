//! See `fuzz_targets::feeds`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::feeds::target(data));
