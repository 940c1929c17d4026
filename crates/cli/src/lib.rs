//! The binaries: configuration, wiring and output.
