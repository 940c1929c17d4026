//! Issues: filters, pages, label events, notes, quick actions.

use super::*;

#[test]
fn labels_filter_in_their_own_spelling_and_a_comma_parts_them() {
    let world = World::new();
    for labels in [
        vec!["openhands"],
        vec!["OpenHands"],
        vec!["agent::todo", "über"],
        vec!["a,b"],
        vec![],
    ] {
        let issue = world.issue();
        for label in labels {
            issue.label(label, "alice");
        }
    }
    let found = |query: &str| pluck(&world.get(&format!("/issues?{query}&sort=asc")), "iid");
    assert_eq!(found("labels=openhands"), [1]);
    assert_eq!(found("labels=OpenHands"), [2]);
    assert_eq!(found("labels=agent%3A%3Atodo,%C3%BCber"), [3]);
    assert_eq!(found("labels=agent%3A%3Atodo,openhands"), [0; 0]);
    assert_eq!(
        found("labels=a%2Cb"),
        [0; 0],
        "the comma parts it, encoded or not"
    );
    assert_eq!(found("labels=None"), [5]);
    assert_eq!(found("labels=Any"), [1, 2, 3, 4]);
    assert_eq!(found("labels="), [1, 2, 3, 4, 5]);
}

#[test]
fn issues_are_listed_by_state_and_by_their_last_update() {
    let world = World::new();
    for _ in 0..3 {
        world.gitlab.advance(60.0);
        world.issue();
    }
    world.gitlab.advance(60.0);
    world.project.issue(1).unwrap().label("x", "alice");
    let list = |query: &str| pluck(&world.get(&format!("/issues?{query}")), "iid");
    assert_eq!(list("order_by=updated_at&sort=desc"), [1, 3, 2]);
    assert_eq!(list(""), [3, 2, 1]);
    world.project.issue(3).unwrap().close();
    assert_eq!(list("state=opened&order_by=updated_at&sort=asc"), [2, 1]);
    assert_eq!(list("state=closed"), [3]);
    assert_eq!(
        world.get("/issues?state=open").status,
        400,
        "GitLab says opened"
    );
    world.project.issue(2).unwrap().delete();
    assert_eq!(world.get("/issues/2").status, 404);
}

#[test]
fn confidential_issues_are_hidden_from_guests() {
    let world = World::new();
    world
        .project
        .open_issue(NewIssue::titled("Secret").confidential());
    world.gitlab.token("glpat-guest", "guest");
    world.project.set_member("guest", 10);
    let seen = |token: &str| {
        let list = Call::get(&world.url("/issues")).header("private-token", token);
        let one = Call::get(&world.url("/issues/1")).header("private-token", token);
        (
            pluck(&list.send().unwrap(), "iid").len(),
            one.send().unwrap().status,
        )
    };
    assert_eq!(seen(TOKEN), (1, 200));
    assert_eq!(seen("glpat-guest"), (0, 404));
}

#[test]
fn pages_go_on_by_header_without_totals() {
    let world = World::new();
    for _ in 0..104 {
        world.issue();
    }
    let first = world.get("/issues?per_page=100&state=opened");
    assert_eq!(first.header("x-next-page"), Some("2"));
    assert_eq!(
        (first.header("x-total"), first.header("x-total-pages")),
        (None, None)
    );
    let link = first.header("link").unwrap().to_owned();
    let next = link
        .split_once(">; rel=\"next\"")
        .unwrap()
        .0
        .trim_start_matches('<');
    assert!(!link.contains("rel=\"last\""), "{link}");
    let second = Call::get(next)
        .header("private-token", TOKEN)
        .send()
        .unwrap();
    assert_eq!(pluck(&second, "iid"), [4, 3, 2, 1]);
    assert_eq!(second.header("x-next-page"), Some(""));
    assert!(!second.header("link").unwrap().contains("rel=\"next\""));
    world.gitlab.set_totals(true);
    let told = world.get("/issues");
    assert_eq!(
        (told.header("x-total"), told.header("x-total-pages")),
        (Some("104"), Some("6"))
    );
    assert!(told.header("link").unwrap().contains("rel=\"last\""));
}

