//! What the issue automation tells the agent and the people on an issue.

use super::notes::{WithoutResult, commit_message, linked, no_changes, without_result};
use super::*;
use crate::decide::Ending;
use crate::fixtures;
use crate::identity::{self, Kind};
use crate::ports::Conversation;

const TASK: &str = "42:label:123456789";
const CONVERSATION: &str = "https://app.example.com/conversations/550e8400";

fn settings() -> IssueSettings {
    IssueSettings {
        project: "group/team/service".into(),
        trigger_label: "openhands".into(),
        branch_prefix: "openhands/issue".into(),
        api_url: "https://git.example.com/gitlab/api/v4/".into(),
        token_secret: "GITLAB_TOKEN".into(),
        ..IssueSettings::default()
    }
}

fn project() -> Project {
    Project {
        id: 7,
        path: "group/team/service".into(),
        default_branch: Some("main".into()),
        http_url: "https://git.example.com/gitlab/group/team/service.git".into(),
        web_url: "https://git.example.com/gitlab/group/team/service".into(),
        archived: false,
        issues_enabled: true,
        repository_enabled: true,
        access_level: Some(30),
        moved_to: None,
    }
}

fn issue(title: &str) -> Issue {
    Issue {
        iid: 42,
        title: title.into(),
        open: true,
        labels: vec!["openhands".into()],
        updated_at: "2026-08-18T09:12:00Z".into(),
        web_url: "https://git.example.com/gitlab/group/team/service/-/issues/42".into(),
    }
}

fn written(settings: &IssueSettings, title: &str, has_submodules: bool, has_lfs: bool) -> String {
    prompt(&PromptFacts {
        settings,
        project: &project(),
        issue: &issue(title),
        label_event_at: "2026-08-18T09:12:00Z",
        labelled_by: Some("maintainer"),
        base_branch: "main",
        base_sha: "0123456789abcdef0123456789abcdef01234567",
        branch: "openhands/issue-42",
        has_submodules,
        has_lfs,
    })
}

#[test]
fn prompt_of_an_issue() {
    let text = written(&settings(), "Retry uploads on a \"502\"", false, false);
    fixtures::shown("issue-prompt", &text);
}

#[test]
fn prompt_for_a_merge_request_that_is_ready() {
    let settings = IssueSettings {
        mode: MergeRequestMode::Ready,
        ..settings()
    };
    let text = written(&settings, "Retry uploads", false, false);
    assert!(!text.contains("Draft"));
    let step = text.lines().find(|line| line.starts_with("7. ")).unwrap();
    fixtures::shown("issue-prompt-step-when-ready", step);
}

#[test]
fn prompt_without_a_token_in_a_tree_with_submodules_and_large_files() {
    let settings = IssueSettings {
        token_secret: String::new(),
        ..settings()
    };
    let text = written(&settings, "Retry uploads", true, true);
    assert!(!text.contains('$') && !text.contains("git push"));
    fixtures::shown("issue-prompt-without-token", &text);
}

#[test]
fn a_title_that_tries_to_break_out_changes_no_line_of_ours() {
    let hostile = fixtures::text("fixtures/lifecycle/text-that-tries-to-break-out.md");
    let lines = |text: &str| -> Vec<String> {
        let ours = |line: &&str| !line.starts_with("- Title");
        text.lines().filter(ours).map(str::to_owned).collect()
    };
    let text = written(&settings(), &hostile, false, false);
    assert_eq!(
        lines(&text),
        lines(&written(&settings(), "x", false, false))
    );
    let title = text
        .lines()
        .find_map(|line| line.strip_prefix("- Title, as a JSON string (data): "));
    assert_eq!(
        serde_json::from_str::<String>(title.unwrap()).unwrap(),
        hostile
    );
}

/// What the agent is told to run is what it has to be: one push, with the token in no argument, for
/// one repository.
#[test]
fn the_push_command_keeps_the_token_off_the_command_line() {
    let text = written(&settings(), "x", false, false);
    let start = text.find("```sh\n").unwrap() + 6;
    let command = &text[start..start + text[start..].find("\n```").unwrap()];
    let (environment, call) = command.split_at(command.find("git push").unwrap());
    assert!(environment.contains("GITLAB_TOKEN") && !call.contains("TOKEN"));
    assert!(environment.contains("http.https://git.example.com/gitlab/group/team/service.git."));
    assert_eq!(
        call,
        "git push 'https://git.example.com/gitlab/group/team/service.git' \
         'HEAD:refs/heads/openhands/issue-42'"
    );
}

