//! What can be read: shapes, orders, pages, conditional requests, access, renames.

use super::*;
use crate::github::{Barrier, ReviewState};

#[test]
fn the_answers_have_the_published_shape() {
    let world = World::new();
    let pull = world.pull();
    pull.label("openhands-review", "alice");
    pull.unlabel("openhands-review", "alice");
    pull.comment("Please look.", "alice");
    pull.review("bob", ReviewState::Approved, "Good.", None);
    world.repo.open_pull(
        NewPull::titled("From a fork")
            .from_fork("dev/widget")
            .draft(),
    );

    fits(
        "pull-request-simple",
        &world.get("/repos/acme/widget/pulls").json(),
    );
    fits(
        "pull-request",
        &world.get("/repos/acme/widget/pulls/1").json(),
    );
    fits(
        "pull-request",
        &world.get("/repos/acme/widget/pulls/2").json(),
    );
    fits(
        "diff-entry",
        &world.get("/repos/acme/widget/pulls/1/files").json(),
    );
    let events = world.get("/repos/acme/widget/issues/1/events").json();
    fits("labeled-issue-event", &events[0]);
    fits("unlabeled-issue-event", &events[1]);
    fits(
        "issue-comment",
        &world.get("/repos/acme/widget/issues/1/comments").json(),
    );
    fits(
        "pull-request-review",
        &world.get("/repos/acme/widget/pulls/1/reviews").json(),
    );
    fits("full-repository", &world.get("/repos/acme/widget").json());
    fits("public-user", &world.get("/user").json());
    fits("rate-limit-overview", &world.get("/rate_limit").json());
    fits(
        "content-file",
        &world.get("/repos/acme/widget/contents/README.md").json(),
    );
    fits("basic-error", &world.get("/repos/acme/nothing").json());
    world.github.check().unwrap();
}

#[test]
fn a_list_of_pulls_has_no_counts_and_a_single_one_does() {
    let world = World::new();
    let pull = world.pull();
    assert!(
        world.get("/repos/acme/widget/pulls").json()[0]
            .get("changed_files")
            .is_none()
    );
    let single = world.get("/repos/acme/widget/pulls/1").json();
    assert_eq!(
        (
            &single["changed_files"],
            &single["additions"],
            &single["commits"]
        ),
        (&json!(1), &json!(3), &json!(1))
    );
    pull.set_size(301, 4_000, 7);
    assert_eq!(
        world.get("/repos/acme/widget/pulls/1").json()["changed_files"],
        301
    );
}

