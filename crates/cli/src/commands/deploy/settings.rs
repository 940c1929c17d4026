//! The configuration that is deployed: a file, what the command line says over it, and the check by
//! the same rules as in a run.

use super::arguments::Keys;
use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::config::{ConfigError, parse};
use crate::run::Automation;
use serde_json::{Map, Value};
use std::path::Path;

/// The key that says how long a run may take.
const BUDGET: &str = "time_budget_seconds";

/// Keys of a configuration, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    source: String,
    keys: Map<String, Value>,
}

impl Settings {
    /// Nothing yet.
    pub(super) fn empty() -> Self {
        Self {
            source: "the command line".to_owned(),
            keys: Map::new(),
        }
    }

    /// Reads a file.
    pub(super) fn of_file(path: &Path) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::of_text(&name, &text),
            Err(error) => Err(ConfigError::Unreadable {
                path: name,
                detail: error.to_string(),
            }),
        }
    }

    /// Reads a text; `source` names it in messages.
    pub(super) fn of_text(source: &str, text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let keys = serde_json::from_str(text).map_err(|error| ConfigError::NotJson {
            path: source.to_owned(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            source: source.to_owned(),
            keys,
        })
    }

    /// Where they come from, for people.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether a key is there and says something.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|value| !value.is_null())
    }

    /// Whether they say what an automation works on.
    pub(super) fn names_targets(&self, automation: Automation) -> bool {
        let (key, _, _) = target_key(automation);
        // Older configurations of the issue automation say `repos`.
        self.has(key) || (automation == Automation::Issue && self.has("repos"))
    }

    /// Sets keys over those that are there.
    pub(super) fn apply(&mut self, keys: Map<String, Value>) {
        if !keys.is_empty() && !self.keys.is_empty() {
            self.source.push_str(" and the command line");
        }
        self.keys.extend(keys);
    }

    /// The seconds that a run may take, as far as they are stated.
    pub(super) fn time_budget(&self) -> Option<u64> {
        self.keys.get(BUDGET)?.as_u64()
    }

    /// States the seconds that a run may take.
    pub(super) fn set_time_budget(&mut self, seconds: u64) {
        self.keys.insert(BUDGET.to_owned(), seconds.into());
    }

    /// Reads them by the rules of an automation.
    pub(super) fn configured(&self, automation: Automation) -> Result<Configured, ConfigError> {
        let text = self.text();
        Ok(match automation {
            Automation::News => Configured::News(parse(&self.source, &text)?),
            Automation::Review => Configured::Review(parse(&self.source, &text)?),
            Automation::Issue => Configured::Issue(parse(&self.source, &text)?),
        })
    }

    /// The text of `config.json`.
    pub(super) fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.keys).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// What the command line says, as keys of an automation's configuration.
