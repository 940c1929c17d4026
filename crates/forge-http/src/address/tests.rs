use super::*;

#[test]
fn what_is_no_address_is_told_why() {
    for (value, expected) in [
        ("", "it is empty"),
        ("ftp://example.com", "its scheme is neither https nor http"),
        ("https://", "it cannot be read as an address"),
        ("javascript:alert(1)", "it cannot be read as an address"),
        ("https://exa mple.com", "it cannot be read as an address"),
        (
            "https://user:pass@example.com/api/v3",
            "it holds a user name or password, which belong into the secrets",
        ),
        (
            "https://user@example.com",
            "it holds a user name or password, which belong into the secrets",
        ),
    ] {
        assert_eq!(read(value), Err(expected), "{value}");
    }
    for (value, expected) in [
        ("example.com:8443/a", "https://example.com:8443/a"),
        ("http://127.0.0.1:4000/a/?x=1#y", "http://127.0.0.1:4000/a/"),
    ] {
        assert_eq!(read(value).map(String::from).as_deref(), Ok(expected));
    }
}

#[test]
fn host_and_path_are_read_from_every_form() {
    let web = |host, path| (Some(host), path, true);
    let other = |host, path| (Some(host), path, false);
    for (spec, expected) in [
        ("a/b", (None, "a/b", false)),
        ("a/b:c", (None, "a/b:c", false)),
        ("a/b?c#d", (None, "a/b", false)),
        ("https://x.example/a/b?c=d", web("x.example", "a/b")),
        ("HTTP://x.example:80", web("x.example", "")),
        ("https://me:pw@x.example/a", web("x.example", "a")),
        ("https://x.example@y.example/a", web("y.example", "a")),
        ("ssh://git@x.example:22/a", other("x.example", "a")),
        ("git+ssh://git@x.example/a", other("x.example", "a")),
        ("git+https://x.example/a", web("x.example", "a")),
        ("Git+HTTP://me@x.example:80/a", web("x.example", "a")),
        ("https://[::1]:3000/a", web("[::1]", "a")),
        ("https://me:pw@[::1]/a", web("[::1]", "a")),
        ("https://[::1]x.example:80/a", web("[::1]x.example", "a")),
        ("ssh://git@[fe80::2]:22/a", other("[fe80::2]", "a")),
        ("git@[::1]:a/b", other("[::1]", "a/b")),
        ("[::1]:a/b", other("[::1]", "a/b")),
        ("git@x.example:a/b.git", other("x.example", "a/b.git")),
        ("x.example:a/b", other("x.example", "a/b")),
        ("C:\\a", other("C", "\\a")),
    ] {
        let place = Place::read(without_query(spec)).expect(spec);
        assert_eq!((place.host, place.path, place.is_web), expected, "{spec}");
    }
}

#[test]
fn what_no_way_leads_to_is_refused_without_repeating_it() {
    let long = format!("htps{}://x.example/a", "s".repeat(1000));
    for (spec, expected) in [
        (
            "htps://oauth2:pw@x.example/a",
            "its scheme htps is not known",
        ),
        ("file:///a", "its scheme file is not known"),
        ("https:/tps://x.example/a", "its scheme is not known"),
        ("://x.example/a", "its scheme is not known"),
        ("me:pw@y://x.example/a", "its scheme is not known"),
        (long.as_str(), "its scheme is not known"),
        (
            "oauth2:pw@x.example/a/b",
            "it holds a password and no scheme such as https://",
        ),
        (
            "me@x.example:pw@x.example/a/b",
            "it holds a password and no scheme such as https://",
        ),
        (
            "me:pw@[::1]:80/a",
            "it holds a password and no scheme such as https://",
        ),
    ] {
        assert_eq!(Place::read(spec), Err(expected.to_owned()), "{spec}");
        assert_eq!(Place::of_site(spec, &SITE), Place::read(spec), "{spec}");
    }
}

const SITE: Site<'_> = Site {
    host: "x.example",
    port: Some(8443),
    prefixes: &["www."],
};

