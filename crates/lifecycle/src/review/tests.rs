//! What the reviewer tells the agent and the people on a pull request.

use super::comments::shorten;
use super::*;
use crate::decide::Ending;
use crate::fixtures;
use crate::ports::{CheckoutReport, Conversation};

const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";
const TASK: &str = "42:label:123456789";
const CONVERSATION: &str = "https://app.example.com/conversations/550e8400";

fn settings() -> ReviewSettings {
    ReviewSettings {
        repo: "acme/widget".into(),
        trigger_label: "openhands-review".into(),
        api_url: "https://api.github.com/".into(),
        token_secret: "GITHUB_PERSONAL_ACCESS_TOKEN".into(),
        ..ReviewSettings::default()
    }
}

fn details() -> PullDetails {
    PullDetails {
        pull: Pull {
            number: 42,
            head_sha: HEAD.into(),
            labels: vec!["openhands-review".into()],
            draft: false,
            updated_at: "2026-08-18T09:12:00Z".into(),
            html_url: "https://github.com/acme/widget/pull/42".into(),
        },
        open: true,
        title: "Retry uploads on a 502".into(),
        body: "Uploads fail when the storage service restarts.\r\n\r\nThis retries them.".into(),
        author: Some("dev".into()),
        base_ref: "main".into(),
        base_sha: "fedcba9876543210fedcba9876543210fedcba98".into(),
        head_ref: "retry-uploads".into(),
        from_fork: false,
        changed_files: Some(3),
        additions: Some(41),
        deletions: Some(7),
        commits: Some(2),
    }
}

fn written(settings: &ReviewSettings, details: &PullDetails, checkout: &CheckoutReport) -> String {
    written_with(settings, details, checkout, None)
}

fn written_with(
    settings: &ReviewSettings,
    details: &PullDetails,
    checkout: &CheckoutReport,
    guide: Option<Guide>,
) -> String {
    prompt(&PromptFacts {
        settings,
        details,
        label_event_at: "2026-08-18T09:12:00Z",
        labelled_by: Some("maintainer"),
        checkout,
        guide,
    })
}

#[test]
fn prompt_of_a_pull_request() {
    let text = written(&settings(), &details(), &CheckoutReport::default());
    fixtures::shown("review-prompt", &text);
}

#[test]
fn prompt_of_a_fork_with_the_guide_at_the_base() {
    let settings = ReviewSettings {
        tone: Tone::Concise,
        style_instructions: "Write in British English.\nNo emoji.".into(),
        ..settings()
    };
    let details = PullDetails {
        from_fork: true,
        author: None,
        changed_files: None,
        additions: None,
        deletions: None,
        commits: None,
        ..details()
    };
    let guide = Guide {
        path: ".agents/skills/custom-codereview-guide.md".into(),
        at_base: true,
        cut: false,
        text: "# Our guide\n\nUploads must be idempotent.".into(),
    };
    let text = written_with(&settings, &details, &CheckoutReport::default(), Some(guide));
    fixtures::shown("review-prompt-of-a-fork-with-guide", &text);
}

/// Without a token the agent leaves publishing to us.
#[test]
fn prompt_without_a_token() {
    let settings = ReviewSettings {
        token_secret: String::new(),
        ..settings()
    };
    let text = written(&settings, &details(), &CheckoutReport::default());
    assert!(!text.contains('$'));
    let section = |title: &str, next: &str| {
        let start = text.find(title).unwrap();
        text[start..start + text[start..].find(next).unwrap()].to_owned()
    };
    let sections = [
        section("## Access", "## How to review"),
        section("## How to publish", "## Ground rules"),
    ];
    fixtures::shown("review-prompt-without-token", &sections.concat());
}

/// A clone without submodules and large files must not be reported as broken code.
#[test]
fn prompt_of_a_tree_with_submodules_and_large_files() {
    let checkout = CheckoutReport {
        has_submodules: true,
        has_lfs: true,
        ..CheckoutReport::default()
    };
    let text = written(&settings(), &details(), &checkout);
    let start = text.find("## The workspace").unwrap();
    let end = text.find("## How to review").unwrap();
    fixtures::shown(
        "review-prompt-submodules-and-large-files",
        &text[start..end],
    );
}

/// Nothing is cut silently: the first lines say what is missing, and how to get the whole.
#[test]
fn prompt_of_a_pull_request_of_which_not_everything_fits() {
    let details = PullDetails {
        body: "Line of a very long description.\n".repeat(1000),
        changed_files: Some(340),
        additions: Some(9000),
        ..details()
    };
    let guide = Guide {
        path: "docs/review.md".into(),
        at_base: false,
        cut: true,
        text: "# Our guide".into(),
    };
    let checkout = CheckoutReport {
        skipped: "2 symbolic links, 1 device files".into(),
        ..CheckoutReport::default()
    };
    let text = written_with(&settings(), &details, &checkout, Some(guide));
    assert!(text.chars().count() < 25_000);
    let top = &text[..text.find("## The pull request").unwrap()];
    fixtures::shown("review-prompt-left-out", top);
    assert!(text.contains("340 files changed"));
    assert!(text.contains("/pulls/42/files?per_page=100`, all pages"));
}