pub(super) fn keys(
    given: &Keys,
    automation: Automation,
) -> Result<Map<String, Value>, CommandError> {
    const NEWS: &[Automation] = &[Automation::News];
    const REVIEW: &[Automation] = &[Automation::Review];
    const ISSUE: &[Automation] = &[Automation::Issue];
    const LABELS: &[Automation] = &[Automation::Review, Automation::Issue];
    const ALL: &[Automation] = &Automation::ALL;
    let list = |items: &[String]| (!items.is_empty()).then(|| Value::from(items.to_vec()));
    let text = |item: &Option<String>| item.clone().map(Value::from);
    let number = |item: Option<u64>| item.map(Value::from);
    let flags = [
        ("--feed", "feeds", NEWS, list(&given.feed)),
        ("--topic", "topics", NEWS, list(&given.topic)),
        (
            "--lookback-hours",
            "lookback_hours",
            NEWS,
            number(given.lookback_hours),
        ),
        ("--max-items", "max_items", NEWS, number(given.max_items)),
        ("--repo", "repos", REVIEW, list(&given.repo)),
        (
            "--review-tone",
            "review_tone",
            REVIEW,
            text(&given.review_tone),
        ),
        (
            "--github-api-url",
            "github_api_url",
            REVIEW,
            text(&given.github_api_url),
        ),
        ("--project", "projects", ISSUE, list(&given.project)),
        (
            "--merge-request-mode",
            "merge_request_mode",
            ISSUE,
            text(&given.merge_request_mode),
        ),
        (
            "--branch-prefix",
            "branch_prefix",
            ISSUE,
            text(&given.branch_prefix),
        ),
        (
            "--gitlab-api-url",
            "gitlab_api_url",
            ISSUE,
            text(&given.gitlab_api_url),
        ),
        (
            "--trigger-label",
            "trigger_label",
            LABELS,
            text(&given.trigger_label),
        ),
        (
            "--max-new-per-run",
            "max_new_per_run",
            ALL,
            number(given.max_new_per_run),
        ),
        (
            "--openhands-url",
            "openhands_url",
            ALL,
            text(&given.openhands_url),
        ),
    ];
    let mut keys = Map::new();
    for (flag, key, of, value) in flags {
        let Some(value) = value else { continue };
        if !of.contains(&automation) {
            let names: Vec<&str> = of.iter().map(|automation| automation.name()).collect();
            return Err(CommandError::Usage(format!(
                "{flag} is for {}, not for {}",
                names.join(" and "),
                automation.name()
            )));
        }
        keys.insert(key.to_owned(), value);
    }
    for pair in &given.set {
        let (key, value) = pair
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| CommandError::Usage(format!("--set {pair}: it should be KEY=VALUE")))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        keys.insert(key.trim().to_owned(), value);
    }
    Ok(keys)
}

/// The key that names what an automation works on, the flag for it, and what it is.
pub(super) fn target_key(automation: Automation) -> (&'static str, &'static str, &'static str) {
    match automation {
        Automation::News => ("feeds", "--feed", "addresses of feeds"),
        Automation::Review => ("repos", "--repo", "repositories as owner/repo"),
        Automation::Issue => ("projects", "--project", "projects as group/project"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_line_goes_over_the_file() {
        let text = r#"{"repos": ["acme/old"], "trigger_label": "review", "site": {"id": 7}}"#;
        let mut settings = Settings::of_text("config.json", text).unwrap();
        let given = Keys {
            repo: vec!["acme/widget".into(), "acme/gadget".into()],
            set: vec![
                "max_active=4".into(),
                "review_tone=concise".into(),
                "review_drafts=false".into(),
            ],
            ..Keys::default()
        };
        settings.apply(keys(&given, Automation::Review).unwrap());
        assert_eq!(settings.source(), "config.json and the command line");
        let Configured::Review(loaded) = settings.configured(Automation::Review).unwrap() else {
            panic!("another automation");
        };
        assert_eq!(loaded.config.shared.max_active, 4);
        assert!(!loaded.config.review_drafts);
        let rendered: Value = serde_json::from_str(&settings.text()).unwrap();
        assert_eq!(
            rendered,
            json!({
                "repos": ["acme/widget", "acme/gadget"], "trigger_label": "review",
                "site": {"id": 7}, "max_active": 4, "review_tone": "concise", "review_drafts": false,
            })
        );
    }

    #[test]
    fn a_flag_of_another_automation_is_a_mistake() {
        let given = Keys {
            repo: vec!["acme/widget".into()],
            ..Keys::default()
        };
        let error = keys(&given, Automation::Issue).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--repo is for github-pr-reviewer, not for gitlab-issue-to-mr"
        );
        let given = Keys {
            set: vec!["max_active".into()],
            ..Keys::default()
        };
        assert!(keys(&given, Automation::News).is_err());
    }

    #[test]
    fn mistakes_name_where_they_are() {
        let settings = Settings::of_text("c.json", r#"{"feeds": []}"#).unwrap();
        let error = settings
            .configured(Automation::News)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("c.json: `feeds` should be"), "{error}");
        assert!(matches!(
            Settings::of_text("c.json", "[1]"),
            Err(ConfigError::NotJson { .. })
        ));
        assert!(matches!(
            Settings::of_file(Path::new("/nowhere/config.json")),
            Err(ConfigError::Unreadable { .. })
        ));
    }
}
