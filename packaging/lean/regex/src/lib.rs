//! The lite engine of the regex project under the name of the full one. feed-rs mends dates with a
//! dozen small expressions over ASCII; for these the full engine would carry half a megabyte of
//! automata, literal searchers and Unicode tables into the deployed binary.
//!
//! What differs: `\d`, `\w`, `\s` and `\b` know ASCII only, and Unicode classes are refused.
//!
//! ```
//! let zone = regex::Regex::new(r"(\+|-)(\d{2})(\d{2})")?;
//! assert_eq!(zone.replace("10:00:00+0200", "${1}${2}:${3}"), "10:00:00+02:00");
//! # Ok::<(), regex::Error>(())
//! ```

pub use regex_lite::*;
