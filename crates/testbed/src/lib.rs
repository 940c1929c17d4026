//! Stand-in services for tests and for `cargo xtask dev`: feeds, agent server, KV store, automation
//! service, callback receiver, scripted LLM, GitHub, GitLab.
//!
//! Every stand-in is a model, not a list of answers: it holds state as data, serves it over a real
//! socket on a free loopback port, has [faults] to switch on, keeps a
//! [log](request_log::RequestLog) of every request and can say at the end whether something was
//! asked that nobody expected ([`StandIn::check`]). It runs on a thread of its own, so a test may
//! block while it waits for a child process.
//!
//! Never part of a deployable binary.
//!
//! ```
//! use testbed::{StandIn, call::Call, faults::Fault};
//!
//! let router = |_base: &str| axum::Router::new().route("/hello", axum::routing::get(|| async { "hi" }));
//! let service = StandIn::start("greeter", router)?;
//! service.faults().add(Fault::status(503).on("GET", "/hello"));
//! let url = format!("{}/hello", service.base_url());
//! assert_eq!(Call::get(&url).send()?.status, 503);
//! assert_eq!(Call::get(&url).send()?.text(), "hi");
//! assert_eq!(service.log().count("GET", "/hello"), 2);
//! service.check()?;
//! # Ok::<(), testbed::TestbedError>(())
//! ```

pub mod agent_server;
mod answer;
pub mod automation_service;
pub mod calendar;
pub mod call;
pub mod callback;
mod coding;
mod error;
pub mod faults;
pub mod feeds;
pub mod fixtures;
pub mod github;
pub mod gitlab;
pub mod kv;
pub mod request_log;
mod rest;
pub mod schema;
pub mod scripted_llm;
mod server;
pub mod tls;
pub mod tree;
pub mod written;

pub use error::TestbedError;
pub use server::{ClosedPort, StandIn, Unexpected};