#[test]
fn a_site_may_be_named_without_its_scheme() {
    for (spec, host) in [
        ("x.example/a/b", Some("x.example")),
        ("X.example:8443/a/b", Some("X.example")),
        ("x.example:443/a/b", Some("x.example")),
        ("x.example:80/a/b", Some("x.example")),
        ("www.x.example/a/b", Some("www.x.example")),
        ("y.example/a/b", None),
        ("x.example/a", Some("x.example")),
    ] {
        let place = Place::of_site(spec, &SITE).expect(spec);
        assert_eq!((place.host, place.is_web), (host, host.is_some()), "{spec}");
        assert!(spec.ends_with(place.path), "{spec}");
    }
    let own = Site {
        host: "[::1]",
        port: Some(3000),
        prefixes: &[],
    };
    let place = Place::of_site("[::1]:3000/a/b", &own).unwrap();
    assert_eq!((place.host, place.path), (Some("[::1]"), "a/b"));
    // The short form of SSH addresses, and a whole address, are what they are elsewhere.
    for spec in [
        "x.example:a/b",
        "git@x.example:a/b",
        "git@x.example:2024/b",
        "y.example:2024/b",
        "https://x.example/a/b",
        "https://x.example:2024/a/b",
    ] {
        let place = Place::of_site(spec, &SITE);
        assert!(place.is_ok(), "{spec}");
        assert_eq!(place, Place::read(spec), "{spec}");
    }
}

/// `x.example:2024/team/service` is `2024/team/service` to git, and another place to a browser.
#[test]
fn a_number_that_may_be_a_port_or_a_group_is_refused() {
    for port in ["2024", "0443", "99999", "3000"] {
        let why = Place::of_site(&format!("X.example:{port}/team/service"), &SITE).unwrap_err();
        assert_eq!(
            why,
            format!(
                "{port} may be a port or the beginning of a path: write https://X.example:{port}/… \
                 or git@X.example:{port}/…"
            )
        );
    }
    let long = format!("x.example:{}/a/b", "1".repeat(1000));
    let why = Place::of_site(&long, &SITE).unwrap_err();
    assert!(why.chars().count() < 200, "{why}");
}

#[test]
fn a_site_has_its_own_hosts_only() {
    let prefixes = ["www.", "ssh."];
    for host in ["x.example", "X.Example", "www.x.example", "SSH.x.example"] {
        assert!(is_of_site(host, "x.example", &prefixes), "{host}");
    }
    for host in ["", "y.x.example", "x.example.evil", "www.ssh.x.example"] {
        assert!(!is_of_site(host, "x.example", &prefixes), "{host}");
    }
    assert!(!is_of_site("ssh.x.example", "x.example", &[]));
    for host in ["[::1]", "[0:0::1]", "[0000::0001]"] {
        assert!(is_of_site(host, "[::1]", &[]), "{host}");
    }
    for host in ["[::2]", "::1", "[::1", "x.example"] {
        assert!(!is_of_site(host, "[::1]", &[]), "{host}");
    }
    let long = elsewhere(&"a\n".repeat(1000), "x.example", "GitHub");
    assert!(long.chars().count() < 150 && !long.contains('\n'), "{long}");
}

#[test]
fn a_value_is_shown_short_and_without_credentials() {
    let long = "hunter2".repeat(100);
    for value in [
        "https://user:hunter2hunter2@x.example/a\nb".to_owned(),
        "oauth2:hunter2hunter2@x.example/group/project".to_owned(),
        "me:hunter2 \"hunter2@x.example".to_owned(),
        format!("htps://oauth2:{long}@x.example/a"),
        format!("oauth2:{long}@x.example/a"),
        format!("oauth2:hunter2/{long}@x.example/a"),
    ] {
        for text in [shown(&value), elsewhere(&value, "y.example", "GitHub")] {
            assert!(!text.contains("hunter2") && !text.contains('\n'), "{text}");
            assert!(text.contains("***@x.example"), "{text}");
        }
    }
    assert!(shown(&"x".repeat(1000)).chars().count() <= 101);
}
