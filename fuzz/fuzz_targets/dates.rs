//! See `fuzz_targets::dates`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::dates::target(data));
