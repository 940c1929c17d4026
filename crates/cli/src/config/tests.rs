//! Every configuration under `fixtures/config`: what differs from the smallest one, or what is said
//! about a mistake. And where a configuration is looked for.

use super::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The keys of all automations.
const SHARED: [&str; 7] = [
    "openhands_url",
    "agent_secret_names",
    "forward_mcp_servers",
    "time_budget_seconds",
    "wait_seconds",
    "max_new_per_run",
    "max_active",
];
const NEWS: [&str; 4] = ["feeds", "topics", "lookback_hours", "max_items"];
const REVIEW: [&str; 9] = [
    "repos",
    "trigger_label",
    "review_tone",
    "review_style_instructions",
    "repo_review_guide_path",
    "review_drafts",
    "github_api_url",
    "max_archive_bytes",
    "max_archive_entries",
];
const ISSUE: [&str; 8] = [
    "projects",
    "repos",
    "trigger_label",
    "trigger_role",
    "branch_prefix",
    "merge_request_mode",
    "keep_failed_work",
    "gitlab_api_url",
];

type Fields = Vec<(&'static str, String)>;

fn shared(shared: &Shared) -> Fields {
    vec![
        ("openhands_url", shown(&shared.openhands_url)),
        ("agent_secret_names", shown(&shared.agent_secret_names)),
        ("forward_mcp_servers", shown(&shared.forward_mcp_servers)),
        ("time_budget_seconds", shown(&shared.time_budget_seconds)),
        ("wait_seconds", shown(&shared.wait_seconds)),
        ("max_new_per_run", shown(&shared.max_new_per_run)),
        ("max_active", shown(&shared.max_active)),
    ]
}

fn news(config: &NewsConfig) -> Fields {
    let own = vec![
        ("feeds", shown(&config.feeds)),
        ("topics", shown(&config.topics)),
        ("lookback_hours", shown(&config.lookback_hours)),
        ("max_items", shown(&config.max_items)),
    ];
    [own, shared(&config.shared)].concat()
}

fn review(config: &ReviewConfig) -> Fields {
    let repos: Vec<String> = config.repos.iter().map(ToString::to_string).collect();
    let own = vec![
        ("repos", shown(&repos)),
        ("trigger_label", shown(&config.trigger_label)),
        ("tone", shown(&config.tone)),
        ("style_instructions", shown(&config.style_instructions)),
        ("guide_path", shown(&config.guide_path)),
        ("review_drafts", shown(&config.review_drafts)),
        ("api_url", config.api_url.to_string()),
        ("max_archive_bytes", shown(&config.max_archive_bytes)),
        ("max_archive_entries", shown(&config.max_archive_entries)),
    ];
    [own, shared(&config.shared)].concat()
}

fn issue(config: &IssueConfig) -> Fields {
    let projects: Vec<String> = config.projects.iter().map(ToString::to_string).collect();
    let own = vec![
        ("projects", shown(&projects)),
        ("trigger_label", shown(&config.trigger_label)),
        ("branch_prefix", shown(&config.branch_prefix)),
        ("mode", shown(&config.mode)),
        ("trigger_level", shown(&config.trigger_level)),
        ("keep_failed_work", shown(&config.keep_failed_work)),
        ("api_url", config.api_url.to_string()),
    ];
    [own, shared(&config.shared)].concat()
}

fn shown(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// The configurations of an automation by name.
fn cases(automation: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../../fixtures/config").join(automation);
    let files = std::fs::read_dir(folder).unwrap();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.map(|entry| read(entry.unwrap().path())).collect()
}

/// What comes of every configuration, and a check that every key is tried both ways.
fn table<T: Config>(automation: &str, keys: &[&str], fields: fn(&T) -> Fields) -> String {
    let cases = cases(automation);
    let smallest = parse::<T>("config.json", &cases["minimal"]).unwrap();
    let smallest = fields(&smallest.config);
    let mut lines = vec!["minimal".to_owned()];
    lines.extend(
        smallest
            .iter()
            .map(|(name, value)| format!("  {name}: {value}")),
    );
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for (name, text) in &cases {
        if name == "minimal" {
            continue;
        }
        lines.push(name.clone());
        match parse::<T>("config.json", text) {
            Ok(loaded) => {
                let given: Map<String, Value> =
                    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
                accepted.extend(given.into_iter().map(|(key, _)| key));
                let own = fields(&loaded.config);
                let other = own
                    .iter()
                    .zip(&smallest)
                    .filter(|(own, other)| own != other);
                lines.extend(other.map(|((name, value), _)| format!("  {name}: {value}")));
                lines.extend(
                    loaded
                        .warnings
                        .iter()
                        .map(|text| format!("  warning: {text}")),
                );
            }
            Err(error) => {
                if let ConfigError::Wrong { key, .. } = &error {
                    refused.push(*key);
                }
                lines.push(format!("  ERROR {error}"));
            }
        }
    }
    for key in SHARED.iter().chain(keys) {
        assert!(
            accepted.iter().any(|other| other == key),
            "{key} is never set"
        );
        assert!(refused.contains(key), "{key} is never wrong");
    }
    lines.join("\n")
}

#[test]
fn configurations_of_the_news_digest() {
    insta::assert_snapshot!("news-digest", table("news-digest", &NEWS, news));
}

#[test]
fn configurations_of_the_reviewer() {
    insta::assert_snapshot!(
        "github-pr-reviewer",
        table("github-pr-reviewer", &REVIEW, review)
    );
}

#[test]
fn configurations_of_the_issue_automation() {
    insta::assert_snapshot!(
        "gitlab-issue-to-mr",
        table("gitlab-issue-to-mr", &ISSUE, issue)
    );
}

#[test]
fn every_key_is_in_the_handbook() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("../../docs/configuration.md")).unwrap();
    for key in SHARED.iter().chain(&NEWS).chain(&REVIEW).chain(&ISSUE) {
        assert!(text.contains(&format!("`{key}`")), "{key} is not explained");
    }
}

