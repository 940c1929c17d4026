//! What people write into the configuration: which project, on which GitLab.
//!
//! A project may be written `group/…/project` at any depth, as a web, clone or SSH address, with
//! `.git`, or copied from deeper in the site (`/-/issues`). An address of another host than the one
//! that will be asked is refused: otherwise a project of the same name, and somebody else's, would be
//! worked on. An instance may live below a path of its host; its API is then below that path too.

use forge_http::address::{self, Place, Site, elsewhere, is_of_site, shown, without_query};
use lifecycle::text::cut_chars;
use url::Url;

/// What is wrong with a configured value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text names no project.
    #[error("\"{spec}\" is no GitLab project: {why}; write group/project")]
    Project {
        /// What was configured, cleaned and shortened.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
    /// The text is no address of an instance.
    #[error(
        "\"{value}\" is no address of a GitLab: {why}; write https://gitlab.com, or https://HOST/PATH of your instance"
    )]
    ApiBase {
        /// What was configured, cleaned and shortened.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The full path of a project, in the spelling of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProjectPath(String);

impl ProjectPath {
    /// `group/…/project`, without slashes around it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where the API starts, below the address of an instance.
const API_PATH: &str = "/api/v4";

/// Names that no project can have, so what stands before them is the project.
const SITE_PARTS: [&str; 7] = ["-", "tree", "blob", "raw", "blame", "commits", "wikis"];

/// Longest part of a path, in bytes.
const MAX_PART: usize = 255;
/// No path of a group or project ends so: they belong to addresses of clones and of feeds.
const RESERVED_ENDINGS: [&str; 2] = [".git", ".atom"];
/// Most parts of a path (GitLab nests groups twenty deep).
const MAX_PARTS: usize = 22;

/// Reads a configured project. `api` is the API that will be asked (see [`api_base`]): an address
/// must belong to the same instance.
pub fn parse_project(spec: &str, api: &Url) -> Result<ProjectPath, ConfigError> {
    read_project(spec.trim(), api).map_err(|why| ConfigError::Project {
        spec: shown(spec),
        why,
    })
}

fn read_project(spec: &str, api: &Url) -> Result<ProjectPath, String> {
    let spec = without_query(spec);
    let site = api.host_str().unwrap_or_default();
    let place = Place::of_site(
        spec,
        &Site {
            host: site,
            port: api.port_or_known_default(),
            prefixes: &[],
        },
    )?;
    // SSH may have a host of its own beside that of the site.
    let hosts: &[&str] = if place.is_web {
        &[]
    } else {
        &["ssh.", "altssh."]
    };
    if let Some(host) = place.host
        && !is_of_site(host, site, hosts)
    {
        return Err(elsewhere(host, site, "GitLab"));
    }
    let mut parts: Vec<String> = Vec::new();
    for part in place.path.trim_matches('/').split('/') {
        parts.push(if place.is_web {
            decoded(part)?
        } else {
            part.to_owned()
        });
    }
    if place.is_web {
        let root: Vec<&str> = web_path(api)
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        if parts.len() < root.len() || parts.iter().zip(&root).any(|(part, root)| part != root) {
            let root = cut_chars(web_path(api), 80);
            return Err(format!("it is not below {root}, where the GitLab is"));
        }
        parts.drain(..root.len());
    }
    // No group can be called so.
    if parts.first().is_some_and(|first| first == "groups") {
        return Err("it is the address of a group".to_owned());
    }
    if let Some(end) = parts
        .iter()
        .skip(2)
        .position(|part| SITE_PARTS.contains(&part.as_str()))
    {
        parts.truncate(end + 2);
    }
    if let Some(last) = parts.last_mut()
        && let Some(bare) = last.strip_suffix(".git")
    {
        *last = bare.to_owned();
    }
    if parts.len() < 2 {
        return Err("it names no group and project".to_owned());
    }
    if parts.len() > MAX_PARTS || !parts.iter().all(|part| is_part(part)) {
        return Err("it holds characters or parts that GitLab does not allow".to_owned());
    }
    Ok(ProjectPath(parts.join("/")))
}

/// A part of an address with its percent-encoding undone, once.
fn decoded(part: &str) -> Result<String, String> {
    let bytes = part.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
        let (Some(high), Some(low)) = (digit(at), digit(at + 1)) else {
            return Err("its percent-encoding is broken".to_owned());
        };
        out.push(u8::try_from(high * 16 + low).unwrap_or_default());
        at += 2;
    }
    String::from_utf8(out).map_err(|_| "its percent-encoding is no text".to_owned())
}

/// A part of a path as GitLab allows it, and a little more: letters of any script, blanks. What
/// could mean something in an address, a file name or a command is refused, and so are the endings
/// that GitLab has for itself.
fn is_part(part: &str) -> bool {
    (1..=MAX_PART).contains(&part.len())
        && !part.starts_with(['-', ' '])
        && !part.ends_with(' ')
        && !part.chars().all(|c| c == '.')
        && !RESERVED_ENDINGS.iter().any(|ending| part.ends_with(ending))
        && !part.chars().any(|c| {
            c.is_control()
                || (c.is_whitespace() && c != ' ')
                || "/\\?#%\"'<>|:;&$`*(){}[]".contains(c)
        })
}

/// The path of the instance on its host; empty for most.
fn web_path(api: &Url) -> &str {
    let path = api.path().trim_end_matches('/');
    path.strip_suffix(API_PATH).unwrap_or(path)
}

/// The address of the instance for people, without a slash at the end.
pub(crate) fn web_root(api: &Url) -> String {
    let mut root = api.clone();
    root.set_path(web_path(api));
    root.as_str().trim_end_matches('/').to_owned()
}

/// Reads a configured address of an instance or of its API, and gives that of the API:
/// `https://HOST[/PATH]/api/v4`. A missing scheme is `https`.
pub fn api_base(value: &str) -> Result<Url, ConfigError> {
    read_api_base(value.trim()).map_err(|why| ConfigError::ApiBase {
        value: shown(value),
        why,
    })
}

fn read_api_base(value: &str) -> Result<Url, &'static str> {
    let mut url = address::read(value)?;
    // With or without the API's part, or copied from below it.
    let path = format!("{}/", url.path().trim_end_matches('/'));
    let root = match path.find("/api/v4/") {
        Some(at) => &path[..at],
        None => path.trim_end_matches('/').trim_end_matches("/api"),
    };
    let path = format!("{root}{API_PATH}");
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests;
