//! The binaries: configuration, wiring, output. Everything in here is thin; what an automation does
//! is decided in [`lifecycle`].
//!
//! ```
//! use cli::config::{NewsConfig, parse};
//!
//! let loaded = parse::<NewsConfig>("config.json", r#"{"feeds": ["https://example.org/feed"]}"#)?;
//! assert_eq!(loaded.config.lookback_hours, 48);
//! # Ok::<(), cli::config::ConfigError>(())
//! ```

mod automation_service;
pub mod clock;
pub mod commands;
pub mod config;
pub mod console;
pub mod environment;
pub mod ports;
pub mod run;
