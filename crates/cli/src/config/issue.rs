//! Configuration of `gitlab-issue-to-mr`.

use super::{Config, ConfigError, Reader, Shared};
use gitlab_adapter::{ProjectPath, api_base, parse_project};
use lifecycle::issue::MergeRequestMode;
use serde_json::Value;
use url::Url;

/// Name of the secret with the token.
pub(crate) const TOKEN_SECRET: &str = "GITLAB_TOKEN";

/// Roles by the names that GitLab gives them, with their access levels.
const ROLES: &[(&str, Option<u64>)] = &[
    ("none", None),
    ("guest", Some(10)),
    ("planner", Some(15)),
    ("reporter", Some(20)),
    ("developer", Some(30)),
    ("maintainer", Some(40)),
    ("owner", Some(50)),
];

/// What is worked on, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct IssueConfig {
    /// Projects as `group/…/project`, each once.
    pub projects: Vec<ProjectPath>,
    /// The label that asks for work.
    pub trigger_label: String,
    /// What branch names begin with.
    pub branch_prefix: String,
    /// Whether merge requests are drafts.
    pub mode: MergeRequestMode,
    /// The access level that who applies the label must hold.
    pub trigger_level: Option<u64>,
    /// Whether work of conversations that failed is pushed.
    pub keep_failed_work: bool,
    /// Base address of the API.
    pub api_url: Url,
    /// What every automation has.
    pub shared: Shared,
}

impl Config for IssueConfig {
    fn read(reader: &mut Reader) -> Result<Self, ConfigError> {
        let address = reader.text("gitlab_api_url", "https://gitlab.com/api/v4")?;
        let api_url = api_base(&address).map_err(|error| {
            let expected = format!("the address of a GitLab ({error})");
            reader.wrong("gitlab_api_url", expected, &Value::String(address.clone()))
        })?;
        // Older configurations say `repos`.
        let key = if !reader.has("projects") && reader.has("repos") {
            "repos"
        } else {
            "projects"
        };
        let mut projects: Vec<ProjectPath> = Vec::new();
        for spec in reader.full_list(key)? {
            let project = parse_project(&spec, &api_url).map_err(|error| {
                let expected = format!("a list of group/project paths ({error})");
                reader.wrong(key, expected, &Value::String(spec.clone()))
            })?;
            if !projects
                .iter()
                .any(|other| other.as_str().eq_ignore_ascii_case(project.as_str()))
            {
                projects.push(project);
            }
        }
        let modes = [
            ("draft", MergeRequestMode::Draft),
            ("ready", MergeRequestMode::Ready),
        ];
        let branch_prefix = reader.full_text("branch_prefix", "openhands/issue")?;
        if !is_branch_prefix(&branch_prefix) {
            let expected = "a prefix that git accepts in a branch name";
            return Err(reader.wrong("branch_prefix", expected, &Value::String(branch_prefix)));
        }
        Ok(Self {
            projects,
            trigger_label: reader.full_text("trigger_label", "openhands")?,
            branch_prefix,
            mode: reader.choice("merge_request_mode", &modes, MergeRequestMode::Draft)?,
            trigger_level: reader.choice("trigger_role", ROLES, Some(20))?,
            keep_failed_work: reader.flag("keep_failed_work", true)?,
            api_url,
            shared: reader.shared(&[TOKEN_SECRET], 3, 0)?,
        })
    }
}

/// The rules of git for reference names, as far as a prefix can break them.
fn is_branch_prefix(prefix: &str) -> bool {
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let reserved = |part: &str| part.to_ascii_lowercase().strip_suffix(".lock").is_some();
    let parts_fit = prefix
        .split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.') && !reserved(part));
    prefix.len() <= 200
        && parts_fit
        && !prefix.starts_with('-')
        && !prefix.contains("..")
        && !prefix.contains("@{")
        && !prefix.chars().any(bad)
}
