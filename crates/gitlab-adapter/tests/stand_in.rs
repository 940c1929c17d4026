//! The adapter against the stand-in for GitLab: a model with state and real git behind a socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::time::Duration;

use gitlab_adapter::{GitLab, api_base, parse_project};
use http_client::{Client, NetworkEnv, Policy, Secret};
use lifecycle::moment::parse_rfc3339;
use lifecycle::ports::{ForgeError, IssueForge, MergeRequestDraft};
use testbed::faults::Fault;
use testbed::gitlab::{self, NewIssue};
use testbed::tls::PrivateCa;
use testbed::tree::files;

const NOW: f64 = 1_787_044_320.0;
const TOKEN: &str = "glpat-0123456789abcdef01";
const LABEL: &str = "openhands";
const PATH: &str = "group/team/sub/service";

/// A stand-in whose clock stands still, and its project.
fn world() -> (gitlab::GitLab, gitlab::Project) {
    let gitlab = gitlab::GitLab::start_below("/gitlab").unwrap();
    let project = settle(&gitlab);
    (gitlab, project)
}

fn settle(gitlab: &gitlab::GitLab) -> gitlab::Project {
    gitlab.set_now(NOW);
    gitlab.token(TOKEN, "acme-bot");
    let project = gitlab.project(PATH).unwrap();
    project.set_member("acme-bot", 30);
    project
}

fn adapter(gitlab: &gitlab::GitLab) -> GitLab {
    adapter_in(gitlab, NetworkEnv::default())
}

fn adapter_in(gitlab: &gitlab::GitLab, env: NetworkEnv) -> GitLab {
    let policy = Policy {
        retry_pause: Duration::from_millis(1),
        env,
        ..Policy::default()
    };
    let api = api_base(&gitlab.url()).unwrap();
    let project = parse_project(PATH, &api).unwrap();
    GitLab::new(
        Client::new(policy).unwrap(),
        api,
        project,
        Secret::new(TOKEN),
    )
    .as_of(NOW)
}

fn draft(branch: &str) -> MergeRequestDraft {
    MergeRequestDraft {
        source_branch: branch.to_owned(),
        target_branch: "main".to_owned(),
        title: "Draft: Retry uploads".to_owned(),
        description: "Closes #1\n\n<!-- marker -->".to_owned(),
    }
}

#[tokio::test]
async fn a_project_below_a_path_behind_a_private_authority() {
    let ca = PrivateCa::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cert_file = Some(ca.write_to(folder.path()).unwrap());
    let gitlab = gitlab::GitLab::start_tls("/gitlab", &ca).unwrap();
    let there = settle(&gitlab);
    let forge = adapter_in(
        &gitlab,
        NetworkEnv {
            cert_file,
            ..NetworkEnv::default()
        },
    );
    let project = forge.project().await.unwrap();
    assert_eq!((project.id, project.path.as_str()), (there.id(), PATH));
    assert_eq!(project.default_branch.as_deref(), Some("main"));
    assert_eq!(project.http_url, there.clone_url());
    assert_eq!((project.access_level, project.moved_to), (Some(30), None));
    // Without the authority there is no trust, and the error says what to set.
    let error = adapter(&gitlab).project().await.unwrap_err();
    assert!(error.to_string().contains("SSL_CERT_FILE"), "{error}");
    gitlab.check().unwrap();
}

#[tokio::test]
async fn projects_that_take_no_work() {
    let (gitlab, project) = world();
    let forge = adapter(&gitlab);
    project.archive();
    project.enable_issues(false);
    project.leave_roles_unstated();
    let read = forge.project().await.unwrap();
    assert_eq!(
        (read.archived, read.issues_enabled, read.access_level),
        (true, false, None)
    );
    project.enable_repository(false);
    let read = forge.project().await.unwrap();
    assert!(!read.repository_enabled);
    let error = forge.list_labelled(LABEL).await.unwrap_err();
    assert!(matches!(error, ForgeError::NoAccess { .. }), "{error}");
    gitlab.check().unwrap();
}

