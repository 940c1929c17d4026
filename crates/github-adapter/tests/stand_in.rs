//! The adapter against the stand-in for GitHub: a model with state behind a real socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::time::Duration;

use github_adapter::{GitHub, api_base, parse_repo};
use http_client::{Client, Policy, Secret};
use lifecycle::ports::{CheckoutError, ForgeError, ReviewForge};
use testbed::faults::Fault;
use testbed::github::{self, Archive, Barrier, NewPull, Refusal, ReviewState};

const NOW: f64 = 1_787_044_320.0;
const TOKEN: &str = "ghp_0123456789abcdef0123";
const LABEL: &str = "openhands-review";

/// A stand-in whose clock stands still, and its repository.
fn world() -> (github::GitHub, github::Repository) {
    let github = github::GitHub::start().unwrap();
    github.set_now(NOW);
    github.token(TOKEN, "acme-bot");
    let repo = github.repo("acme/widget");
    (github, repo)
}

fn adapter(github: &github::GitHub, repo: &str) -> GitHub {
    let policy = Policy {
        retry_pause: Duration::from_millis(1),
        ..Policy::default()
    };
    let api = api_base(&github.api_url()).unwrap();
    let name = parse_repo(repo, &api).unwrap();
    GitHub::new(Client::new(policy).unwrap(), api, name, Secret::new(TOKEN)).as_of(NOW)
}

fn asked(github: &github::GitHub) -> Vec<String> {
    let base = |line: String| {
        line.split(" -> ")
            .next()
            .unwrap()
            .split_once(' ')
            .unwrap()
            .1
            .to_owned()
    };
    github
        .server()
        .log()
        .lines()
        .into_iter()
        .map(base)
        .collect()
}

#[tokio::test]
async fn one_request_lists_what_is_open() {
    let (github, repo) = world();
    let first = repo.open_pull(NewPull::titled("One"));
    first.label("OpenHands-Review", "alice");
    let second = repo.open_pull(NewPull::titled("Two").from_fork("dev/widget").draft());
    second.delete_fork();
    repo.open_pull(NewPull::titled("Three")).close("alice");
    let listing = adapter(&github, "acme/widget").list_open().await.unwrap();
    let mut seen: Vec<_> = listing
        .items
        .iter()
        .map(|p| (p.number, p.draft, p.labels.clone()))
        .collect();
    seen.sort();
    let labels = vec!["OpenHands-Review".to_owned()];
    assert_eq!(
        seen,
        [
            (first.number(), false, labels),
            (second.number(), true, vec![])
        ]
    );
    assert_eq!((listing.warnings.len(), listing.moved_to), (0, None));
    assert_eq!(github.server().log().len(), 1);
    github.check().unwrap();
}

#[tokio::test]
async fn all_pages_are_read_and_a_failed_one_fails_the_list() {
    let (github, repo) = world();
    for number in 0..250 {
        repo.open_pull(NewPull::titled(&format!("Change {number}")));
    }
    let forge = adapter(&github, "acme/widget");
    assert_eq!(forge.list_open().await.unwrap().items.len(), 250);
    assert_eq!(github.server().log().len(), 3);
    github
        .server()
        .faults()
        .add(Fault::status(500).on("GET", "page=3"));
    let error = forge.list_open().await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    github.check().unwrap();
}

#[tokio::test]
async fn the_newest_event_is_found_from_the_end() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    let forge = adapter(&github, "acme/widget");
    assert_eq!(
        forge.newest_label_event(pull.number(), LABEL).await,
        Ok(None)
    );
    let early = pull.label(LABEL, "alice");
    pull.add_noise(450);
    // On the first page, so all five are read, each once.
    github.server().log().clear();
    let event = forge
        .newest_label_event(pull.number(), LABEL)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((event.id, event.actor.as_deref()), (early, Some("alice")));
    assert_eq!(github.server().log().len(), 5);
    // On the last one.
    pull.unlabel(LABEL, "alice");
    let late = pull.label("OPENHANDS-REVIEW", None);
    github.server().log().clear();
    let event = forge
        .newest_label_event(pull.number(), LABEL)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((event.id, event.actor), (late, None));
    let pages = asked(&github);
    assert_eq!(pages.len(), 2, "{pages:?}");
    assert!(pages[1].ends_with("page=5"), "{pages:?}");
    github.check().unwrap();
}

