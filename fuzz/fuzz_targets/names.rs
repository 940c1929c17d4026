//! See `fuzz_targets::names`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::names::target(data));
