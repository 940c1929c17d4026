use forge_http::answers::Item;
use lifecycle::moment::parse_rfc3339;
use lifecycle::ports::Issue;
use serde_json::Value;

use super::*;
use crate::fixtures;

fn listed(name: &str) -> (Vec<Issue>, Vec<String>) {
    let (mut issues, mut warnings) = (Vec::new(), Vec::new());
    for (index, item) in fixtures::items(&fixtures::json(name)).iter().enumerate() {
        match listed_issue(item, index + 1) {
            Ok(issue) => issues.push(issue),
            Err(warning) => warnings.push(warning),
        }
    }
    (issues, warnings)
}

#[test]
fn a_page_of_issues() {
    let (issues, warnings) = listed("issues-page.json");
    insta::assert_debug_snapshot!("page-of-issues", (&issues, warnings));
    assert!(carries(&issues[0], "openhands") && carries(&issues[1], "OPENhands"));
    assert!(carries(&issues[1], "a, b") && !carries(&issues[1], "a"));
    assert!(!issue(&fixtures::raw("issue-closed.json")).unwrap().open);
}

#[test]
fn what_cannot_be_read_is_named() {
    insta::assert_debug_snapshot!(
        "issues-some-unreadable",
        listed("issues-some-unreadable.json")
    );
}

#[test]
fn an_event_whose_label_was_deleted_is_passed_over() {
    let items = fixtures::items(&fixtures::json("label-events-of-deleted-label.json"));
    let event = newest_label_event(&items, "openhands").unwrap().unwrap();
    assert_eq!(event.id, 4);
    assert_eq!(
        parse_rfc3339(&event.created_at),
        parse_rfc3339("2026-08-18T09:03:00Z")
    );
}

#[test]
fn label_events_as_published() {
    let items = fixtures::items(&fixtures::json("label-events.json"));
    insta::assert_debug_snapshot!("label-event", newest_label_event(&items, "OpenHands"));
    let by_nobody = newest_label_event(&items, "ready").unwrap().unwrap();
    assert_eq!((by_nobody.actor_id, by_nobody.actor), (None, None));
    assert_eq!(newest_label_event(&items, "agent"), Ok(None));
}

#[test]
fn an_unreadable_label_event_gives_way_to_no_older_one() {
    let add = |id: Value, at: &str| serde_json::json!({"id": id, "action": "add", "label": {"name": "x"}, "created_at": at});
    let newest = |list: Value| newest_label_event(&fixtures::items(&list), "x");
    let old = add(1.into(), "2026-08-18T09:00:00Z");
    assert!(
        newest(serde_json::json!([
            old,
            add(Value::Null, "2026-08-18T10:00:00Z")
        ]))
        .is_err()
    );
    assert!(
        newest(serde_json::json!([old, add(2.into(), "lately")]))
            .unwrap_err()
            .contains("event 2")
    );
    let noise = serde_json::json!([old, null, 7, {"action": 5}, {"action": "remove", "label": {"name": "x"}}]);
    assert_eq!(newest(noise).unwrap().unwrap().id, 1);
}

#[test]
fn the_newest_event_is_that_of_the_latest_moment_then_of_the_highest_id() {
    let add = |id: u64, at: &str| serde_json::json!({"id": id, "action": "add", "label": {"name": "x"}, "created_at": at});
    let list = serde_json::json!([
        add(5, "2026-08-18T09:00:00.000Z"),
        add(9, "2026-08-18T11:00:00.000+02:00"),
        add(7, "2026-08-18T09:00:00.000Z"),
        add(99, "2026-08-18T10:59:59.000+02:00"),
    ]);
    assert_eq!(
        newest_label_event(&fixtures::items(&list), "x")
            .unwrap()
            .unwrap()
            .id,
        9
    );
}

#[test]
fn an_exact_spelling_wins_over_one_in_another_case() {
    let items = fixtures::items(&fixtures::json("labels-page.json"));
    assert_eq!(
        spelling(&items, "openhands"),
        Spelling::Other("OpenHands".to_owned())
    );
    assert_eq!(spelling(&items, "OPENHANDS"), Spelling::Exact);
    assert_eq!(spelling(&items, "openhand"), Spelling::Unknown);
}

