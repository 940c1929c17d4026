//! Merge requests and the calls about branches and commits.

use super::*;

fn request(title: &str) -> Value {
    json!({
        "source_branch": "openhands/issue-1", "target_branch": "main", "title": title,
        "description": "Closes #1", "remove_source_branch": true,
    })
}

fn world_with_branch() -> (World, String) {
    let world = World::new();
    world.issue();
    let tip = world
        .project
        .commit_to("openhands/issue-1", "Fix", [("fix.txt", "x")])
        .unwrap();
    (world, tip)
}

#[test]
fn a_merge_request_is_opened_once() {
    let (world, tip) = world_with_branch();
    assert!(
        Schemas::gitlab()
            .check_closed("request:create-merge-request", &request("x"))
            .is_empty()
    );
    let answer = world.post("/merge_requests", &request("Draft: Retry uploads"));
    assert_eq!(answer.status, 201);
    let body = answer.json();
    fits("merge-request", &body);
    assert_eq!(
        (&body["iid"], &body["sha"], &body["draft"]),
        (&json!(1), &json!(tip), &json!(true))
    );
    assert_eq!(body["diff_refs"]["head_sha"], tip);
    assert_eq!(
        body["diff_refs"]["base_sha"],
        world.project.tip("main").unwrap()
    );
    assert_eq!(body["created_at"], "2026-08-18T09:00:00.000Z");
    let again = world.post("/merge_requests", &request("Again"));
    assert_eq!(again.status, 409);
    let text = "Another open merge request already exists for this source branch: !1";
    assert_eq!(again.json(), json!({"message": [text]}));
    world.gitlab.set_older(true);
    assert_eq!(world.post("/merge_requests", &request("Again")).status, 422);
    world.project.close_merge_request(1);
    assert_eq!(
        world.post("/merge_requests", &request("Again")).json()["iid"],
        2
    );
    let notes = world.project.issue(1).unwrap().notes();
    assert!(notes[0].system && notes[0].body == "mentioned in merge request !1");
    world.gitlab.check().unwrap();
}

#[test]
fn a_merge_request_is_refused_for_its_fields() {
    let (world, _) = world_with_branch();
    let with = |name: &str, value: Value| {
        let mut body = request("Title");
        body[name] = value;
        world.post("/merge_requests", &body)
    };
    let missing = with("title", Value::Null);
    assert_eq!(
        (missing.status, missing.json()),
        (400, json!({"error": "title is missing"}))
    );
    assert_eq!(with("source_branch", json!("main")).status, 422);
    for (name, value, reason) in [
        ("source_branch", json!("nowhere"), "does not exist"),
        ("target_branch", json!("nowhere"), "does not exist"),
        (
            "title",
            json!("é".repeat(256)),
            "is too long (maximum is 255 characters)",
        ),
        (
            "description",
            json!("x".repeat(1_048_577)),
            "is too long (maximum is 1048576 characters)",
        ),
    ] {
        let answer = with(name, value);
        assert_eq!(
            (answer.status, answer.json()),
            (400, json!({"message": {name: [reason]}}))
        );
    }
    world.gitlab.token("glpat-reporter", "reporter");
    world.project.set_member("reporter", 20);
    let call = Call::post(&world.url("/merge_requests"), &request("x"));
    assert_eq!(
        call.header("private-token", "glpat-reporter")
            .send()
            .unwrap()
            .status,
        403
    );
    assert!(world.project.merge_requests().is_empty());
    assert_eq!(with("title", json!("é".repeat(255))).status, 201);
}