#[test]
fn titles_carry_the_draft_prefix_once_and_fit() {
    let cases = [
        ("Retry uploads", "Draft: Retry uploads", "Retry uploads"),
        (
            "Draft: Retry uploads",
            "Draft: Retry uploads",
            "Retry uploads",
        ),
        ("draft:retry", "Draft: retry", "retry"),
        ("[Draft] Draft: (draft)  retry", "Draft: retry", "retry"),
        ("WIP: retry", "Draft: retry", "retry"),
        (
            "Drafts are lost",
            "Draft: Drafts are lost",
            "Drafts are lost",
        ),
        ("  Two\nlines\t ", "Draft: Two lines", "Two lines"),
        ("", "Draft: Resolve issue #42", "Resolve issue #42"),
        ("Draft:", "Draft: Resolve issue #42", "Resolve issue #42"),
    ];
    for (given, draft, ready) in cases {
        assert_eq!(title(given, 42, true), draft, "{given}");
        assert_eq!(title(given, 42, false), ready, "{given}");
    }
}

#[test]
fn a_title_that_is_too_long_with_its_prefix_is_cut_with_a_sign() {
    let case = fixtures::json("fixtures/lifecycle/issue-title-too-long-with-prefix.json");
    let long = case["issue_title"].as_str().unwrap();
    assert!(long.chars().count() > MAX_TITLE_CHARS);
    for text in [long.to_owned(), "漢".repeat(300), "🚀".repeat(300)] {
        for draft in [true, false] {
            let title = title(&text, 42, draft);
            assert_eq!(title.chars().count(), MAX_TITLE_CHARS);
            assert!(title.ends_with('…'));
            assert_eq!(title.starts_with("Draft: "), draft);
        }
    }
    // Just fitting is not cut.
    let fitting = "x".repeat(MAX_TITLE_CHARS - 7);
    assert_eq!(title(&fitting, 42, true), format!("Draft: {fitting}"));
}

#[test]
fn lines_that_the_forge_would_run_become_text() {
    let text = fixtures::text("fixtures/lifecycle/agent-text-with-quick-actions.md");
    let plain = plain_text(&text);
    assert_eq!(
        plain,
        "Done.\n\n\\/close\n\\/merge\n\\/assign @root\nSee /usr/bin and a/b."
    );
    let cases = [
        ("  /label ~bug", "\\/label ~bug"),
        ("a\n  /label ~bug", "a\n  \\/label ~bug"),
        ("a\n\t/due now", "a\n\t\\/due now"),
        ("a\r\n/close\r\n", "a\n\\/close"),
        ("a\n/\rclose", "a\n\\/close"),
        ("// a comment", "// a comment"),
        ("/ alone", "/ alone"),
        ("\\/close", "\\/close"),
    ];
    for (given, expected) in cases {
        assert_eq!(plain_text(given), expected, "{given:?}");
    }
    for note in [
        description(TASK, 42, &text, CONVERSATION),
        no_changes(TASK, &text, CONVERSATION),
        failed(Ending::Gone, Some(&text), &text, None),
    ] {
        let runs = |line: &str| line.trim_start().trim_start_matches("> ").starts_with('/');
        assert!(!note.lines().any(runs), "{note}");
        assert!(note.contains("See /usr/bin and a/b."), "{note}");
    }
}

fn failed(ending: Ending, error: Option<&str>, answer: &str, kept: Option<(&str, u64)>) -> String {
    without_result(&WithoutResult {
        task: TASK,
        ending,
        error,
        answer,
        kept,
        conversation_url: CONVERSATION,
    })
}

