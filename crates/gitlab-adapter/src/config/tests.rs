use super::*;
use crate::fixtures;

fn project(spec: &str, api: &str) -> Result<String, ConfigError> {
    let api = api_base(api).unwrap();
    parse_project(spec, &api).map(|path| path.to_string())
}

/// The text of the error for what names no project.
fn refused(spec: &str, api: &str) -> String {
    let error = project(spec, api).expect_err(spec);
    assert!(
        matches!(&error, ConfigError::Project { why, .. } if !why.is_empty()),
        "{error:?}"
    );
    error.to_string()
}

#[test]
fn instances_at_the_root_or_below_a_path_with_and_without_the_api() {
    for case in fixtures::json("instances-below-a-path.json")
        .as_array()
        .unwrap()
    {
        let base = case["base"].as_str().unwrap();
        let expected = case["api"]
            .as_str()
            .unwrap_or_else(|| case["api_any_of"][0].as_str().unwrap());
        assert_eq!(
            api_base(base).map(String::from).as_deref(),
            Ok(expected),
            "{base}"
        );
    }
}

#[test]
fn api_addresses_are_put_in_order() {
    for (value, expected) in [
        (" gitlab.com ", "https://gitlab.com/api/v4"),
        (
            "https://gitlab.com/api/v4/projects/7",
            "https://gitlab.com/api/v4",
        ),
        (
            "https://git.example.com/gitlab/api",
            "https://git.example.com/gitlab/api/v4",
        ),
        (
            "git.example.com:8443/gitlab",
            "https://git.example.com:8443/gitlab/api/v4",
        ),
        (
            "https://git.example.com/a/b/?x=1#y",
            "https://git.example.com/a/b/api/v4",
        ),
        ("http://127.0.0.1:4000", "http://127.0.0.1:4000/api/v4"),
        (
            "https://git.example.com/rapi",
            "https://git.example.com/rapi/api/v4",
        ),
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
        ("ftp://gitlab.com", "its scheme is neither https nor http"),
    ] {
        let error = api_base(value).expect_err(value);
        assert!(
            matches!(error, ConfigError::ApiBase { why, .. } if why == expected),
            "{value}: {error:?}"
        );
    }
}