#[test]
fn merge_requests_are_found_by_branch_and_state() {
    let (world, tip) = world_with_branch();
    world
        .project
        .commit_to("other", "Other", [("o", "o")])
        .unwrap();
    world
        .project
        .open_merge_request("One", "", "openhands/issue-1", "main", "alice");
    world.project.close_merge_request(1);
    world.gitlab.advance(5.0);
    world
        .project
        .open_merge_request("Two", "", "openhands/issue-1", "main", "automation");
    world
        .project
        .open_merge_request("Three", "", "other", "main", "alice");
    let list = |query: &str| pluck(&world.get(&format!("/merge_requests?{query}")), "iid");
    assert_eq!(list("state=all&source_branch=openhands%2Fissue-1"), [2, 1]);
    assert_eq!(list("state=opened&source_branch=openhands%2Fissue-1"), [2]);
    assert_eq!(list("source_branch=nothing"), [0; 0]);
    assert_eq!(world.project.merge_requests()[1].sha, tip);
    assert_eq!(world.get("/merge_requests/9").status, 404);
}

#[test]
fn a_fresh_merge_request_may_lack_its_commit() {
    let (world, tip) = world_with_branch();
    world.project.prepare_merge_requests_slowly(2);
    let fresh = world.post("/merge_requests", &request("x")).json();
    assert_eq!(
        (&fresh["sha"], &fresh["diff_refs"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(fresh["detailed_merge_status"], "preparing");
    fits("merge-request", &fresh);
    assert_eq!(world.get("/merge_requests/1").json()["sha"], Value::Null);
    assert_eq!(world.get("/merge_requests/1").json()["sha"], tip);
}

#[test]
fn a_merge_moves_the_target_and_closes_the_issue() {
    let (world, tip) = world_with_branch();
    world.post("/merge_requests", &request("Fix"));
    world.project.merge(1).unwrap();
    assert_eq!(world.project.tip("main"), Some(tip));
    assert!(!world.project.issue(1).unwrap().is_open());
    assert_eq!(world.get("/merge_requests/1").json()["state"], "merged");
}

#[test]
fn commands_in_a_description_are_told() {
    let (world, _) = world_with_branch();
    let mut body = request("x");
    body["description"] = json!("Text\n/merge\n");
    assert_eq!(
        world.post("/merge_requests", &body).json()["description"],
        "Text\n"
    );
    assert!(world.gitlab.check().is_err());
}

#[test]
fn branches_and_commits_answer() {
    let (world, tip) = world_with_branch();
    let base = world.project.tip("main").unwrap();
    let branch = world.get("/repository/branches/openhands%2Fissue-1").json();
    assert_eq!(
        (&branch["name"], &branch["commit"]["id"]),
        (&json!("openhands/issue-1"), &json!(tip))
    );
    assert_eq!(
        (&branch["protected"], &branch["can_push"]),
        (&json!(false), &json!(true))
    );
    let main = world.get("/repository/branches/main").json();
    assert_eq!(
        (&main["protected"], &main["can_push"]),
        (&json!(true), &json!(false))
    );
    let missing = world.get("/repository/branches/nowhere");
    assert_eq!(
        (missing.status, missing.json()),
        (404, json!({"message": "404 Branch Not Found"}))
    );
    assert_eq!(
        world.get(&format!("/repository/commits/{tip}")).json()["parent_ids"],
        json!([base])
    );
    let zeros = "0".repeat(40);
    assert_eq!(
        world.get(&format!("/repository/commits/{zeros}")).status,
        404
    );
    let path = format!("/repository/merge_base?refs[]={base}&refs[]={tip}");
    assert_eq!(world.get(&path).json()["id"], base);
    let path = format!("/repository/merge_base?refs%5B%5D={zeros}&refs%5B%5D={tip}");
    assert_eq!(world.get(&path).status, 400);
    let compared = world
        .get(&format!(
            "/repository/compare?from={base}&to=openhands%2Fissue-1"
        ))
        .json();
    assert_eq!(compared["commits"].as_array().unwrap().len(), 1);
    assert_eq!(compared["diffs"][0]["new_path"], "fix.txt");
    let refs = world
        .get(&format!("/repository/commits/{base}/refs?type=branch"))
        .json();
    assert_eq!(refs.as_array().unwrap().len(), 2);
    world.gitlab.check().unwrap();
}
