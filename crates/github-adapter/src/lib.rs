//! GitHub REST, as the review port of the core needs it: one [`GitHub`] serves one repository.
//!
//! `requests` builds what is asked, `answers` and `refusals` read what comes back (both pure),
//! `forge` and `archive` join them over the project's one HTTP client. What GitHub has in common with
//! other forges is `forge_http`'s. Nothing here decides what a
//! pull request means for the automation, and nothing here unpacks an archive. The rules are those
//! of GitHub's REST documentation for API version 2022-11-28.
//!
//! ```
//! use github_adapter::{GitHub, api_base, parse_repo};
//! use http_client::{Client, Policy, Secret};
//!
//! let api = api_base("https://api.github.com")?;
//! let repo = parse_repo("https://github.com/acme/widget/pull/7", &api)?;
//! assert_eq!(repo.to_string(), "acme/widget");
//! let client = Client::new(Policy::default())?;
//! let forge = GitHub::new(client, api, repo, Secret::new("token"));
//! # let _ = forge;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod answers;
mod archive;
mod config;
mod dialect;
mod forge;
#[doc(hidden)]
pub mod fuzzing;
mod pages;
mod refusals;
mod requests;
mod viewer;

pub use access::Access;
pub use config::{ConfigError, RepoName, api_base, parse_repo};
pub use forge::GitHub;

#[cfg(test)]
mod fixtures;
