//! GitLab REST v4, as the issue port of the core needs it: one [`GitLab`] serves one project.
//!
//! `requests` builds what is asked, `answers` and `refusals` read what comes back (both pure),
//! `forge` joins them over the project's one HTTP client. What GitLab has in common with other forges
//! is `forge_http`'s. Nothing here decides what an issue means
//! for the automation, and no git is spoken here. The rules are those of GitLab's REST
//! documentation (version 4 of the API), which self-managed instances of many ages follow: what
//! younger versions added is optional here.
//!
//! ```
//! use gitlab_adapter::{GitLab, api_base, parse_project};
//! use http_client::{Client, Policy, Secret};
//!
//! let api = api_base("https://git.example.com/gitlab")?;
//! assert_eq!(api.as_str(), "https://git.example.com/gitlab/api/v4");
//! let project = parse_project("https://git.example.com/gitlab/group/team/service/-/issues", &api)?;
//! assert_eq!(project.to_string(), "group/team/service");
//! let client = Client::new(Policy::default())?;
//! let forge = GitLab::new(client, api, project, Secret::new("token"));
//! # let _ = forge;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod config;
mod dialect;
mod forge;
#[doc(hidden)]
pub mod fuzzing;
mod pages;
mod refusals;
mod requests;

pub use config::{ConfigError, ProjectPath, api_base, parse_project};
pub use forge::GitLab;

#[cfg(test)]
mod fixtures;
