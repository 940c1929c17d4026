//! Configurations as people and hosts write them, for each automation.
//!
//! An error names the file and a key on a few lines at most, and shows no more of a value than a
//! person needs to find it.

use cli::config::{
    Config, ConfigError, IssueConfig, Loaded, Named, NewsConfig, ReviewConfig, Shared, parse,
};

/// Reads a configuration as each automation would.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(loaded) = read::<NewsConfig>(&text) {
        let config = loaded.config;
        assert!(!config.feeds.is_empty());
        assert!((1..=720).contains(&config.lookback_hours));
        assert!((1..=200).contains(&config.max_items));
        shared(&config.shared);
    }
    if let Some(loaded) = read::<ReviewConfig>(&text) {
        let config = loaded.config;
        assert!(!config.repos.is_empty() && !config.trigger_label.trim().is_empty());
        assert!(matches!(config.api_url.scheme(), "http" | "https"));
        for repo in &config.repos {
            crate::names::check_repo(repo);
        }
        shared(&config.shared);
    }
    if let Some(loaded) = read::<IssueConfig>(&text) {
        let config = loaded.config;
        assert!(!config.projects.is_empty() && !config.trigger_label.trim().is_empty());
        assert!(!config.branch_prefix.contains(char::is_control));
        for project in &config.projects {
            crate::names::check_project(project);
        }
        shared(&config.shared);
    }
    let _named = read::<Named>(&text);
}

fn read<T: Config>(text: &str) -> Option<Loaded<T>> {
    match parse::<T>("config.json", text) {
        Ok(loaded) => {
            for warning in &loaded.warnings {
                assert!(warning.starts_with("config.json"), "{warning:?}");
            }
            Some(loaded)
        }
        Err(error) => {
            assert!(!matches!(error, ConfigError::Unreadable { .. }), "{error}");
            let text = error.to_string();
            assert!(text.starts_with("config.json"), "{text:?}");
            assert!(text.len() < 1500, "an error of {} bytes", text.len());
            None
        }
    }
}

fn shared(shared: &Shared) {
    assert!(shared.time_budget_seconds.is_finite() && shared.time_budget_seconds >= 0.0);
    assert!(shared.wait_seconds.is_finite() && shared.wait_seconds >= 0.0);
    assert!(shared.max_new_per_run > 0);
}
