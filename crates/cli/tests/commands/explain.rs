//! `explain`: the forge, the document and the engine are asked, and nothing is changed.

use crate::place::{ID, Place, now};
use crate::process::tree;
use serde_json::json;
use testbed::feeds::{Feeds, Format, Story};
use testbed::github::{GitHub, NewPull};
use testbed::gitlab::{GitLab, NewIssue};
use testbed::kv::{Behaviour, KvStore};

const TOKEN: &str = "ghp_0123456789abcdef0123";

fn reviewer() -> (GitHub, Place) {
    let github = GitHub::start().unwrap();
    github.token(TOKEN, "acme-bot");
    let config = json!({
        "repos": ["acme/widget", "acme/other"], "github_api_url": github.api_url(),
        "max_new_per_run": 1,
    });
    let place = Place::new(&config);
    place
        .agent
        .set_secret("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
    (github, place)
}

fn explain(place: &Place, item: &str) -> String {
    let arguments = [
        "explain",
        "github-pr-reviewer",
        item,
        "--target",
        "acme/widget",
    ];
    place.command(&arguments).run().said(0).to_owned()
}

#[test]
fn pull_requests_in_every_condition() {
    let (github, place) = reviewer();
    let repo = github.repo("acme/widget");
    github.repo("acme/other");
    let first = repo.open_pull(NewPull::titled("First"));
    let event = first.label("openhands-review", "alice");
    let second = repo.open_pull(NewPull::titled("Second"));
    second.label("OpenHands-Review", "bob");
    let plain = repo.open_pull(NewPull::titled("Plain"));
    let before = tree(place.scratch.root());

    let text = explain(&place, &first.number().to_string());
    assert!(
        text.contains("The next run would start conversation"),
        "{text}"
    );
    assert!(
        text.contains(&format!("Label event {event}: put on by alice")),
        "{text}"
    );
    let text = explain(&place, &format!("#{}", second.number()));
    assert!(text.contains("`max_new_per_run` allows"), "{text}");
    let text = explain(
        &place,
        &format!("https://github.com/acme/widget/pull/{}", plain.number()),
    );
    assert!(
        text.contains("Put the label openhands-review on it"),
        "{text}"
    );
    let text = explain(&place, "77");
    assert!(text.contains("There is no such item"), "{text}");
    plain.label("openhands-review", "alice");
    plain.close("alice");
    let text = explain(&place, &plain.number().to_string());
    assert!(text.contains("Only what is open is looked at"), "{text}");

    assert_eq!(tree(place.scratch.root()), before);
    assert_eq!(place.agent.created(), 0);
    assert!(first.comments().is_empty());
    github.check().unwrap();
}

#[test]
fn a_record_is_shown_with_what_would_be_done_with_it() {
    let (github, place) = reviewer();
    let repo = github.repo("acme/widget");
    github.repo("acme/other");
    let pull = repo.open_pull(NewPull::titled("First"));
    let event = pull.label("openhands-review", "alice");
    let document = json!({
        "version": 3, "repo": "acme/widget",
        "reviews": {
            format!("{}:label:{event}", pull.number()): {
                "status": "active", "pr_number": pull.number(), "head_sha": pull.head_sha(),
                "conversation_id": "88cca966-d491-5284-af5f-c0cc9c836d60",
                "last_activity": now() - 700.0,
            },
        },
    });
    place.document(
        "github_pr_reviewer_label_event_a1_acme__widget.json",
        &document,
    );
    let text = explain(&place, &pull.number().to_string());
    assert!(text.contains("active since"), "{text}");
    assert!(
        text.contains("(11 min ago): a conversation is at work on it"),
        "{text}"
    );
    // The agent server does not know it (any more).
    assert!(
        text.contains("The next run would collect its result"),
        "{text}"
    );
    assert!(text.contains("The work is under way."), "{text}");
}

#[test]
fn a_target_has_to_be_named_when_there_are_several() {
    let (_github, place) = reviewer();
    let ended = place.command(&["explain", "github-pr-reviewer", "1"]).run();
    assert_eq!(ended.said(2), "");
    assert!(
        ended
            .stderr
            .contains("name one with --target: acme/widget, acme/other"),
        "{ended:?}"
    );
    let ended = place
        .command(&["explain", "github-pr-reviewer", "first"])
        .run();
    assert!(ended.stderr.contains("first is no number"), "{ended:?}");
    assert_eq!(ended.code, 2);
}

#[test]
fn a_forge_that_refuses_is_part_of_the_explanation() {
    let (github, place) = reviewer();
    github.repo("acme/widget").make_private(["somebody"]);
    let text = explain(&place, "1");
    assert!(text.contains("The next run would fail here"), "{text}");
}

#[test]
fn issues_that_may_not_be_triggered() {
    let gitlab = GitLab::start().unwrap();
    gitlab.user("bot");
    gitlab.user("guest");
    gitlab.token("glpat-good-0123456789ab", "bot");
    let project = gitlab.project("group/team/service").unwrap();
    project.set_member("bot", 30);
    project.set_member("guest", 10);
    let allowed = project.open_issue(NewIssue::titled("Allowed"));
    allowed.label("openhands", "bot");
    let refused = project.open_issue(NewIssue::titled("Refused"));
    refused.label("openhands", "guest");
    let config = json!({"projects": ["group/team/service"], "gitlab_api_url": gitlab.api_url()});
    let place = Place::new(&config);
    place
        .agent
        .set_secret("GITLAB_TOKEN", "glpat-good-0123456789ab");
    let explain = |iid: u64| {
        let arguments = ["explain", "gitlab-issue-to-mr", &iid.to_string()];
        place.command(&arguments).run().said(0).to_owned()
    };
    let text = explain(allowed.iid());
    assert!(
        text.contains("The next run would start conversation"),
        "{text}"
    );
    let text = explain(refused.iid());
    assert!(
        text.contains("Who applied the label may not ask for work here"),
        "{text}"
    );
    assert!(text.contains("access level 10, 20 is asked for"), "{text}");
}

#[test]
fn days_of_news() {
    let feeds = Feeds::start().unwrap();
    let story = Story::new("1", "One", "https://example.com/1").published(now() - 3600.0);
    let feed = feeds.feed("/feed.xml", "News", Format::Rss, &[story]);
    let kv = KvStore::start(Behaviour::Strict).unwrap();
    let place = Place::new(&json!({"feeds": [feed, feeds.status("/down.xml", 500)]}));
    let explain = |day: &str| {
        place
            .command(&["explain", "news-digest", day])
            .env("AUTOMATION_API_URL", kv.api_url())
            .env("AUTOMATION_KV_TOKEN", kv.token(ID))
            .run()
            .said(0)
            .to_owned()
    };
    let text = explain("today");
    assert!(
        text.contains("The next run would start conversation"),
        "{text}"
    );
    assert!(
        text.contains("The feeds hold 1 story: 1 not told yet, 1 of those fresh."),
        "{text}"
    );
    assert!(text.contains("/down.xml: HTTP 500"), "{text}");
    let text = explain("2026-08-01");
    assert!(
        text.contains("A run tells the stories of today only"),
        "{text}"
    );
    assert!(kv.keys(ID).is_empty(), "nothing was written");
}
