use super::{Asked, moment, read};
use crate::run::{Automation, Options};
use std::ffi::OsString;

fn asked(arguments: &[&str]) -> Result<Asked, String> {
    read(Automation::News, arguments.iter().map(OsString::from))
}

fn wrong(arguments: &[&str]) -> String {
    let error = asked(arguments).unwrap_err();
    assert!(
        error.starts_with("error: ") && error.contains("Usage: news-digest"),
        "{error}"
    );
    error
}

#[test]
fn nothing_given_is_a_run_with_defaults() {
    assert_eq!(asked(&[]), Ok(Asked::Run(Options::default())));
}

#[test]
fn every_option_is_read() {
    let all = [
        "--config",
        "a b.json",
        "--dry-run",
        "--json",
        "--strict",
        "--now",
        "1970-01-01T00:01:00Z",
    ];
    let expected = Options {
        config: Some("a b.json".into()),
        dry_run: true,
        json: true,
        strict: true,
        now: Some(60.0),
    };
    assert_eq!(asked(&all), Ok(Asked::Run(expected.clone())));
    let joined = [
        "--now=1970-01-01T00:01:00Z",
        "--strict",
        "--json",
        "--dry-run",
        "--config=a b.json",
    ];
    assert_eq!(asked(&joined), Ok(Asked::Run(expected)));
}

#[test]
fn a_value_may_begin_with_a_dash_or_hold_an_equals_sign() {
    for arguments in [["--config", "--a=b"].as_slice(), &["--config=--a=b"]] {
        let Ok(Asked::Run(options)) = asked(arguments) else {
            panic!("{arguments:?}");
        };
        assert_eq!(options.config, Some("--a=b".into()));
    }
}

#[test]
fn mistakes_are_named() {
    for (arguments, part) in [
        (
            ["--confg"].as_slice(),
            "a similar argument exists: '--config'",
        ),
        (&["--dryrun"], "a similar argument exists: '--dry-run'"),
        (
            &["--frobnicate"],
            "unexpected argument '--frobnicate' found",
        ),
        (&["surplus"], "unexpected argument 'surplus' found"),
        (&["-x"], "unexpected argument '-x' found"),
        (&["a=b"], "unexpected argument 'a=b' found"),
        (&["--config"], "a value is required for '--config <FILE>'"),
        (&["--config="], "a value is required for '--config <FILE>'"),
        (&["--json=1"], "'--json' takes no value"),
        (
            &["--json", "--json"],
            "'--json' cannot be used multiple times",
        ),
        (
            &["--dry-run", "--now", "noon"],
            "'noon' for '--now <RFC3339>': not a moment like",
        ),
        (
            &["--now", "2026-08-20T06:00:00Z"],
            "'--now' needs '--dry-run'",
        ),
    ] {
        let error = wrong(arguments);
        assert!(error.contains(part), "{arguments:?}: {error}");
    }
}

#[test]
fn help_and_version_come_before_anything_that_follows() {
    let version = format!("news-digest {}\n", env!("CARGO_PKG_VERSION"));
    for arguments in [["--version"].as_slice(), &["--json", "-V", "surplus"]] {
        assert_eq!(asked(arguments), Ok(Asked::Show(version.clone())));
    }
    let Ok(Asked::Show(help)) = asked(&["--help"]) else {
        panic!("no help");
    };
    assert_eq!(asked(&["-h"]), Ok(Asked::Show(help.clone())));
    insta::assert_snapshot!("help", help);
}

#[test]
fn a_moment_is_rfc_3339() {
    assert_eq!(moment("2026-08-20T06:00:00Z"), Ok(1_787_205_600.0));
    assert!(
        moment("yesterday")
            .unwrap_err()
            .contains("2026-08-20T06:00:00Z")
    );
}
