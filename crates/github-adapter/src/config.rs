//! What people write into the configuration: which repository, on which GitHub.
//!
//! A repository may be written `owner/repo`, as a web, clone or SSH address, with `.git`, or copied
//! from deeper in the site. An address of another host than the one that will be asked is refused:
//! otherwise a repository of the same name, and somebody else's, would be worked on. The charset of
//! names is GitHub's own; it keeps `..`, blanks, quotes and line ends out of paths and logs.

use forge_http::address::{self, Place, Site, elsewhere, is_of_site, shown, without_query};
use url::{Host, Url};

/// What is wrong with a configured value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text names no repository.
    #[error("\"{spec}\" is no GitHub repository: {why}; write owner/repo")]
    Repo {
        /// What was configured, cleaned and shortened.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// The text is no address of an API.
    #[error(
        "\"{value}\" is no address of a GitHub API: {why}; write https://api.github.com, or https://HOST/api/v3 for Enterprise Server"
    )]
    ApiBase {
        /// What was configured, cleaned and shortened.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// A repository by owner and name, in the spelling of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RepoName {
    owner: String,
    name: String,
}

impl RepoName {
    /// The user or organization.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The name below the owner.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Display for RepoName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// Parts of the site that may follow `owner/repo` in a copied path.
const SITE_PARTS: [&str; 16] = [
    "pull", "pulls", "issues", "tree", "blob", "blame", "raw", "commit", "commits", "compare",
    "actions", "branches", "tags", "releases", "settings", "labels",
];

/// Longest owner and name that GitHub gives out, with room to spare for enterprise suffixes.
const MAX_NAME: usize = 100;

/// Reads a configured repository. `api` is the API that will be asked (see [`api_base`]): an address
/// must belong to the same GitHub.
pub fn parse_repo(spec: &str, api: &Url) -> Result<RepoName, ConfigError> {
    read_repo(spec.trim(), api).map_err(|why| ConfigError::Repo {
        spec: shown(spec),
        why,
    })
}

fn read_repo(spec: &str, api: &Url) -> Result<RepoName, String> {
    let site = Site {
        host: &site_host(api),
        port: api.port_or_known_default(),
        prefixes: &HOSTS,
    };
    let Place { host, path, .. } = Place::of_site(without_query(spec), &site)?;
    if let Some(host) = host
        && !is_of_site(host, site.host, &HOSTS)
    {
        return Err(elsewhere(host, site.host, "GitHub"));
    }
    let mut parts = path.trim_matches('/').split('/');
    let (Some(owner), Some(name)) = (parts.next(), parts.next()) else {
        return Err("it names no owner and repository".to_owned());
    };
    let deeper = parts.next();
    if host.is_none() && deeper.is_some_and(|part| !SITE_PARTS.contains(&part)) {
        return Err("it has more parts than owner and repository".to_owned());
    }
    let name = name.strip_suffix(OF_CLONES).unwrap_or(name);
    if !is_name(owner, "-_") || owner.starts_with('-') {
        return Err("the owner holds characters that GitHub does not allow".to_owned());
    }
    // What is left of two such endings would be read as another repository the next time.
    if !is_name(name, "-_.") || name.chars().all(|c| c == '.') || name.ends_with(OF_CLONES) {
        return Err("the repository's name holds characters that GitHub does not allow".to_owned());
    }
    Ok(RepoName {
        owner: owner.to_owned(),
        name: name.to_owned(),
    })
}

/// The host of the pages for people that belong to an API.
fn site_host(api: &Url) -> String {
    let host = api.host_str().unwrap_or_default();
    host.strip_prefix("api.").unwrap_or(host).to_owned()
}

/// Hosts of a site beside its own: for browsers, and for SSH where its port is closed.
const HOSTS: [&str; 2] = ["www.", "ssh."];

/// How addresses of clones end; no name of a repository does.
const OF_CLONES: &str = ".git";

fn is_name(text: &str, beside: &str) -> bool {
    (1..=MAX_NAME).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || beside.contains(c))
}

/// Reads a configured API address: `https://api.github.com`, `https://HOST/api/v3`; the address of
/// the site in place of its API and a missing scheme are understood.
pub fn api_base(value: &str) -> Result<Url, ConfigError> {
    read_api_base(value.trim()).map_err(|why| ConfigError::ApiBase {
        value: shown(value),
        why,
    })
}

fn read_api_base(value: &str) -> Result<Url, &'static str> {
    let mut url = address::read(value)?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let path = url.path().trim_end_matches('/').to_owned();
    let in_cloud = host == "github.com" || host == "www.github.com";
    if in_cloud || (host.ends_with(".ghe.com") && !host.starts_with("api.")) {
        let bare = host.strip_prefix("www.").unwrap_or(&host);
        url.set_host(Some(&format!("api.{bare}")))
            .map_err(|_| "its host cannot be read")?;
        url.set_path("");
    } else if path.is_empty() && !host.starts_with("api.") && !is_loopback(&url) {
        url.set_path("/api/v3");
    } else {
        url.set_path(&path);
    }
    Ok(url)
}

/// Whether an address is of this machine: what plays GitHub there may do so at its root.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests;
