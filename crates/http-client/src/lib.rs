//! The one HTTP policy: time limits, retries, rate limits, proxies, certificates, redirects,
//! redaction and counting. Every call of the project goes through [`Client`].
//!
//! ```
//! use http_client::{Client, Policy, Request, Secret, Url};
//!
//! # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Policy::default())?;
//! let request = Request::get("GitHub", Url::parse("https://api.github.com/user")?)
//!     .credential("authorization", Secret::new("Bearer abc"));
//! let user: serde_json::Value = client.send(request).await?.ok()?.json()?;
//! # Ok(()) }
//! ```

mod at_most;
mod attempt;
mod body;
mod client;
mod crypto;
mod error;
mod guard;
mod hosts;
mod limits;
mod link;
mod policy;
mod proxy;
mod redirect;
mod request;
mod response;
mod secret;
mod tls;
mod transport;
mod user_info;

pub use at_most::AtMost;
pub use body::BodyStream;
pub use bytes::Bytes;
pub use client::{Client, Counters};
pub use error::HttpError;
pub use limits::RateLimit;
pub use link::{links, next_link};
pub use policy::{NetworkEnv, Policy};
pub use request::{DEFAULT_MAX_BYTES, Redirects, Request};
pub use reqwest::Method;
pub use response::{Headers, Response, start_of_text};
pub use secret::{Secret, mask, redact, redact_address};
pub use url::Url;