#[tokio::test]
async fn access_problems_are_told_apart() {
    let (gitlab, project) = world();
    let forge = adapter(&gitlab);
    project.remove_member("acme-bot");
    for error in [
        forge.project().await.unwrap_err(),
        forge.issue(1).await.unwrap_err(),
        forge.list_labelled(LABEL).await.unwrap_err(),
        forge.branch_exists("x").await.unwrap_err(),
    ] {
        assert!(matches!(error, ForgeError::NoAccess { .. }), "{error}");
    }
    project.set_member("acme-bot", 30);
    let issue = project.open_issue(NewIssue::titled("One"));
    gitlab.read_only_token(TOKEN, "acme-bot");
    let error = forge.note(issue.iid(), "x").await.unwrap_err();
    assert!(
        error.to_string().contains("the token needs the scope api"),
        "{error}"
    );
    gitlab.revoke(TOKEN);
    let error = forge.project().await.unwrap_err();
    assert!(matches!(error, ForgeError::BadToken { .. }), "{error}");
    assert!(!error.to_string().contains(TOKEN), "{error}");
}

#[tokio::test]
async fn who_the_token_is_and_what_others_may() {
    let (gitlab, project) = world();
    let forge = adapter(&gitlab);
    let identity = forge.identity().await.unwrap();
    assert_eq!(identity.username, "acme-bot");
    assert!(identity.email.contains('@'));
    assert_eq!(forge.identity().await.unwrap(), identity);
    assert_eq!(gitlab.server().log().count("GET", "/user"), 1);
    let (alice, bob) = (gitlab.user("alice"), gitlab.user("bob"));
    project.set_group_member("alice", 20);
    assert_eq!(forge.access_level(alice).await, Ok(Some(20)));
    assert_eq!(forge.access_level(bob).await, Ok(None));
    assert_eq!(forge.access_level(999_999).await, Ok(None));
    gitlab.check().unwrap();
}

#[tokio::test]
async fn labelled_issues_on_all_pages() {
    let (gitlab, project) = world();
    gitlab.set_totals(false);
    for number in 0..250 {
        let issue = project.open_issue(NewIssue::titled(&format!("Issue {number}")));
        issue.label("agent::todo", "alice");
        if number % 2 == 0 {
            issue.label("a, b", "alice");
        }
    }
    project.issue(3).unwrap().close();
    let forge = adapter(&gitlab);
    assert_eq!(
        forge
            .list_labelled("agent::todo")
            .await
            .unwrap()
            .items
            .len(),
        249
    );
    assert_eq!(gitlab.server().log().len(), 3);
    let listing = forge.list_labelled("a, b").await.unwrap();
    assert_eq!((listing.items.len(), listing.warnings.len()), (124, 0));
    assert!(
        listing
            .items
            .iter()
            .all(|issue| issue.open && issue.labels.len() == 2)
    );
    gitlab
        .server()
        .faults()
        .add(Fault::status(500).on("GET", "page=2"));
    let error = forge.list_labelled("agent::todo").await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    gitlab.check().unwrap();
}

#[tokio::test]
async fn a_label_in_the_project_s_own_spelling() {
    let (gitlab, project) = world();
    let forge = adapter(&gitlab);
    assert_eq!(forge.label_spelling(LABEL).await, Ok(None));
    for number in 0..120 {
        project.create_label(&format!("openhands {number}"));
    }
    assert_eq!(forge.label_spelling(LABEL).await, Ok(None));
    project.create_group_label("OpenHands");
    assert_eq!(
        forge.label_spelling(LABEL).await,
        Ok(Some("OpenHands".to_owned()))
    );
    project.create_label(LABEL);
    assert_eq!(
        forge.label_spelling(LABEL).await,
        Ok(Some(LABEL.to_owned()))
    );
    gitlab.check().unwrap();
}