#[test]
fn pulls_are_listed_by_state_and_by_their_last_update() {
    let world = World::new();
    for title in ["one", "two", "three"] {
        world.github.advance(60.0);
        world.repo.open_pull(NewPull::titled(title));
    }
    let numbers = |query: &str| {
        let answer = world.get(&format!("/repos/acme/widget/pulls?{query}"));
        let numbers = answer.json();
        numbers
            .as_array()
            .unwrap()
            .iter()
            .map(|pull| pull["number"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let open = "state=open&sort=updated&direction=desc";
    assert_eq!(numbers(open), vec![3, 2, 1]);
    assert_eq!(numbers(""), vec![3, 2, 1], "newest first");
    assert_eq!(numbers("sort=updated"), vec![1, 2, 3]);
    world.github.advance(60.0);
    world.repo.pull(1).unwrap().label("x", "dev");
    assert_eq!(numbers(open), vec![1, 3, 2], "a label counts as an update");
    world.repo.pull(3).unwrap().close("dev");
    assert_eq!(numbers(open), vec![1, 2]);
    assert_eq!(numbers("state=closed"), vec![3]);
    assert_eq!(
        numbers("state=all&sort=created&direction=asc"),
        vec![1, 2, 3]
    );
    world.repo.pull(2).unwrap().vanish();
    assert_eq!(numbers(open), vec![1]);
    assert_eq!(world.get("/repos/acme/widget/pulls/2").status, 404);
    assert_eq!(world.get("/repos/acme/widget/pulls?state=odd").status, 422);
}

#[test]
fn pages_follow_a_link_with_another_path() {
    let world = World::new();
    let pull = world.pull();
    pull.add_noise(100);
    let last = pull.label("openhands-review", None);
    let first = world.get("/repos/acme/widget/issues/1/events?per_page=100");
    assert_eq!(first.json().as_array().unwrap().len(), 100);
    let link = first.header("link").unwrap().to_owned();
    let id = world.repo.id();
    let next = format!(
        "{}/repositories/{id}/issues/1/events?per_page=100&page=2",
        world.url("")
    );
    assert_eq!(
        link,
        format!("<{next}>; rel=\"next\", <{next}>; rel=\"last\"")
    );
    let second = world.get(&next);
    let items = second.json();
    assert_eq!(
        items.as_array().unwrap().len(),
        1,
        "oldest first, so the newest comes last"
    );
    assert_eq!(items[0]["id"], last);
    assert_eq!(items[0]["actor"], Value::Null);
    let back = second.header("link").unwrap();
    assert!(back.contains("page=1>; rel=\"prev\"") && back.ends_with("page=1>; rel=\"first\""));
    let all = world
        .get("/repos/acme/widget/issues/1/events?per_page=500")
        .json();
    assert_eq!(all.as_array().unwrap().len(), 100, "a hundred at most");
}

#[test]
fn nothing_new_is_a_304_and_costs_nothing() {
    let world = World::new();
    let pull = world.pull();
    let path = "/repos/acme/widget/pulls?state=open";
    let first = world.get(path);
    let tag = first.header("etag").unwrap().to_owned();
    let left = world.github.rate_limit_remaining();
    let conditional = || {
        world
            .call("GET", path)
            .header("if-none-match", &tag)
            .send()
            .unwrap()
    };
    let again = conditional();
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(tag.as_str()));
    assert_eq!(world.github.rate_limit_remaining(), left);
    world.github.advance(1.0);
    pull.comment("news", "dev");
    assert_eq!(conditional().status, 200);
    assert_eq!(world.github.rate_limit_remaining(), left - 1);
}

#[test]
fn deleted_accounts_and_forks_are_null() {
    let world = World::new();
    let pull = world
        .repo
        .open_pull(NewPull::titled("x").by("ghost").from_fork("dev/widget"));
    let shown = || world.get("/repos/acme/widget/pulls").json()[0].clone();
    assert_eq!(shown()["head"]["repo"]["full_name"], "dev/widget");
    assert_eq!(shown()["head"]["label"], "dev:topic-1");
    pull.delete_fork();
    world.github.delete_user("ghost");
    assert_eq!(
        (&shown()["head"]["repo"], &shown()["user"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(shown()["head"]["user"]["login"], "dev");
    fits("pull-request-simple", &shown());
}

#[test]
fn labels_keep_their_spelling_and_compare_without_case() {
    let world = World::new();
    let pull = world.pull();
    let first = pull.label("OpenHands-Review", "dev");
    pull.unlabel("openhands-review", "dev");
    let second = pull.label("openhands-review", "dev");
    assert!(second > first);
    assert_eq!(pull.labels(), ["OpenHands-Review"]);
    let events = world.get("/repos/acme/widget/issues/1/events").json();
    assert_eq!(events[2]["label"]["name"], "openhands-review");
}

#[test]
fn access_is_refused_in_different_ways() {
    let world = World::new();
    world.pull();
    let path = "/repos/acme/widget";
    let with = |token: &str| {
        Call::get(&world.url(path))
            .header("user-agent", "t")
            .bearer(token)
            .send()
            .unwrap()
    };
    assert_eq!(with("wrong").status, 401);
    assert_eq!(with("wrong").json()["message"], "Bad credentials");
    let nobody = Call::get(&world.url(path))
        .header("user-agent", "t")
        .send()
        .unwrap();
    assert_eq!(nobody.status, 200, "public repositories need no token");
    world.repo.make_private(["acme-bot"]);
    world.github.token("ghp_2", "stranger");
    assert_eq!((with("ghp_1").status, with("ghp_2").status), (200, 404));
    world.repo.set_barrier(Barrier::Sso);
    let sso = with("ghp_1");
    assert_eq!(sso.status, 403);
    assert!(
        sso.header("x-github-sso")
            .unwrap()
            .starts_with("required; url=")
    );
    world.repo.set_barrier(Barrier::IpAllowList);
    assert!(
        with("ghp_1").json()["message"]
            .as_str()
            .unwrap()
            .contains("IP allow list")
    );
    world.repo.set_barrier(Barrier::Legal);
    assert_eq!(with("ghp_1").status, 451);
    world.github.revoke("ghp_1");
    assert_eq!(with("ghp_1").status, 401);
    world.github.check().unwrap();
}

#[test]
fn a_request_without_a_user_agent_is_refused_and_told() {
    let world = World::new();
    let answer = Call::get(&world.url("/user"))
        .bearer("ghp_1")
        .send()
        .unwrap();
    assert_eq!(answer.status, 403);
    assert!(
        world
            .github
            .check()
            .unwrap_err()
            .to_string()
            .contains("no User-Agent")
    );
}

#[test]
fn a_former_name_leads_on() {
    let world = World::new();
    world.pull();
    world.repo.rename("acme/gadget");
    let id = world.repo.id();
    let answer = world.get("/repos/acme/widget/pulls?state=open");
    assert_eq!(answer.status, 301);
    let location = answer.header("location").unwrap();
    assert_eq!(
        location,
        world.url(&format!("/repositories/{id}/pulls?state=open"))
    );
    assert_eq!(
        world.get(location).json()[0]["base"]["repo"]["full_name"],
        "acme/gadget"
    );
    let answer = world.post(
        "/repos/acme/widget/issues/1/comments",
        &json!({"body": "x"}),
    );
    assert_eq!(answer.status, 307);
    let location = answer.header("location").unwrap().to_owned();
    assert_eq!(world.post(&location, &json!({"body": "x"})).status, 201);
}

#[test]
fn an_enterprise_server_answers_below_its_path() {
    let github = GitHub::start_enterprise().unwrap();
    github.token("t", "bot");
    github.repo("acme/widget").open_pull(NewPull::titled("x"));
    assert!(github.api_url().ends_with("/api/v3"));
    let get = |url: &str| {
        Call::get(url)
            .bearer("t")
            .header("user-agent", "t")
            .send()
            .unwrap()
    };
    let answer = get(&format!(
        "{}/repos/acme/widget/pulls?per_page=1",
        github.api_url()
    ));
    assert!(
        answer.json()[0]["url"]
            .as_str()
            .unwrap()
            .starts_with(&github.api_url())
    );
    github.check().unwrap();
    assert_eq!(get(&github.server().url("/repos/acme/widget")).status, 404);
    assert!(github.check().is_err());
}

#[test]
fn files_are_read_at_a_commit() {
    let world = World::new();
    let pull = world
        .repo
        .open_pull(NewPull::titled("x").files([(".agents/guide.md", "theirs")]));
    world.repo.commit_to("main", [(".agents/guide.md", "ours")]);
    let raw = |reference: &str| {
        let path = world.url(&format!(
            "/repos/acme/widget/contents/.agents/guide.md{reference}"
        ));
        let call = Call::get(&path).bearer("ghp_1").header("user-agent", "t");
        call.header("accept", "application/vnd.github.raw+json")
            .send()
            .unwrap()
    };
    assert_eq!(raw("").text(), "ours");
    assert_eq!(raw("?ref=main").text(), "ours");
    assert_eq!(raw(&format!("?ref={}", pull.head_sha())).text(), "theirs");
    assert_eq!(raw("?ref=nowhere").status, 404);
    let list = world.get("/repos/acme/widget/contents/").json();
    assert_eq!(
        (&list[0]["name"], &list[0]["type"]),
        (&json!(".agents"), &json!("dir"))
    );
    assert_eq!(world.get("/repos/acme/widget/contents/none").status, 404);
    let file = world
        .get("/repos/acme/widget/contents/.agents/guide.md")
        .json();
    assert_eq!(
        (&file["content"], &file["encoding"]),
        (&json!("b3Vycw=="), &json!("base64"))
    );
}

#[test]
fn a_new_head_is_seen_and_a_forced_one_replaces_the_old() {
    let world = World::new();
    let pull = world.pull();
    let first = pull.head_sha();
    let second = pull.push_commit([("a.txt", "a")]);
    assert_eq!(pull.head_sha(), second);
    assert_eq!(world.get("/repos/acme/widget/pulls/1").json()["commits"], 2);
    let third = pull.force_push([("b.txt", "b")]);
    assert_eq!(
        world.get("/repos/acme/widget/pulls").json()[0]["head"]["sha"],
        third
    );
    assert_ne!(first, third);
    let diff = Call::get(&world.url("/repos/acme/widget/pulls/1"))
        .header("user-agent", "t")
        .header("accept", "application/vnd.github.diff");
    let text = diff.send().unwrap().text();
    assert!(
        text.starts_with("diff --git a/b.txt b/b.txt\n--- /dev/null\n"),
        "{text}"
    );
}

#[test]
fn comments_are_listed_from_a_moment_on() {
    let world = World::new();
    let pull = world.pull();
    pull.comment("early", "dev");
    world.github.advance(10.0);
    pull.comment("late", "dev");
    let bodies = |query: &str| {
        let list = world
            .get(&format!("/repos/acme/widget/issues/1/comments{query}"))
            .json();
        let bodies = list
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["body"].to_string());
        bodies.collect::<String>()
    };
    assert_eq!(bodies(""), r#""early""late""#);
    assert_eq!(bodies("?since=2026-08-18T09:00:10Z"), r#""late""#);
    assert_eq!(bodies("?since=2026-08-18T09:00:11Z"), "");
}

#[test]
fn an_app_asks_graphql_whose_token_it_has() {
    let world = World::new();
    world.github.app_token("ghs_1", "acme-app[bot]");
    let url = world.url("/user");
    let user = Call::get(&url)
        .bearer("ghs_1")
        .header("user-agent", "t")
        .send()
        .unwrap();
    assert_eq!(
        user.json()["message"],
        "Resource not accessible by integration"
    );
    let ask = |github: &GitHub, path: &str, query: &str| {
        let call = Call::post(&github.server().url(path), &json!({"query": query}));
        call.bearer("ghs_1")
            .header("user-agent", "t")
            .send()
            .unwrap()
            .json()
    };
    let answer = ask(&world.github, "/graphql", "query { viewer { login } }");
    assert_eq!(answer["data"]["viewer"]["login"], "acme-app[bot]");
    let enterprise = GitHub::start_enterprise().unwrap();
    enterprise.app_token("ghs_1", "acme-app[bot]");
    let answer = ask(&enterprise, "/api/graphql", "{viewer{login}}");
    assert_eq!(answer["data"]["viewer"]["login"], "acme-app[bot]");
    world.github.check().unwrap();
    ask(
        &world.github,
        "/graphql",
        "query { rateLimit { remaining } }",
    );
    assert!(world.github.check().is_err());
}