#[test]
fn an_error_shows_no_credentials() {
    for value in [
        "https://user:hunter2hunter2@gitlab.com",
        "me:hunter2hunter2@gitlab.example.com",
        "me:hunter2\"hunter2@gitlab.example.com/gitlab",
        "htps://me:hunter2hunter2@gitlab.example.com",
    ] {
        let error = api_base(value).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
    let long = "hunter2".repeat(50);
    for spec in [
        "oauth2:hunter2hunter2@gitlab.com/group/project",
        "me@gitlab.com:hunter2hunter2@gitlab.com/group/project",
        "https://oauth2:hunter2/hunter2@gitlab.com/group/project",
        &format!("htps://oauth2:{long}@gitlab.com/group/project"),
        &format!("oauth2:{long}@gitlab.com/group/project"),
    ] {
        let error = refused(spec, "https://gitlab.com");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn a_host_may_be_an_address_of_the_sixth_version() {
    let api = "https://[::1]:3000";
    for spec in [
        "https://[::1]:3000/a/b",
        "https://oauth2:pw@[::1]:3000/a/b.git",
        "[::1]:3000/a/b/-/issues",
        "[::1]/a/b",
        "ssh://git@[::1]:22/a/b",
        "git@[::1]:a/b.git",
    ] {
        assert_eq!(project(spec, api).as_deref(), Ok("a/b"), "{spec}");
    }
    refused("https://[::2]:3000/a/b", api);
}

#[test]
fn a_number_that_may_be_a_port_or_a_group_is_asked_for() {
    let own = "https://gitlab.example.com:2024";
    let spec = "gitlab.example.com:2024/team/service";
    assert_eq!(project(spec, own).as_deref(), Ok("team/service"));
    let error = refused(spec, "https://gitlab.example.com");
    for form in [
        "https://gitlab.example.com:2024/",
        "git@gitlab.example.com:2024/",
    ] {
        assert!(error.contains(form), "{error}");
    }
    let group = project("git@gitlab.example.com:2024/team/service", own);
    assert_eq!(group.as_deref(), Ok("2024/team/service"));
    let port = project("https://gitlab.example.com:2024/team/service", own);
    assert_eq!(port.as_deref(), Ok("team/service"));
}

#[test]
fn every_usual_way_to_write_a_project_is_read() {
    let api = "https://gitlab.example.com";
    for spec in [
        "group/team/service",
        " group/team/service/ ",
        "/group/team/service",
        "group/team/service.git",
        "group/team/service/-/issues",
        "https://gitlab.example.com/group/team/service",
        "https://gitlab.example.com/group/team/service.git",
        "HTTPS://GitLab.Example.com/group/team/service/-/issues/42?x=1#note_7",
        "https://gitlab.example.com:8443/group/team/service/-/tree/main/a/-/b",
        "https://gitlab.example.com/group/team/service/blob/main/README.md",
        "gitlab.example.com/group/team/service",
        "gitlab.example.com:443/group/team/service",
        "git+https://gitlab.example.com/group/team/service.git",
        "git@gitlab.example.com:group/team/service.git",
        "gitlab.example.com:group/team/service.git",
        "ssh://git@gitlab.example.com:2222/group/team/service.git",
        "ssh://git@altssh.gitlab.example.com:443/group/team/service.git",
        "https://oauth2:glpat-0123456789abcdef@gitlab.example.com/group/team/service.git",
        "https://gitlab.example.com/gro%75p/team/service",
    ] {
        assert_eq!(
            project(spec, api).as_deref(),
            Ok("group/team/service"),
            "{spec}"
        );
    }
    assert_eq!(project("gruppe/ä b", api).as_deref(), Ok("gruppe/ä b"));
    assert_eq!(project("a.b/c_d-e.f", api).as_deref(), Ok("a.b/c_d-e.f"));
}

#[test]
fn an_instance_below_a_path_has_its_projects_there() {
    let api = "https://git.example.com/gitlab";
    for spec in [
        "group/service",
        "https://git.example.com/gitlab/group/service",
        "git.example.com/gitlab/group/service/-/issues",
        "git+https://git.example.com/gitlab/group/service.git",
        "git+http://git.example.com/gitlab/group/service",
        "git@git.example.com:group/service.git",
    ] {
        assert_eq!(project(spec, api).as_deref(), Ok("group/service"), "{spec}");
    }
    refused("https://git.example.com/group/service", api);
    refused("git+https://git.example.com/group/service", api);
    refused("https://git.example.com/gitlab/service", api);
}

#[test]
fn what_names_no_project_is_refused() {
    for spec in [
        "",
        " ",
        "/",
        "service",
        "12345",
        "group/",
        "group/../service",
        "../group/service",
        "group/..",
        "group/...",
        "group/.",
        "group/.git",
        "groups/acme/-/issues",
        "groups/acme/widget",
        "group/service.git.git",
        "group/service.atom",
        "group.git/service",
        "group//service",
        "group/-/issues",
        "group/-service",
        "--upload-pack=x/y",
        "group/ser\nvice",
        "group/ser\u{0}vice",
        "group%2Fservice",
        "group/a%2Fb",
        "group/$(id)",
        "group/a;b",
        "group\\service",
        "https://gitlab.example.com",
        "https://gitlab.example.com/",
        "https://gitlab.example.com/group",
        "https://gitlab.example.com/groups/acme/-/issues",
        "https://gitlab.example.com/group/a%2Fb",
        "https://gitlab.example.com/group/%2e%2e/x",
        "https://gitlab.example.com/group/a%zz",
        "https://gitlab.example.com/group/a%ff",
        "https://gitlab.example.com/group/a%",
        "https://gitlab.example.com/group/a%252Fb",
        "https://gitlab.com/group/service",
        "https://gitlab.example.com.evil.example/group/service",
        "https://gitlab.example.com@evil.example/group/service",
        "git@evil.example:group/service.git",
        "https://ssh.gitlab.example.com/group/service",
        "file:///group/service",
        "htps://gitlab.example.com/group/service",
        "gitlab.example.com:2024/team/service",
        "gitlab.example.com:2024/service",
        "me@gitlab.example.com:pw@gitlab.example.com/group/service",
    ] {
        let error = refused(spec, "https://gitlab.example.com");
        assert!(error.ends_with("write group/project"), "{error}");
        assert!(!error.contains(['\n', '\0']), "{error}");
    }
    let deep = vec!["a"; 23].join("/");
    refused(&deep, "https://gitlab.com");
    let long = format!("a/{}", "x".repeat(1_000_000));
    assert!(refused(&long, "https://gitlab.com").chars().count() < 300);
}

#[test]
fn the_site_is_where_the_api_is_below() {
    for (api, web) in [
        ("https://gitlab.com", "https://gitlab.com"),
        (
            "https://git.example.com:8443/gitlab",
            "https://git.example.com:8443/gitlab",
        ),
    ] {
        assert_eq!(web_root(&api_base(api).unwrap()), web);
    }
}

#[test]
fn errors_are_short_whatever_the_address_of_the_instance() {
    let instance = format!("https://git.example.com/{}", "é".repeat(1000));
    let error = project("https://git.example.com/group/service", &instance).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("it is not below /") && error.len() < 300,
        "{error}"
    );
}