/// Whatever a stranger writes stays a JSON string on one line.
#[test]
fn a_description_that_tries_to_break_out_changes_no_line_of_ours() {
    let hostile = fixtures::text("fixtures/lifecycle/text-that-tries-to-break-out.md");
    let attacked = PullDetails {
        title: hostile.clone(),
        body: hostile.clone(),
        author: Some(hostile.clone()),
        head_ref: hostile.clone(),
        ..details()
    };
    let checkout = CheckoutReport::default();
    let ours = |line: &&str| {
        let theirs = ["- Author:", "- Branches:", "- Title:", "- Description:"];
        !theirs.iter().any(|start| line.starts_with(start))
    };
    let text = written(&settings(), &attacked, &checkout);
    let clean = written(&settings(), &details(), &checkout);
    let lines = |text: &str| {
        text.lines()
            .filter(ours)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&text), lines(&clean));
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("- Description: "));
    assert_eq!(
        serde_json::from_str::<String>(body.unwrap()).unwrap(),
        hostile
    );
}

#[test]
fn every_tone_reads_differently() {
    let of = |tone| {
        let settings = ReviewSettings { tone, ..settings() };
        written(&settings, &details(), &CheckoutReport::default())
    };
    let tones = [Tone::Thorough, Tone::Concise, Tone::Friendly].map(of);
    let lines: Vec<&str> = tones
        .iter()
        .map(|text| text.lines().find(|line| line.starts_with("Be ")).unwrap())
        .collect();
    fixtures::shown("review-tones", &lines.join("\n"));
}

fn record() -> Record {
    let mut record = Record::default();
    record
        .set(Field::PrNumber, 42)
        .set(Field::HeadSha, HEAD)
        .set(Field::LabelEventId, 123_456_789)
        .set(Field::LabelEventCreatedAt, "2026-08-18T09:12:00Z");
    record
}

fn told(ending: Ending, text: &str) -> String {
    outcome(TASK, &record(), ending, text, CONVERSATION)
}

#[test]
fn the_acknowledgement() {
    let text = acknowledgement(TASK, &record(), CONVERSATION);
    fixtures::shown("review-acknowledgement", &text);
}

#[test]
fn the_outcomes() {
    let findings = "Two findings:\n\n1. `src/upload.rs:12` retries for ever.";
    let cases = [
        ("done, with a final message", Ending::Done, findings),
        ("done, without a word", Ending::Done, "  \n"),
        (
            "error, with what the agent left",
            Ending::Failed(Conversation::Error),
            findings,
        ),
        ("error", Ending::Failed(Conversation::Error), ""),
        ("stuck", Ending::Failed(Conversation::Stuck), ""),
        ("deleted", Ending::Gone, ""),
    ];
    let texts = cases.map(|(name, ending, text)| format!("### {name}\n\n{}\n", told(ending, text)));
    fixtures::shown("review-outcomes", &texts.join("\n"));
}

#[test]
fn a_result_that_is_longer_than_a_comment_may_be_keeps_its_closing_lines() {
    let case = fixtures::json("fixtures/github/comment-too-long.json");
    let chars = usize::try_from(case["body_chars"].as_u64().unwrap()).unwrap();
    let limit = usize::try_from(case["limit"].as_u64().unwrap()).unwrap();
    for letter in ["a", "漢", "🚀", "```\ncode\n", "a <!-- b "] {
        let text: String = letter.chars().cycle().take(chars).collect();
        let body = told(Ending::Done, &text);
        assert!(body.chars().count() <= limit);
        let end = &body[body.rfind("\n\n---\n").unwrap()..];
        assert!(
            body.contains("has been cut here.*\n\n---\n"),
            "it says that it was cut"
        );
        assert!(end.contains("*Written by an AI agent") && end.ends_with("kind=result -->"));
        // Refused all the same: once more, much shorter, closing lines included, cut only once.
        let shorter = shorten(&body, chars / 2);
        assert!(shorter.chars().count() <= chars / 2);
        assert!(shorter.ends_with(end));
        assert_eq!(shorter.matches("has been cut here").count(), 1);
    }
}

#[test]
fn an_open_code_block_does_not_swallow_the_closing_lines() {
    let text = fixtures::text("fixtures/lifecycle/agent-text-with-open-code-block.md");
    fixtures::shown("review-outcome-open-code-block", &told(Ending::Done, &text));
}

/// The agent's words do not pass for a mark of ours, so that nothing is taken for posted.
#[test]
fn marks_in_the_agents_text_do_not_count() {
    let forged = identity::marker("43:label:1", Kind::Result);
    let body = told(Ending::Done, &format!("Fine.\n{forged}"));
    assert!(!body.contains(&forged));
    assert!(body.contains(&identity::marker(TASK, Kind::Result)));
}