#[tokio::test]
async fn a_merge_request_that_is_still_prepared_has_no_commit_yet() {
    let (gitlab, project) = world();
    let branch = "openhands/issue-1";
    project
        .commit_to(branch, "Work", files([("a.txt", "a")]))
        .unwrap();
    project.prepare_merge_requests_slowly(2);
    let forge = adapter(&gitlab);
    assert_eq!(
        forge.open_merge_request(&draft(branch)).await.unwrap().sha,
        None
    );
    assert_eq!(forge.merge_requests(branch).await.unwrap()[0].sha, None);
    assert_eq!(
        forge.merge_requests(branch).await.unwrap()[0].sha,
        project.tip(branch)
    );
    gitlab.check().unwrap();
}

#[tokio::test]
async fn the_newest_event_counts_in_any_time_zone() {
    let (gitlab, project) = world();
    gitlab.set_hours_ahead(2);
    let issue = project.open_issue(NewIssue::titled("One"));
    let forge = adapter(&gitlab);
    assert_eq!(forge.newest_label_event(issue.iid(), LABEL).await, Ok(None));
    issue.label("gone", "alice");
    project.delete_label("gone");
    issue.label(LABEL, "alice");
    issue.add_noise(220);
    issue.unlabel(LABEL, "alice");
    gitlab.advance(60.0);
    let newest = issue.label(LABEL, None);
    let event = forge
        .newest_label_event(issue.iid(), "OpenHands")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (event.id, event.actor_id, event.actor),
        (newest, None, None)
    );
    assert_eq!(parse_rfc3339(&event.created_at), Some(NOW + 60.0));
    gitlab.check().unwrap();
}

#[tokio::test]
async fn an_issue_is_read_or_gone() {
    let (gitlab, project) = world();
    let issue = project.open_issue(NewIssue::titled("Größe 🚀"));
    issue.label(LABEL, "alice");
    let forge = adapter(&gitlab);
    let read = forge.issue(issue.iid()).await.unwrap().unwrap();
    assert_eq!(
        (read.title.as_str(), read.open, read.labels),
        ("Größe 🚀", true, vec![LABEL.to_owned()])
    );
    assert_eq!(
        read.web_url,
        format!("{}/-/issues/{}", project.web_url(), issue.iid())
    );
    issue.close();
    assert!(!forge.issue(issue.iid()).await.unwrap().unwrap().open);
    issue.delete();
    assert_eq!(forge.issue(issue.iid()).await, Ok(None));
    gitlab.check().unwrap();
}

#[tokio::test]
async fn notes_are_posted_once_and_found_by_their_marker() {
    let (gitlab, project) = world();
    let issue = project.open_issue(NewIssue::titled("One"));
    let marker = "<!-- task 1:label:2 start -->";
    issue.comment(marker, "stranger");
    let forge = adapter(&gitlab);
    assert_eq!(forge.find_note(issue.iid(), marker, NOW).await, Ok(None));
    forge
        .note(issue.iid(), &format!("Started.\n\n{marker}"))
        .await
        .unwrap();
    let posted = issue.notes().last().unwrap().id;
    gitlab.advance(120.0);
    for number in 0..120 {
        issue.comment(&format!("chatter {number}"), "alice");
    }
    let found = forge.find_note(issue.iid(), marker, NOW).await.unwrap();
    assert_eq!(
        found,
        Some(format!(
            "{}/-/issues/{}#note_{posted}",
            project.web_url(),
            issue.iid()
        ))
    );
    assert_eq!(
        forge.find_note(issue.iid(), marker, NOW + 100.0).await,
        Ok(None)
    );
    gitlab
        .server()
        .faults()
        .add(Fault::answer_lost().on("POST", "/notes"));
    let error = forge.note(issue.iid(), "Again").await.unwrap_err();
    assert!(matches!(error, ForgeError::Unavailable { .. }), "{error}");
    assert_eq!(
        issue
            .notes()
            .iter()
            .filter(|note| note.body == "Again")
            .count(),
        1
    );
    gitlab.check().unwrap();
}

