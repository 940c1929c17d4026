//! See `fuzz_targets::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::config::target(data));
