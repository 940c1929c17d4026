use super::*;

fn cloud() -> Url {
    api_base("https://api.github.com").unwrap()
}

fn repo(spec: &str) -> Result<String, ConfigError> {
    parse_repo(spec, &cloud()).map(|repo| repo.to_string())
}

/// The text of the error for what names no repository.
fn refused(spec: &str) -> String {
    let error = repo(spec).expect_err(spec);
    assert!(
        matches!(&error, ConfigError::Repo { why, .. } if !why.is_empty()),
        "{error:?}"
    );
    error.to_string()
}

#[test]
fn every_usual_way_to_write_a_repository_is_read() {
    for spec in [
        "acme/widget",
        " acme/widget/ ",
        "acme/widget.git",
        "https://github.com/acme/widget",
        "https://github.com/acme/widget/",
        "HTTPS://GitHub.com/acme/widget.git",
        "http://www.github.com/acme/widget",
        "github.com/acme/widget",
        "www.github.com/acme/widget/pull/7/files",
        "github.com:443/acme/widget",
        "https://github.com/acme/widget/pull/7",
        "https://github.com/acme/widget/pull/7#issuecomment-1",
        "https://github.com/acme/widget/issues?q=is%3Aopen",
        "https://github.com/acme/widget/tree/main/src/../x",
        "acme/widget/pull/7",
        "acme/widget/issues",
        "git@github.com:acme/widget.git",
        "github.com:acme/widget",
        "ssh://git@github.com/acme/widget.git",
        "ssh://git@ssh.github.com:443/acme/widget.git",
        "git+ssh://git@github.com/acme/widget",
        "git+https://github.com/acme/widget.git",
        "https://x-access-token:ghs_0123456789abcdef@github.com/acme/widget.git",
    ] {
        assert_eq!(repo(spec).as_deref(), Ok("acme/widget"), "{spec}");
    }
    assert_eq!(
        repo("OpenHands/.github").as_deref(),
        Ok("OpenHands/.github")
    );
    assert_eq!(
        repo("user_corp/a_b-c.d").as_deref(),
        Ok("user_corp/a_b-c.d")
    );
}

#[test]
fn what_names_no_repository_is_refused() {
    for spec in [
        "",
        "   ",
        "/",
        "widget",
        "acme/",
        "/widget",
        "acme//widget",
        "acme/..",
        "../widget",
        "acme/.",
        "acme/...",
        "acme/widget.git.git",
        "acme/.git",
        "acme/wid get",
        "acme/widget\nX-Header: 1",
        "acme/widget%2F..",
        "acme/wídget",
        "acme\\widget",
        "acme/widget/more",
        "acme/widget/../other",
        "-acme/widget",
        "--upload-pack=x/widget",
        "$(id)/widget",
        "https://github.com",
        "https://github.com/",
        "https://github.com/acme",
        "https:///acme/widget",
        "https://gitlab.com/acme/widget",
        "https://github.com.evil.example/acme/widget",
        "https://evil.example/github.com/acme/widget",
        "https://github.com@evil.example/acme/widget",
        "git@evil.example:acme/widget.git",
        "ssh://git@evil.example/acme/widget",
        "evil.example/acme/widget",
        "file:///acme/widget",
        "C:\\acme\\widget",
        "htps://github.com/acme/widget",
        "github.com:2024/acme/widget",
        "github.com:2024/widget",
        "acme:widget",
    ] {
        let error = refused(spec);
        assert!(error.ends_with("write owner/repo"), "{error}");
        assert!(!error.contains(['\n', '\r']), "{error}");
    }
    assert!(refused(&"a/b".repeat(10_000)).chars().count() < 300);
    refused(&format!("acme/{}", "x".repeat(101)));
}

