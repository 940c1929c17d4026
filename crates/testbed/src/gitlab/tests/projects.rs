//! Projects: shapes, access, roles, what is switched off, moves, limits.

use super::*;

#[test]
fn the_answers_have_the_documented_shape() {
    let world = World::new();
    let issue = world.issue();
    issue.label("openhands", "alice");
    issue.comment("Please.", "alice");
    world
        .project
        .commit_to("topic", "Change", [("a.txt", "a")])
        .unwrap();
    world
        .project
        .open_merge_request("Draft: Change", "Closes #1", "topic", "main", "automation");

    fits("project", &world.get("").json());
    fits("issue", &world.get("/issues").json());
    fits("issue", &world.get("/issues/1").json());
    fits(
        "resource-label-event",
        &world.get("/issues/1/resource_label_events").json(),
    );
    fits("note", &world.get("/issues/1/notes").json());
    fits("merge-request", &world.get("/merge_requests").json());
    fits("merge-request", &world.get("/merge_requests/1").json());
    fits("branch", &world.get("/repository/branches").json());
    fits("commit", &world.get("/repository/commits").json());
    fits("commit", &world.get("/merge_requests/1/commits").json());
    fits(
        "comparison",
        &world.get("/repository/compare?from=main&to=topic").json(),
    );
    let user = world.gitlab.user("automation");
    fits("member", &world.get(&format!("/members/all/{user}")).json());
    let own = format!("{}/user", world.gitlab.api_url());
    fits(
        "user-own",
        &Call::get(&own)
            .header("private-token", TOKEN)
            .send()
            .unwrap()
            .json(),
    );
    world.gitlab.check().unwrap();
}

#[test]
fn a_project_goes_by_its_encoded_path_or_its_number() {
    let world = World::new();
    let by_number = format!("{}/projects/{}", world.gitlab.api_url(), world.project.id());
    let answer = Call::get(&by_number)
        .header("private-token", TOKEN)
        .send()
        .unwrap();
    assert_eq!(answer.json()["path_with_namespace"], "group/team/service");
    assert_eq!(world.get("").json()["id"], world.project.id());
    let odd = world.gitlab.project("grüppe/ä b.c").unwrap();
    odd.set_member("automation", 30);
    let url = format!(
        "{}/projects/gr%C3%BCppe%2F%C3%A4%20b.c",
        world.gitlab.api_url()
    );
    let answer = Call::get(&url)
        .header("private-token", TOKEN)
        .send()
        .unwrap();
    assert_eq!(answer.json()["id"], odd.id());
    let twice = format!(
        "{}/projects/group%252Fteam%252Fservice",
        world.gitlab.api_url()
    );
    assert_eq!(
        Call::get(&twice)
            .header("private-token", TOKEN)
            .send()
            .unwrap()
            .status,
        404
    );
    world.gitlab.check().unwrap();
    let open = format!("{}/projects/group/team/service", world.gitlab.api_url());
    assert_eq!(
        Call::get(&open)
            .header("private-token", TOKEN)
            .send()
            .unwrap()
            .status,
        404
    );
}

#[test]
fn an_instance_lives_below_its_path() {
    let world = World::of(GitLab::start_below("/gitlab/").unwrap());
    assert!(world.gitlab.api_url().ends_with("/gitlab/api/v4"));
    let project = world.get("").json();
    let clone = project["http_url_to_repo"].as_str().unwrap();
    assert_eq!(
        clone,
        format!("{}/group/team/service.git", world.gitlab.url())
    );
    assert_eq!(clone, world.project.clone_url());
    let elsewhere = world.gitlab.server().url("/api/v4/user");
    assert_eq!(
        Call::get(&elsewhere)
            .header("private-token", TOKEN)
            .send()
            .unwrap()
            .status,
        404
    );
    assert!(world.gitlab.check().is_err());
}

#[test]
fn tokens_are_refused_in_different_ways() {
    let world = World::new();
    world.gitlab.read_only_token("glpat-read", "automation");
    world.gitlab.token("glpat-stranger", "stranger");
    let get = |token: &str| {
        Call::get(&world.url(""))
            .header("private-token", token)
            .send()
            .unwrap()
    };
    assert_eq!(
        get("nonsense").json(),
        json!({"message": "401 Unauthorized"})
    );
    assert_eq!(
        get("glpat-stranger").json(),
        json!({"message": "404 Project Not Found"})
    );
    assert_eq!(Call::get(&world.url("")).send().unwrap().status, 404);
    assert_eq!(
        Call::get(&world.url(""))
            .bearer(TOKEN)
            .send()
            .unwrap()
            .status,
        200
    );
    assert_eq!(get("glpat-read").status, 200);
    world.issue();
    let note = Call::post(&world.url("/issues/1/notes"), &json!({"body": "x"}));
    let refused = note
        .clone()
        .header("private-token", "glpat-read")
        .send()
        .unwrap();
    assert_eq!(
        (refused.status, refused.json()["error"].clone()),
        (403, json!("insufficient_scope"))
    );
    world.gitlab.revoke(TOKEN);
    assert_eq!(get(TOKEN).json()["error"], "invalid_token");
    world.project.make_public();
    assert_eq!(Call::get(&world.url("")).send().unwrap().status, 200);
    assert_eq!(note.send().unwrap().status, 401);
}