#[test]
fn label_events_outlive_their_label_and_their_user() {
    let world = World::new();
    let issue = world.issue();
    issue.label("gone", "alice");
    let add = issue.label("openhands", "bob");
    issue.unlabel("openhands", "bob");
    let again = issue.label("openhands", None);
    assert_eq!(issue.labels(), ["gone", "openhands"]);
    world.project.delete_label("gone");
    world.gitlab.delete_user("bob");
    let events = world.get("/issues/1/resource_label_events").json();
    fits("resource-label-event", &events);
    assert_eq!(events[0]["label"], Value::Null);
    assert_eq!(
        (&events[1]["id"], &events[1]["user"]),
        (&json!(add), &Value::Null)
    );
    assert_eq!(events[2]["action"], "remove");
    assert_eq!(
        (&events[3]["id"], &events[3]["user"]),
        (&json!(again), &Value::Null)
    );
    assert_eq!(issue.labels(), ["openhands"]);
    issue.add_noise(40);
    let page = world.get("/issues/1/resource_label_events?per_page=20&page=3");
    assert_eq!(page.json().as_array().unwrap().len(), 4);
}

#[test]
fn times_may_be_ahead_of_utc() {
    let world = World::new();
    world.issue();
    assert_eq!(
        world.get("/issues").json()[0]["created_at"],
        "2026-08-18T09:00:00.000Z"
    );
    world.gitlab.set_hours_ahead(2);
    assert_eq!(
        world.get("/issues").json()[0]["created_at"],
        "2026-08-18T11:00:00.000+02:00"
    );
}

#[test]
fn notes_are_written_and_read() {
    let world = World::new();
    let issue = world.issue();
    issue.comment("First.", "alice");
    world.gitlab.advance(1.0);
    let answer = world.post(
        "/issues/1/notes",
        &json!({"body": "Second.\nSee /usr/bin."}),
    );
    assert_eq!(answer.status, 201);
    fits("note", &answer.json());
    assert_eq!(answer.json()["author"]["username"], "automation");
    let notes = issue.notes();
    assert_eq!(
        (notes[1].body.as_str(), notes[1].created_at),
        ("Second.\nSee /usr/bin.", 1_787_043_601.0)
    );
    let bodies = |query: &str| {
        let list = world.get(&format!("/issues/1/notes{query}")).json();
        list[0]["body"].as_str().unwrap().to_owned()
    };
    assert!(bodies("").starts_with("Second."), "newest first");
    assert_eq!(bodies("?sort=asc"), "First.");
    let form = Call::new("POST", &world.url("/issues/1/notes")).header("private-token", TOKEN);
    let form = form.body("application/x-www-form-urlencoded", "body=a%26b");
    assert_eq!(form.send().unwrap().json()["body"], "a&b");
    assert_eq!(
        world.post("/issues/1/notes", &json!({})).json()["error"],
        "body is missing"
    );
    assert_eq!(
        world.post("/issues/1/notes", &json!({"body": " "})).status,
        400
    );
    let long = world.post("/issues/1/notes", &json!({"body": "x".repeat(1_000_001)}));
    assert!(
        long.json()["message"]
            .as_str()
            .unwrap()
            .contains("too long")
    );
    assert_eq!(
        world.post("/issues/9/notes", &json!({"body": "x"})).status,
        404
    );
    world.gitlab.check().unwrap();
}

#[test]
fn commands_in_a_note_are_carried_out_and_told() {
    let world = World::new();
    let issue = world.issue();
    let text = "Done.\n\n/close\n/merge\n/assign @root\nSee /usr/bin and a/b.\n";
    let answer = world.post("/issues/1/notes", &json!({"body": text}));
    assert_eq!(answer.json()["body"], "Done.\n\nSee /usr/bin and a/b.\n");
    assert!(!issue.is_open());
    assert_eq!(
        world.project.quick_actions(),
        ["/close", "/merge", "/assign @root"]
    );
    assert!(
        world
            .gitlab
            .check()
            .unwrap_err()
            .to_string()
            .contains("carried out commands: /close")
    );
    assert_eq!(
        world
            .post("/issues/1/notes", &json!({"body": "/reopen"}))
            .status,
        202
    );
    assert!(issue.is_open());
}

#[test]
fn labels_are_searched_without_case_and_listed_by_name() {
    let world = World::new();
    world.project.create_label("OpenHands");
    world.project.create_group_label("not openhands");
    world.issue().label("bug", "alice");
    let list = world.get("/labels?search=openhands").json();
    assert_eq!(
        (&list[0]["name"], &list[0]["is_project_label"]),
        (&json!("not openhands"), &json!(false))
    );
    assert_eq!(
        (&list[1]["name"], &list[1]["is_project_label"]),
        (&json!("OpenHands"), &json!(true))
    );
    fits("label", &list);
    assert_eq!(pluck(&world.get("/labels"), "id").len(), 3);
    world.gitlab.check().unwrap();
}
