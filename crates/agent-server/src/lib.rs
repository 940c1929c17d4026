//! Client of the OpenHands agent server (conversations, settings, secrets), and of what a run
//! reports to the automation service: its phases and its end.
//!
//! ```
//! use agent_server::{AgentServer, Connection};
//! use http_client::{Client, Policy};
//! use lifecycle::ports::{Agents, StartConversation};
//!
//! # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
//! let variables = |name: &str| (name == "AGENT_SERVER_URL").then(|| "http://127.0.0.1:8000".into());
//! let connection = Connection::from_lookup(variables)?;
//! let agents = AgentServer::new(Client::new(Policy::default())?, connection);
//! let started = agents
//!     .start(&StartConversation {
//!         conversation_id: "f020e135-9ead-43f1-a3b5-5ef74fc22697".into(),
//!         working_dir: "/workspace/news-digest/2026-08-01".into(),
//!         prompt: "Write the digest.".into(),
//!     })
//!     .await?;
//! # let _ = started; Ok(()) }
//! ```

mod answers;
mod calls;
mod client;
mod connection;
mod evidence;
#[doc(hidden)]
pub mod fuzzing;
mod grounds;
mod report;

pub use client::{AgentServer, Readiness};
pub use connection::{Connection, ConnectionError};
pub use report::{Delivery, Outcome, ReportTarget, Reporter, last_words};