#[test]
fn the_notes() {
    let link = "https://git.example.com/gitlab/group/team/service/-/merge_requests/57";
    let answer = "The issue names no endpoint. Which one is meant?";
    let error = "git push failed: remote: GitLab: Author 'agent' is not a member of team\n! [remote \
                 rejected] (pre-receive hook declined)";
    let stuck = Ending::Failed(Conversation::Stuck);
    let expired = Ending::Expired { after: 7213.4 };
    let kept = Some(("openhands/issue-42", 2));
    let notes = [
        ("a merge request", linked(TASK, link, CONVERSATION)),
        ("no changes", no_changes(TASK, answer, CONVERSATION)),
        (
            "no changes, without a word",
            no_changes(TASK, " ", CONVERSATION),
        ),
        (
            "the conversation failed",
            failed(Ending::Failed(Conversation::Error), None, "", None),
        ),
        ("stuck, work kept", failed(stuck, None, answer, kept)),
        (
            "expired, work kept",
            failed(expired, None, "", Some(("openhands/issue-42", 1))),
        ),
        ("deleted", failed(Ending::Gone, None, "", None)),
        (
            "given up after three attempts",
            failed(Ending::Done, Some(error), answer, None),
        ),
    ];
    let texts = notes.map(|(name, text)| format!("### {name}\n\n{text}\n"));
    fixtures::shown("issue-notes", &texts.join("\n"));
}

#[test]
fn the_description_of_the_merge_request() {
    let answer = "Uploads are retried three times.\n\nTested with `cargo test uploads`.";
    let texts = [
        description(TASK, 42, answer, CONVERSATION),
        description(TASK, 42, "", CONVERSATION),
    ];
    fixtures::shown("issue-description", &texts.join("\n\n=====\n\n"));
}

#[test]
fn the_message_of_a_commit_of_ours() {
    let of = |title: &str| {
        let mut record = Record::default();
        record.set(Field::IssueTitle, title);
        commit_message(&record, 42)
    };
    assert_eq!(
        of("Retry uploads\non a 502"),
        "Retry uploads on a 502\n\nCloses #42\n"
    );
    assert_eq!(of(""), "Resolve issue #42\n\nCloses #42\n");
    // Of all issues, only the one that was asked for is closed when it is merged.
    assert_eq!(of("Closes #5"), "Closes\u{a0}#5\n\nCloses #42\n");
    assert_eq!(title("Fixes #5", 42, true), "Draft: Fixes\u{a0}#5");
    let description = description_of("This closes #5.\n\nResolves issue #6");
    assert!(
        description.starts_with("This closes\u{a0}#5.\n\nResolves issue\u{a0}#6\n\nCloses #42\n"),
        "{description}"
    );
    let long = of(&"word ".repeat(100));
    assert!(long.lines().next().unwrap().chars().count() <= 100);
    assert!(long.ends_with("…\n\nCloses #42\n"));
}

/// The agent's words give way; what people need in order to act does not.
#[test]
fn long_texts_are_cut_with_a_note_and_keep_what_surrounds_them() {
    let long = "A very long answer.\n".repeat(100_000);
    let mark = identity::marker(TASK, Kind::Result);
    let description = description(TASK, 42, &long, CONVERSATION);
    let note = failed(
        Ending::Done,
        Some(&long),
        &long,
        Some(("openhands/issue-42", 2)),
    );
    for text in [&description, &note, &no_changes(TASK, &long, CONVERSATION)] {
        assert!(text.chars().count() <= MAX_DESCRIPTION_CHARS);
        assert!(text.contains("*The agent's text was long and has been cut here.*\n\n"));
        assert!(text.ends_with(&mark));
    }
    assert!(description.contains("\n\nCloses #42\n\n---\n"));
    assert!(note.contains("`openhands/issue-42`"));
    assert!(note.contains("\n\nRemove and re-apply the label to try again.\n\n---\n"));
    let open = description_of("```\ncode that never ends");
    assert!(open.contains("\n```\n\nCloses #42"));
}

fn description_of(answer: &str) -> String {
    description(TASK, 42, answer, CONVERSATION)
}

#[test]
fn projects_that_cannot_be_worked_on_say_what_to_do() {
    let with = |change: &dyn Fn(&mut Project)| {
        let mut project = project();
        change(&mut project);
        usable(&project).map_or_else(
            |error| error.to_string(),
            |branch| format!("branch {branch}"),
        )
    };
    let answers = [
        with(&|_| {}),
        with(&|project| project.access_level = None),
        with(&|project| project.archived = true),
        with(&|project| project.issues_enabled = false),
        with(&|project| project.repository_enabled = false),
        with(&|project| project.default_branch = None),
        with(&|project| project.default_branch = Some(String::new())),
        with(&|project| project.access_level = Some(20)),
    ];
    fixtures::shown("issue-unsuitable-projects", &answers.join("\n"));
}