#[test]
fn roles_are_stated_by_where_they_come_from_or_not_at_all() {
    let world = World::new();
    let permissions = || world.get("").json()["permissions"].clone();
    assert_eq!(permissions()["project_access"]["access_level"], 30);
    assert_eq!(permissions()["group_access"], Value::Null);
    world.project.set_group_member("automation", 40);
    assert_eq!(permissions()["group_access"]["access_level"], 40);
    world.project.leave_roles_unstated();
    assert_eq!(
        permissions(),
        json!({"project_access": null, "group_access": null})
    );
}

#[test]
fn members_are_found_with_the_level_that_counts() {
    let world = World::new();
    let alice = world.gitlab.user("alice");
    let level = || world.get(&format!("/members/all/{alice}"));
    assert_eq!(level().status, 404);
    world.project.set_member("alice", 20);
    world.project.set_group_member("alice", 10);
    assert_eq!(level().json()["access_level"], 20);
    world.project.set_group_member("alice", 50);
    assert_eq!(level().json()["access_level"], 50);
    world.project.remove_member("alice");
    assert_eq!(level().status, 404);
}

#[test]
fn what_is_switched_off_looks_as_it_does_on_gitlab() {
    let world = World::new();
    let empty = world.gitlab.empty_project("group/empty").unwrap();
    empty.set_member("automation", 30);
    let url = format!("{}/projects/group%2Fempty", world.gitlab.api_url());
    let answer = Call::get(&url)
        .header("private-token", TOKEN)
        .send()
        .unwrap()
        .json();
    assert_eq!(
        (&answer["default_branch"], &answer["empty_repo"]),
        (&Value::Null, &json!(true))
    );
    fits("project", &answer);

    world.project.enable_repository(false);
    let answer = world.get("").json();
    assert!(answer.get("default_branch").is_none());
    assert_eq!(answer["repository_access_level"], "disabled");
    assert_eq!(world.get("/repository/branches/main").status, 403);
    world.project.enable_repository(true);

    world.project.enable_issues(false);
    assert_eq!(world.get("").json()["issues_enabled"], false);
    assert_eq!(world.get("/issues?labels=openhands").status, 403);
    world.project.enable_issues(true);

    world.issue();
    world.project.archive();
    assert_eq!(world.get("").json()["archived"], true);
    assert_eq!(world.get("/issues").status, 200);
    assert_eq!(
        world.post("/issues/1/notes", &json!({"body": "x"})).status,
        403
    );
    world.gitlab.check().unwrap();
}

#[test]
fn a_former_path_leads_on_for_reads_only() {
    let world = World::new();
    world.issue();
    let former = world.url("");
    world.project.rename("group/other");
    let get = |url: &str| {
        Call::get(url)
            .header("private-token", TOKEN)
            .send()
            .unwrap()
    };
    let answer = get(&format!("{former}/issues?state=opened"));
    assert_eq!(answer.status, 301);
    let location = answer.header("location").unwrap();
    let id = world.project.id();
    let expected = format!(
        "{}/projects/{id}/issues?state=opened",
        world.gitlab.api_url()
    );
    assert_eq!(location, expected);
    assert_eq!(pluck(&get(location), "iid"), [1]);
    let note = Call::post(&format!("{former}/issues/1/notes"), &json!({"body": "x"}));
    assert_eq!(
        note.header("private-token", TOKEN).send().unwrap().status,
        405
    );
}

#[test]
fn the_budget_is_told_and_runs_out() {
    let world = World::new();
    let answer = world.get("");
    assert_eq!(answer.header("ratelimit-limit"), Some("2000"));
    assert_eq!(answer.header("ratelimit-remaining"), Some("1999"));
    assert_eq!(answer.header("ratelimit-reset"), Some("1787043660"));
    world.gitlab.set_rate_limit(2_000, 0, 1_787_043_610.0);
    let refused = world.get("");
    assert_eq!(
        (refused.status, refused.text().as_str()),
        (429, "Retry later\n")
    );
    assert_eq!(refused.header("retry-after"), Some("10"));
    world.gitlab.advance(10.0);
    assert_eq!(world.get("").status, 200);
    world.gitlab.refuse_next(1, None);
    assert_eq!(world.get("").header("retry-after"), None);
    assert_eq!(world.get("").status, 200);
}

#[test]
fn nothing_new_is_a_304() {
    let world = World::new();
    let tag = world.get("/issues").header("etag").unwrap().to_owned();
    let again = || {
        let call = Call::get(&world.url("/issues")).header("private-token", TOKEN);
        call.header("if-none-match", &tag).send().unwrap().status
    };
    assert_eq!(again(), 304);
    world.issue();
    assert_eq!(again(), 200);
}
