//! What an error shows of a wrong value.

use super::*;

#[test]
fn what_is_shown_of_a_wrong_value_is_short_and_on_one_line() {
    let long = format!(r#"{{"feeds": {{"a": "{}\n"}}}}"#, "x".repeat(5000));
    let error = parse::<NewsConfig>("config.json", &long)
        .unwrap_err()
        .to_string();
    assert!(error.len() < 250 && !error.contains('\n'), "{error}");
    // Without a limit on nesting this would end the process.
    let deep = format!(
        r#"{{"feeds": {}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let error = parse::<NewsConfig>("config.json", &deep).unwrap_err();
    assert!(matches!(error, ConfigError::NotJson { .. }), "{error}");
}

/// The text of the error about a configuration.
fn refused<T: Config + std::fmt::Debug>(text: &str) -> String {
    let error = parse::<T>("config.json", text).expect_err(text);
    assert!(matches!(error, ConfigError::Wrong { .. }), "{error}");
    error.to_string()
}

#[test]
fn a_wrong_value_shows_no_password() {
    let long = "hunter2".repeat(50);
    for spec in [
        "oauth2:hunter2hunter2@gitlab.com/group/project",
        "https://oauth2:hunter2hunter2@elsewhere.example/group/project",
        "me:hunter2 \\\"hunter2@gitlab.com/group/project",
        "me@example.com:hunter2@gitlab.com/group/project",
        &format!("oauth2:{long}@gitlab.com/group/project"),
        &format!("htps://oauth2:{long}@gitlab.com/group/project"),
    ] {
        for error in [
            refused::<IssueConfig>(&format!(r#"{{"projects": ["{spec}"]}}"#)),
            refused::<IssueConfig>(&format!(r#"{{"projects": ["{spec}", 1]}}"#)),
            refused::<IssueConfig>(&format!(r#"{{"projects": {{"a": "{spec}"}}}}"#)),
            refused::<ReviewConfig>(&format!(r#"{{"repos": "{spec}"}}"#)),
        ] {
            assert!(!error.contains("hunter2"), "{error}");
            assert!(error.contains("***"), "{error}");
        }
    }
    for value in [
        "me:hunter2hunter2@gitlab.example.com",
        "me:hunter2 hunter2@gitlab.example.com",
        "htps://me:hunter2hunter2@gitlab.example.com",
    ] {
        for error in [
            refused::<IssueConfig>(&format!(r#"{{"gitlab_api_url": "{value}"}}"#)),
            refused::<ReviewConfig>(&format!(r#"{{"github_api_url": "{value}"}}"#)),
            refused::<NewsConfig>(&format!(
                r#"{{"feeds": ["https://a.example"], "openhands_url": "{value}"}}"#
            )),
        ] {
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