#[test]
fn a_marker_counts_only_in_a_note_of_our_own() {
    let items = fixtures::items(&fixtures::json("notes-page.json"));
    let find = |username, marker, since| {
        marked_note(&items, username, marker, parse_rfc3339(since).unwrap())
    };
    let start = "<!-- marker 42:label:23 start -->";
    let early = "2026-08-18T09:00:00Z";
    assert_eq!(find("ACME-bot", start, early), Marked::Found(31));
    assert_eq!(find("dev", start, early), Marked::Over);
    assert_eq!(
        find("acme-bot", "<!-- marker 42:label:23 result -->", early),
        Marked::Over
    );
    assert_eq!(
        find("acme-bot", start, "2026-08-18T09:02:30Z"),
        Marked::Over
    );
    assert_eq!(
        find("acme-bot", "nowhere", "2026-08-18T07:00:00Z"),
        Marked::NotHere
    );
}

#[test]
fn projects_in_every_state() {
    let usual = fixtures::json("project.json");
    let read = |change: &Value| {
        let mut wire = usual.clone();
        for (name, value) in change.as_object().unwrap() {
            wire[name] = value.clone();
        }
        let items = fixtures::items(&Value::Array(vec![wire]));
        project(&items[0], "Group/team/service").unwrap()
    };
    insta::assert_debug_snapshot!("project", read(&serde_json::json!({})));
    let states = fixtures::json("project-states.json");
    let empty = read(&states[0]);
    assert_eq!(
        (empty.default_branch, empty.repository_enabled),
        (None, true)
    );
    assert!(!read(&states[1]).repository_enabled);
    assert!(read(&states[2]).archived);
    let named = read(&serde_json::json!({"empty_repo": true}));
    assert_eq!(named.default_branch, None);
    assert!(!read(&serde_json::json!({"issues_access_level": "disabled"})).issues_enabled);
    assert!(!read(&serde_json::json!({"issues_enabled": false})).issues_enabled);
    let level =
        |permissions: Value| read(&serde_json::json!({ "permissions": permissions })).access_level;
    assert_eq!(level(Value::Null), None);
    assert_eq!(
        level(serde_json::json!({"project_access": null, "group_access": null})),
        None
    );
    let group = serde_json::json!({"project_access": null, "group_access": {"access_level": 40}});
    assert_eq!(level(group), Some(40));
    let moved = read(&serde_json::json!({"path_with_namespace": "group/renamed"}));
    assert_eq!(moved.moved_to.as_deref(), Some("group/renamed"));
}

#[test]
fn a_project_with_the_least_members() {
    for item in fixtures::json("project-states.json").as_array().unwrap() {
        let mut wire = item.clone();
        wire["id"] = 7.into();
        let items = fixtures::items(&Value::Array(vec![wire]));
        let project = project(&items[0], "group/service").unwrap();
        assert_eq!(
            (project.path.as_str(), project.moved_to),
            ("group/service", None)
        );
    }
    let without_id: Item = serde_json::from_str("{}").unwrap();
    assert!(project(&without_id, "group/service").is_err());
}

#[test]
fn merge_requests_as_published() {
    let items = fixtures::items(&fixtures::json("merge-requests-page.json"));
    let read: Vec<_> = items
        .iter()
        .map(|item| merge_request(item).unwrap())
        .collect();
    insta::assert_debug_snapshot!("merge-requests", read);
    let orphan = merge_request(&fixtures::raw("merge-request-of-deleted-fork.json")).unwrap();
    assert_eq!(
        (orphan.same_project, orphan.sha, orphan.author),
        (false, None, None)
    );
    let taken = fixtures::json("merge-request-exists.json");
    let items = fixtures::items(&taken["list"]);
    let found = merge_request(&items[0]).unwrap();
    assert_eq!(
        (found.iid, found.same_project, found.state.as_str()),
        (57, true, "opened")
    );
}