#[test]
fn a_configuration_says_whom_it_is_for() {
    use crate::run::Automation::{Issue, News, Review};
    let cases = [
        (r#"{"feeds": []}"#, vec![News]),
        (r#"{"repos": ["a/b"]}"#, vec![Review]),
        (r#"{"projects": ["a/b"]}"#, vec![Issue]),
        (
            r#"{"repos": ["a/b"], "merge_request_mode": "draft"}"#,
            vec![Issue],
        ),
        (
            r#"{"repos": ["a/b"], "projects": ["a/b"], "feeds": "x"}"#,
            vec![News, Review, Issue],
        ),
        (r#"{"repos": null, "projcts": ["a/b"]}"#, vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(
            parse::<Named>("x", text).unwrap().config,
            Named(expected),
            "{text}"
        );
    }
}

/// A configuration with so many `max_items`.
fn write(folder: &Path, max_items: usize) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("config.json");
    let text = format!(r#"{{"feeds": "https://example.org/feed", "max_items": {max_items}}}"#);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_first_configuration_that_is_there_counts() {
    let root = tempfile::tempdir().unwrap();
    let (archive, working) = (root.path().join("archive"), root.path().join("working"));
    let executable = archive.join("news-digest");
    let named = write(&root.path().join("named"), 1);
    let variable = Environment {
        config: Some(write(&root.path().join("variable"), 2)),
        ..Environment::default()
    };
    let nothing = Environment::default();
    let found = |named: Option<&Path>, environment: &Environment| {
        let loaded = load::<NewsConfig>(named, environment, Some(&executable), &working);
        loaded.map(|loaded| (loaded.config.max_items, loaded.source))
    };
    let says = |path: &Path| path.display().to_string();

    let default = found(None, &nothing).unwrap_err().to_string();
    insta::assert_snapshot!(default, @"the default configuration (no config.json was found): `feeds` should be a list that is not empty, found nothing");
    let in_working = write(&working, 4);
    assert_eq!(found(None, &nothing), Ok((4, says(&in_working))));
    let beside = write(&archive, 3);
    assert_eq!(found(None, &nothing), Ok((3, says(&beside))));
    let of_variable = variable.config.clone().unwrap();
    assert_eq!(found(None, &variable), Ok((2, says(&of_variable))));
    assert_eq!(found(Some(&named), &variable), Ok((1, says(&named))));

    // What was named must be there; nothing else is taken in its place.
    for (named, environment) in [(Some("gone.json"), &variable), (None, &nowhere())] {
        let error = found(named.map(Path::new), environment).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    }
    // A folder of that name, or text in another encoding, is not passed over either.
    std::fs::remove_file(&beside).unwrap();
    std::fs::create_dir(&beside).unwrap();
    let error = found(None, &nothing).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    std::fs::write(&in_working, b"\xff\xfe{\0}\0").unwrap();
    let error = found(Some(&in_working), &nothing).unwrap_err().to_string();
    assert!(error.contains("cannot be read"), "{error}");
}

fn nowhere() -> Environment {
    Environment {
        config: Some("/no/such/folder/config.json".into()),
        ..Environment::default()
    }
}
