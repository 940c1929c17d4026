//! See `fuzz_targets::links`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::links::target(data));