#[test]
fn the_best_common_ancestor_names_the_commit_or_not() {
    let base = fixtures::raw("merge-base.json");
    assert_eq!(is_merge_base(&base, &"B".repeat(40)), Ok(true));
    assert_eq!(is_merge_base(&base, &"a".repeat(40)), Ok(false));
    assert!(is_merge_base(&fixtures::raw("issue-closed.json"), "x").is_err());
}

#[test]
fn who_commits() {
    let usual = fixtures::json("user.json");
    let read = |change: Value| {
        let mut wire = usual.clone();
        for (name, value) in change.as_object().unwrap() {
            wire[name] = value.clone();
        }
        let items = fixtures::items(&Value::Array(vec![wire]));
        let identity = identity(&items[0], "gitlab.example.com").unwrap();
        format!(
            "{} <{}> ({})",
            identity.name, identity.email, identity.username
        )
    };
    assert_eq!(
        read(serde_json::json!({})),
        "Acme Bot <9-acme-bot@users.noreply.gitlab.example.com> (acme-bot)"
    );
    let older = serde_json::json!({"commit_email": null});
    assert_eq!(read(older), "Acme Bot <acme-bot@example.com> (acme-bot)");
    let private =
        serde_json::json!({"commit_email": "", "email": null, "public_email": "@", "name": " "});
    assert_eq!(
        read(private),
        "acme-bot <9-acme-bot@users.noreply.gitlab.example.com> (acme-bot)"
    );
    let hostile =
        serde_json::json!({"commit_email": "a@b>\nAuthor: x", "name": "Eve <e@x>\r\n\u{0}y"});
    assert_eq!(read(hostile), "Eve e@x y <a@b Author: x> (acme-bot)");
}

#[test]
fn memberships_in_force() {
    let level = |change: Value| {
        let mut wire = fixtures::json("member.json");
        for (name, value) in change.as_object().unwrap() {
            wire[name] = value.clone();
        }
        membership(&fixtures::items(&Value::Array(vec![wire]))[0]).unwrap()
    };
    assert_eq!(level(serde_json::json!({})), Some(40));
    assert_eq!(
        level(serde_json::json!({"state": null, "membership_state": null})),
        Some(40)
    );
    assert_eq!(level(serde_json::json!({"state": "blocked"})), None);
    assert_eq!(level(serde_json::json!({"state": "ldap_blocked"})), None);
    assert_eq!(
        level(serde_json::json!({"membership_state": "awaiting"})),
        None
    );
}

#[test]
fn fixtures_have_the_published_shapes() {
    let schemas = testbed::schema::Schemas::gitlab();
    for (schema, name) in [
        ("project", "project.json"),
        ("issue", "issue-closed.json"),
        ("user-own", "user.json"),
        ("member", "member.json"),
        ("commit", "merge-base.json"),
    ] {
        assert_eq!(schemas.check(schema, &fixtures::json(name)), [], "{name}");
    }
    for (schema, name) in [
        ("issue", "issues-page.json"),
        ("resource-label-event", "label-events.json"),
        ("note", "notes-page.json"),
        ("merge-request", "merge-requests-page.json"),
    ] {
        assert_eq!(
            schemas.check_items(schema, &fixtures::json(name)),
            [],
            "{name}"
        );
    }
}

#[test]
fn any_member_may_be_anything() {
    for name in [
        "project.json",
        "issues-page.json",
        "label-events.json",
        "notes-page.json",
        "merge-requests-page.json",
        "labels-page.json",
        "user.json",
        "member.json",
    ] {
        let fixture = fixtures::json(name);
        let whole = fixture.as_array().map_or(&fixture, |items| &items[0]);
        for odd in testbed::fixtures::distorted(whole) {
            let items = fixtures::items(&Value::Array(vec![odd]));
            let _ = project(&items[0], "group/service");
            let _ = identity(&items[0], "gitlab.com");
            let _ = membership(&items[0]);
            let _ = listed_issue(&items[0], 1);
            let _ = newest_label_event(&items, "openhands");
            let _ = spelling(&items, "openhands");
            let _ = marked_note(&items, "acme-bot", "marker", 0.0);
            let _ = merge_request(&items[0]);
            let _ = is_merge_base(&items[0], "b");
        }
    }
}
