//! What GitHub and GitLab have in common over HTTP, so that a rule is changed once: the
//! [addresses](mod@address) that people write, one [call](Caller) whose failing status or missing
//! answer becomes the core's `ForgeError`, and the [items](mod@answers) of a list.
//!
//! Which paths there are, what a status means, how pages follow each other and what names may hold is
//! each forge's own and stays in its adapter, which tells its ways as a [`Dialect`].
//!
//! ```
//! use forge_http::Ask;
//! use forge_http::address::{self, Place};
//!
//! let api = address::read("git.example.com/api/v3")?;
//! let ask = Ask::get(forge_http::below(&api, &["repos", "acme", "a/b"]), "application/json");
//! assert_eq!(ask.call(), "GET /api/v3/repos/acme/a%2Fb");
//! let place = Place::read("git@git.example.com:acme/widget.git")?;
//! assert_eq!((place.host, place.path), (Some("git.example.com"), "acme/widget.git"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod address;
pub mod answers;
mod ask;
mod caller;
mod refusal;

pub use ask::{Ask, below};
pub use caller::{Caller, Dialect, MAX_PAGES, too_long, unusable};
pub use refusal::Refusal;

/// Seconds by which the clock of a forge and that of this machine may differ.
pub const CLOCK_SKEW: f64 = 30.0;