#[tokio::test]
async fn a_pull_request_in_full_or_gone() {
    let (github, repo) = world();
    let pull = repo.open_pull(
        NewPull::titled("Retry")
            .body("Why.")
            .by("dev")
            .from_fork("dev/widget"),
    );
    pull.set_size(5, 120, 7);
    let forge = adapter(&github, "acme/widget");
    let details = forge.pull(pull.number()).await.unwrap().unwrap();
    assert_eq!(details.pull.head_sha, pull.head_sha());
    assert_eq!((details.open, details.from_fork), (true, true));
    assert_eq!(
        (details.title.as_str(), details.body.as_str()),
        ("Retry", "Why.")
    );
    assert_eq!(details.author.as_deref(), Some("dev"));
    assert_eq!(
        (details.changed_files, details.additions, details.deletions),
        (Some(5), Some(120), Some(7))
    );
    pull.vanish();
    assert_eq!(forge.pull(pull.number()).await, Ok(None));
    github.check().unwrap();
}

#[tokio::test]
async fn a_pull_request_of_a_hidden_repository_is_not_gone() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    repo.make_private([]);
    let forge = adapter(&github, "acme/widget");
    let error = forge.pull(pull.number()).await.unwrap_err();
    assert!(matches!(error, ForgeError::NoAccess { .. }), "{error}");
    let error = forge.archive(&pull.head_sha(), 1 << 20).await.unwrap_err();
    assert!(
        matches!(error, CheckoutError::Forge(ForgeError::NoAccess { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn access_problems_are_told_apart() {
    let (github, repo) = world();
    let forge = adapter(&github, "acme/widget");
    let failure = async || forge.list_open().await.unwrap_err();
    for (barrier, word) in [
        (
            Barrier::Sso,
            "single sign-on at https://github.com/orgs/acme/sso)",
        ),
        (Barrier::IpAllowList, "IP allow list"),
        (Barrier::Legal, "blocked"),
    ] {
        repo.set_barrier(barrier);
        let error = failure().await;
        assert!(matches!(error, ForgeError::NoAccess { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    repo.set_barrier(Barrier::None);
    repo.make_private([]);
    assert!(failure().await.to_string().contains("may not see it"));
    github.revoke(TOKEN);
    let error = failure().await;
    assert!(matches!(error, ForgeError::BadToken { .. }), "{error}");
    assert!(!error.to_string().contains(TOKEN));
}

#[tokio::test]
async fn limits_name_the_moment_they_end() {
    let (github, _repo) = world();
    for (refusal, ends) in [
        (Refusal::Secondary(Some(57)), 57.0),
        (Refusal::TooMany(Some(30)), 30.0),
        (Refusal::Secondary(None), 60.0),
        (Refusal::Exhausted(4_000_000_000), 4_000_000_000.0 - NOW),
    ] {
        github.refuse_next(1, refusal);
        let error = adapter(&github, "acme/widget")
            .list_open()
            .await
            .unwrap_err();
        let ForgeError::Limited {
            resets_at: Some(at),
            ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert!((at - NOW - ends).abs() < 5.0, "{refusal:?}: {at}");
    }
    github.refuse_next(1, Refusal::Secondary(Some(57)));
    let error = adapter(&github, "acme/widget")
        .comment(1, "x")
        .await
        .unwrap_err();
    assert!(error.is_limited(), "{error}");
}

#[tokio::test]
async fn a_published_review_of_the_commit_by_the_token_s_user_is_found() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    let head = pull.head_sha();
    let forge = adapter(&github, "acme/widget");
    let find = async || {
        forge
            .published_review(pull.number(), &head, NOW)
            .await
            .unwrap()
    };
    pull.review("alice", ReviewState::Commented, "x", None);
    pull.review("acme-bot", ReviewState::Pending, "x", None);
    assert_eq!(find().await, None);
    let stale = pull.review("acme-bot", ReviewState::Commented, "x", None);
    pull.push_commit([("a", "b")]);
    let now = pull.head_sha();
    assert_eq!(
        forge.published_review(pull.number(), &now, NOW).await,
        Ok(None)
    );
    assert_eq!(find().await.map(|review| review.id), Some(stale));
    assert_eq!(
        forge
            .published_review(pull.number(), &head, NOW + 300.0)
            .await,
        Ok(None)
    );
    assert_eq!(github.server().log().count("GET", "/user"), 1);
    github.check().unwrap();
}

#[tokio::test]
async fn comments_are_posted_once_and_found_by_their_marker() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    let marker = "<!-- task 1:label:2 ack -->";
    pull.comment(marker, "stranger");
    let forge = adapter(&github, "acme/widget");
    assert_eq!(
        forge.find_comment(pull.number(), marker, NOW).await,
        Ok(None)
    );
    let address = forge
        .comment(pull.number(), &format!("Started.\n{marker}"))
        .await
        .unwrap();
    for number in 0..220 {
        pull.comment(&format!("chatter {number}"), "alice");
    }
    let found = forge
        .find_comment(pull.number(), marker, NOW)
        .await
        .unwrap();
    assert_eq!(found.as_deref(), Some(address.as_str()));
    let later = forge.find_comment(pull.number(), marker, NOW + 60.0).await;
    assert_eq!(later, Ok(None));
    github
        .server()
        .faults()
        .add(Fault::answer_lost().on("POST", "/comments"));
    let error = forge.comment(pull.number(), "Again").await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    let again = pull
        .comments()
        .iter()
        .filter(|posted| posted.body == "Again")
        .count();
    assert_eq!(again, 1);
}

#[tokio::test]
async fn an_app_knows_its_own_comments_and_reviews() {
    let (github, repo) = world();
    github.app_token(TOKEN, "acme-ci[bot]");
    let pull = repo.open_pull(NewPull::titled("One"));
    let head = pull.head_sha();
    let marker = "<!-- task 1:label:2 ack -->";
    let forge = adapter(&github, "acme/widget");
    for stranger in ["acme-ci", "other[bot]"] {
        pull.comment(marker, stranger);
        pull.review(stranger, ReviewState::Commented, "x", None);
    }
    assert_eq!(
        forge.find_comment(pull.number(), marker, NOW).await,
        Ok(None)
    );
    assert_eq!(
        forge.published_review(pull.number(), &head, NOW).await,
        Ok(None)
    );
    let address = forge.comment(pull.number(), marker).await.unwrap();
    assert_eq!(
        forge.find_comment(pull.number(), marker, NOW).await,
        Ok(Some(address))
    );
    let review = pull.review("acme-ci[bot]", ReviewState::Commented, "x", None);
    let found = forge
        .published_review(pull.number(), &head, NOW)
        .await
        .unwrap();
    assert_eq!(found.map(|found| found.id), Some(review));
    github.check().unwrap();
}

#[tokio::test]
async fn a_refused_comment_says_why() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    let forge = adapter(&github, "acme/widget");
    let error = forge
        .comment(pull.number(), &"x".repeat(70_000))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ForgeError::Refused { status: 422, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("too long"), "{error}");
    repo.archive();
    let error = forge.comment(pull.number(), "x").await.unwrap_err();
    assert!(matches!(error, ForgeError::NoAccess { .. }), "{error}");
    assert_eq!(pull.comments().len(), 0);
}

#[tokio::test]
async fn a_renamed_repository_is_followed_and_named() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    repo.rename("acme/new-name");
    let forge = adapter(&github, "acme/widget");
    let listing = forge.list_open().await.unwrap();
    assert_eq!(listing.moved_to.as_deref(), Some("acme/new-name"));
    assert_eq!(listing.items.len(), 1);
    forge.comment(pull.number(), "Done.").await.unwrap();
    assert_eq!(pull.comments().len(), 1);
    pull.close("alice");
    let listing = forge.list_open().await.unwrap();
    assert_eq!(
        (listing.items.len(), listing.moved_to.as_deref()),
        (0, Some("acme/new-name"))
    );
    github.check().unwrap();
}

#[tokio::test]
async fn files_are_read_at_a_commit_and_cut_at_a_character() {
    let (github, repo) = world();
    let sha = repo.commit_to(
        "main",
        [
            (".agents/skills/custom-codereview-guide.md", "# Guide\nÜben"),
            ("bin", "a\0b"),
            ("data.json", "[1]"),
        ],
    );
    let forge = adapter(&github, "acme/widget");
    let read = async |path: &str, max| forge.file_at(path, &sha, max).await.unwrap();
    let guide = ".agents/skills/custom-codereview-guide.md";
    assert_eq!(read(guide, 1_000).await.as_deref(), Some("# Guide\nÜben"));
    assert_eq!(read(guide, 9).await.as_deref(), Some("# Guide\n"));
    assert_eq!(read("data.json", 1_000).await.as_deref(), Some("[1]"));
    for absent in [".agents", "missing.md", "bin", "../README.md", ""] {
        assert_eq!(read(absent, 1_000).await, None, "{absent}");
    }
    let elsewhere = forge.file_at(guide, &"0".repeat(40), 1_000).await;
    assert_eq!(elsewhere, Ok(None));
}

#[tokio::test]
async fn an_archive_streams_and_a_commit_that_is_gone_is_told_from_the_rest() {
    let (github, repo) = world();
    let pull = repo.open_pull(NewPull::titled("One"));
    let head = pull.head_sha();
    repo.set_archive(&head, Archive::Bytes(vec![7; 300_000]));
    let forge = adapter(&github, "acme/widget");
    let mut stream = forge.archive(&head, 1 << 20).await.unwrap();
    let mut bytes = 0;
    while let Some(piece) = stream.chunk().await.unwrap() {
        bytes += piece.len();
    }
    assert_eq!(bytes, 300_000);
    // The token stays with the API, and the one-time token out of every text.
    let hop = github.codeload().log().last("GET", "/").unwrap();
    assert_eq!(hop.header("authorization"), None);
    github
        .codeload()
        .faults()
        .add(Fault::status(404).on("GET", "/"));
    let error = forge.archive(&head, 1 << 20).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Gone(_)), "{error}");
    github
        .codeload()
        .faults()
        .add(Fault::status(500).on("GET", "/"));
    let error = forge.archive(&head, 1 << 20).await.unwrap_err();
    assert!(
        matches!(error, CheckoutError::Forge(ForgeError::Unavailable { .. })),
        "{error}"
    );
    assert!(!error.to_string().contains("ONETIME"), "{error}");
    let mut stream = forge.archive(&head, 1_000).await.unwrap();
    let error = stream.chunk().await.unwrap_err().to_string();
    assert!(
        error.contains("1000 bytes") && !error.contains("ONETIME"),
        "{error}"
    );
    drop(stream);
    assert!(forge.archive("../../x", 1_000).await.is_err());
    github.check().unwrap();
}

#[tokio::test]
async fn an_enterprise_server_is_asked_below_its_path() {
    let github = github::GitHub::start_enterprise().unwrap();
    github.token(TOKEN, "acme-bot");
    let repo = github.repo("acme/widget");
    for number in 0..101 {
        repo.open_pull(NewPull::titled(&format!("Change {number}")));
    }
    let forge = adapter(&github, "acme/widget");
    assert_eq!(forge.list_open().await.unwrap().items.len(), 101);
    assert_eq!(
        forge.published_review(1, &"0".repeat(40), NOW).await,
        Ok(None)
    );
    github.check().unwrap();
}
