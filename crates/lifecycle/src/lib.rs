//! The core of the automations: documents, records, pure decisions, the poll engine, prompts and
//! comment texts. It talks to the world only through the traits in [`ports`]; there are no sockets,
//! files, clocks or environment variables in here.
//!
//! ```
//! use lifecycle::document::{Document, REVIEW, Status};
//!
//! let text = br#"{"version": 3, "repo": "a/b", "reviews": {"4:label:9": {"status": "closed"}}}"#;
//! let document = Document::parse(&REVIEW, text)?;
//! assert_eq!(document.record("4:label:9").map(|r| r.status()), Some(Status::Closed));
//! # Ok::<(), lifecycle::document::DocumentError>(())
//! ```

pub mod decide;
pub mod document;
pub mod engine;
pub mod error;
#[cfg(test)]
mod fixtures;
pub mod identity;
pub mod issue;
pub mod moment;
pub mod news;
pub mod policy;
pub mod ports;
pub mod report;
pub mod review;
pub mod text;
