//! See `fuzz_targets::archives`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::archives::target(data));
