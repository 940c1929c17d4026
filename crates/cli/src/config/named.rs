//! Which automations a configuration is for, by the keys it has.

use super::{Config, ConfigError, Reader};
use crate::run::Automation;

/// Keys that only the issue automation has: with them, `repos` means `projects`.
const ISSUE_KEYS: [&str; 5] = [
    "gitlab_api_url",
    "merge_request_mode",
    "branch_prefix",
    "trigger_role",
    "keep_failed_work",
];

/// The automations that a configuration names targets for. Nothing else of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named(pub Vec<Automation>);

impl Config for Named {
    fn read(reader: &mut Reader) -> Result<Self, ConfigError> {
        let for_issues = ISSUE_KEYS.map(|key| reader.has(key)).contains(&true);
        let has_projects = reader.has("projects");
        let has_repos = reader.has("repos");
        let wanted = [
            (Automation::News, reader.has("feeds")),
            (
                Automation::Review,
                has_repos && (has_projects || !for_issues),
            ),
            (Automation::Issue, has_projects || (has_repos && for_issues)),
        ];
        let named = wanted.into_iter().filter(|(_, named)| *named);
        Ok(Self(named.map(|(automation, _)| automation).collect()))
    }
}