#[tokio::test]
async fn a_merge_request_is_opened_once_and_found() {
    let (gitlab, project) = world();
    let branch = "openhands/issue-1";
    let forge = adapter(&gitlab);
    assert_eq!(forge.branch_exists(branch).await, Ok(false));
    assert_eq!(forge.branch_exists("main").await, Ok(true));
    let base = project.tip("main").unwrap();
    let error = forge.open_merge_request(&draft(branch)).await.unwrap_err();
    assert!(matches!(error, ForgeError::Refused { .. }), "{error}");
    project
        .commit_to(branch, "Work", files([("a.txt", "a")]))
        .unwrap();
    assert_eq!(forge.branch_exists(branch).await, Ok(true));
    let opened = forge.open_merge_request(&draft(branch)).await.unwrap();
    assert_eq!(
        (opened.state.as_str(), opened.same_project),
        ("opened", true)
    );
    assert_eq!(opened.description, draft(branch).description);
    assert_eq!(opened.author.as_deref(), Some("acme-bot"));
    for (older, status) in [(false, 409), (true, 422)] {
        gitlab.set_older(older);
        let error = forge.open_merge_request(&draft(branch)).await.unwrap_err();
        assert!(
            matches!(error, ForgeError::Refused { status: s, .. } if s == status),
            "{error}"
        );
    }
    let found = forge.merge_requests(branch).await.unwrap();
    assert_eq!(
        found.iter().map(|one| one.iid).collect::<Vec<_>>(),
        [opened.iid]
    );
    let head = project.tip(branch).unwrap();
    assert_eq!(found[0].sha.as_deref(), Some(head.as_str()));
    assert_eq!(forge.contains(&head, &base).await, Ok(true));
    assert_eq!(forge.contains(&base, &head).await, Ok(false));
    assert_eq!(forge.contains(&"0".repeat(40), &base).await, Ok(false));
    assert_eq!(forge.merge_requests("main").await, Ok(vec![]));
    gitlab.check().unwrap();
}

#[tokio::test]
async fn a_moved_project_is_followed_and_named() {
    let (gitlab, project) = world();
    let issue = project.open_issue(NewIssue::titled("One"));
    issue.label(LABEL, "alice");
    project.rename("group/renamed");
    let forge = adapter(&gitlab);
    let listing = forge.list_labelled(LABEL).await.unwrap();
    assert_eq!(
        (listing.items.len(), listing.moved_to.as_deref()),
        (1, Some("group/renamed"))
    );
    forge.note(issue.iid(), "<!-- m -->").await.unwrap();
    let found = forge
        .find_note(issue.iid(), "<!-- m -->", NOW)
        .await
        .unwrap()
        .unwrap();
    assert!(
        found.starts_with(&format!(
            "{}/gitlab/group/renamed/-/issues/",
            gitlab.server().base_url()
        )),
        "{found}"
    );
    // A write that comes first learns the number by itself.
    adapter(&gitlab).note(issue.iid(), "Again").await.unwrap();
    assert_eq!(
        issue
            .notes()
            .iter()
            .filter(|note| note.body == "Again")
            .count(),
        1
    );
    let read = adapter(&gitlab).project().await.unwrap();
    assert_eq!(read.moved_to.as_deref(), Some("group/renamed"));
    gitlab.check().unwrap();
}

#[tokio::test]
async fn limits_end_the_work_on_this_gitlab() {
    let (gitlab, _project) = world();
    gitlab.refuse_next(1, Some(57));
    let error = adapter(&gitlab).project().await.unwrap_err();
    let ForgeError::Limited {
        resets_at: Some(at),
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert!((at - NOW - 57.0).abs() < 5.0, "{at}");
}
