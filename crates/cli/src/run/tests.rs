//! Runs that cannot begin, or do not end.

use super::*;
use crate::console::Stream;
use http_client::Secret;
use testbed::agent_server::{AgentServer, SESSION_KEY};

/// How a run ended that was asked for with this configuration, in this environment.
fn ended<P: Program>(config: &str, dry_run: bool, environment: &Environment) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, config).unwrap();
    let options = Options {
        config: Some(path),
        dry_run,
        ..Options::default()
    };
    let given = Given {
        options: &options,
        environment,
        console: &Console::new(Stream::Nowhere, true),
    };
    let ran = block_on(P::run(&given));
    Ended::NotBegun(ran.unwrap_err())
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// An environment with these variables.
fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::from_lookup(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

const FEEDS: &str = r#"{"feeds": ["https://127.0.0.1:9/rss"]}"#;

#[test]
fn a_configuration_that_is_wrong_ends_a_run_with_a_code_of_its_own() {
    let nowhere = environment(&[]);
    for ended in [
        ended::<News>("[]", false, &nowhere),
        ended::<Review>(r#"{"repos": 7}"#, false, &nowhere),
        ended::<Issue>(r#"{"projects": ["group"]}"#, true, &nowhere),
    ] {
        assert!(
            matches!(ended, Ended::NotBegun(RunError::Config(_))),
            "{ended:?}"
        );
        assert_eq!(ended.exit_code(false), 2);
        assert!(ended.error().unwrap().contains("config.json"), "{ended:?}");
    }
}

#[test]
fn what_a_run_needs_and_does_not_find_is_named() {
    let agent = AgentServer::start().unwrap();
    let at_work = environment(&[
        ("AGENT_SERVER_URL", agent.base_url()),
        ("SESSION_API_KEY", SESSION_KEY),
        ("WORKSPACE_BASE", "/nowhere"),
    ]);
    let without_git = Environment {
        gitlab_token: Some(Secret::new("glpat-1".to_owned())),
        path: Some("/nowhere".to_owned()),
        ..at_work.clone()
    };
    let cases = [
        (
            ended::<News>(FEEDS, false, &environment(&[])),
            "AGENT_SERVER_URL is not set",
        ),
        (
            ended::<News>(
                FEEDS,
                false,
                &environment(&[("AGENT_SERVER_URL", "agent:8000")]),
            ),
            "AGENT_SERVER_URL is no http or https address: agent:8000",
        ),
        (
            ended::<News>(FEEDS, true, &environment(&[("WORKSPACE_BASE", "here")])),
            "WORKSPACE_BASE is here",
        ),
        (
            ended::<News>(FEEDS, true, &environment(&[])),
            "no place for state",
        ),
        (
            ended::<Review>(r#"{"repos": ["acme/widget"]}"#, false, &at_work),
            "GITHUB_PERSONAL_ACCESS_TOKEN is not set",
        ),
        (
            ended::<Issue>(r#"{"projects": ["group/service"]}"#, false, &without_git),
            "git was not found on PATH",
        ),
    ];
    for (ended, expected) in cases {
        let Ended::NotBegun(RunError::Setup(text)) = &ended else {
            panic!("{expected}: {ended:?}");
        };
        assert!(text.contains(expected), "{expected}: {text}");
        assert_eq!(ended.exit_code(false), 1);
    }
}

#[test]
fn a_run_that_goes_on_is_cut_off() {
    let now = Instant::now();
    let clock = RunClock::start(30.0, None);
    assert!(last_moment(clock) >= now + Duration::from_secs(30) + GRACE);
    let error = block_on(in_time(now, std::future::pending())).unwrap_err();
    assert_eq!(error, RunError::OutOfTime);
    let ended = Ended::NotBegun(error);
    assert_eq!(ended.exit_code(false), 1);
    assert!(ended.error().unwrap().contains("time_budget_seconds"));
    // What ends just in time has ended.
    let failed = || Err(RunError::Setup("no git".to_owned()));
    assert_eq!(block_on(in_time(now, async { failed() })), failed());
}