#[test]
fn an_error_shows_no_credentials() {
    let long = "hunter2".repeat(50);
    for spec in [
        "https://user:hunter2hunter2@gitlab.com/acme/widget",
        "user:hunter2hunter2@github.com/acme/widget",
        "hunter2hunter2:x-oauth-basic@github.com/acme/widget",
        "hunter2hunter2:@github.com/acme/widget",
        "me@example.com:hunter2hunter2@github.com/acme/widget",
        "me@github.com:hunter2hunter2@github.com/acme/widget",
        "htps://user:hunter2hunter2@github.com/acme/widget",
        &format!("htps://user:{long}@github.com/acme/widget"),
        &format!("user:{long}@github.com/acme/widget"),
    ] {
        let error = refused(spec);
        assert!(!error.contains("hunter2"), "{error}");
    }
    for value in [
        "me:hunter2hunter2@github.example.com",
        "me:hunter2 hunter2@github.example.com/api/v3",
        "htps://me:hunter2hunter2@github.example.com",
    ] {
        let error = api_base(value).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
    let error = refused("https://gitlab.com/acme/widget?private_token=glpat-0123456789abcdef");
    assert!(!error.contains("0123456789"), "{error}");
}

#[test]
fn an_address_must_belong_to_the_github_that_is_asked() {
    let enterprise = api_base("https://github.example.com/api/v3").unwrap();
    let read = |spec: &str| parse_repo(spec, &enterprise).map(|repo| repo.to_string());
    assert_eq!(
        read("https://github.example.com/acme/widget").as_deref(),
        Ok("acme/widget")
    );
    assert_eq!(
        read("git@github.example.com:acme/widget.git").as_deref(),
        Ok("acme/widget")
    );
    assert_eq!(read("acme/widget").as_deref(), Ok("acme/widget"));
    assert_eq!(
        read("https://github.com/acme/widget"),
        Err(ConfigError::Repo {
            spec: "https://github.com/acme/widget".into(),
            why: "github.com is not github.example.com, the GitHub that is asked".into(),
        })
    );
    for (address, spec) in [
        ("https://[::1]:3000", "https://[::1]:3000/acme/widget"),
        ("https://[::1]:3000", "[::1]:3000/acme/widget"),
        ("https://[::1]:3000", "git@[::1]:acme/widget.git"),
        (
            "https://github.example.com:2024",
            "github.example.com:2024/acme/widget",
        ),
    ] {
        let repo = parse_repo(spec, &api_base(address).unwrap());
        assert_eq!(
            repo.map(|repo| repo.to_string()).as_deref(),
            Ok("acme/widget"),
            "{spec}"
        );
    }
    let local = Url::parse("http://127.0.0.1:8080/api/v3").unwrap();
    let repo = parse_repo("http://127.0.0.1:8080/acme/widget/pull/1", &local);
    assert_eq!(
        repo.map(|repo| repo.to_string()).as_deref(),
        Ok("acme/widget")
    );
}

#[test]
fn api_addresses_are_put_in_order() {
    for (value, expected) in [
        ("https://api.github.com", "https://api.github.com/"),
        ("https://api.github.com/", "https://api.github.com/"),
        ("api.github.com", "https://api.github.com/"),
        ("https://github.com", "https://api.github.com/"),
        ("github.com/acme", "https://api.github.com/"),
        ("https://www.github.com", "https://api.github.com/"),
        (
            "https://github.example.com/api/v3",
            "https://github.example.com/api/v3",
        ),
        (
            "https://github.example.com/api/v3/",
            "https://github.example.com/api/v3",
        ),
        (
            "https://github.example.com",
            "https://github.example.com/api/v3",
        ),
        (
            "https://github.example.com:8443/",
            "https://github.example.com:8443/api/v3",
        ),
        ("https://acme.ghe.com", "https://api.acme.ghe.com/"),
        ("https://api.acme.ghe.com", "https://api.acme.ghe.com/"),
        (
            "http://127.0.0.1:4000/api/v3?x=1#y",
            "http://127.0.0.1:4000/api/v3",
        ),
        ("http://127.0.0.1:4000", "http://127.0.0.1:4000/"),
        ("http://[::1]:4000/", "http://[::1]:4000/"),
        ("http://localhost:4000", "http://localhost:4000/"),
    ] {
        assert_eq!(
            api_base(value).map(String::from).as_deref(),
            Ok(expected),
            "{value}"
        );
    }
    // What is no address at all is told by its reader.
    for (value, expected) in [
        (" ", "it is empty"),
        (
            "ftp://github.example.com",
            "its scheme is neither https nor http",
        ),
    ] {
        let error = api_base(value).expect_err(value);
        assert!(
            matches!(error, ConfigError::ApiBase { why, .. } if why == expected),
            "{value}: {error:?}"
        );
    }
}
