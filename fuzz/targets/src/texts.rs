//! Texts on their way out: cleaned of secrets, made fit for comments, notes and prompts.
//!
//! The first line of an input makes a secret, the rest is a text in which the control characters
//! 1 to 4 stand for the secret: as it is, percent-encoded, as a header, and with a terminal sequence
//! in its middle. Whatever the text, the secret does not survive, a stranger's words stay data, and
//! nothing of theirs passes for a mark of ours or for a command to the forge.

use crate::is_line;
use cli::console::{Console, Stream};
use http_client::{Secret, redact};
use lifecycle::decide::Ending;
use lifecycle::document::Record;
use lifecycle::issue::{self, IssueSettings, MergeRequestMode};
use lifecycle::news::{self, Interests};
use lifecycle::ports::{
    CheckoutReport, FeedFailure, Funnel, Issue, News, Project, Pull, PullDetails, Story,
};
use lifecycle::review::{self, ReviewSettings, Tone};
use lifecycle::text::{cut_bytes, cut_chars, fit_markdown, one_line};
use workspace_fs::{GitCredential, clean_git_output};

/// How every mark of ours begins.
const MARK: &str = "<!-- openhands-automation";
const TASK: &str = "42:label:123";
const HEAD: &str = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
const PLACE: &str = "https://agents.example.org/conversations/1";

/// Sends a text through everything that is said to make it harmless.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (first, rest) = text.split_once('\n').unwrap_or(("", &text));
    secrets(first, rest);
    cuts(rest, data.len());
    comments(rest);
    prompts(rest);
}

fn secrets(first: &str, rest: &str) {
    let kept = |c: &char| c.is_ascii_alphanumeric() || "-_.~+/".contains(*c);
    let middle: String = first.chars().filter(kept).take(40).collect();
    // Beginning and end make it unlike what stands in a text by accident.
    let secret = format!("sEcReT-{middle}-tErCeS");
    let percent = secret
        .replace('+', "%2B")
        .replace('/', "%2F")
        .replace('~', "%7E");
    let half = secret.len() / 2;
    let split = format!("{}\u{1b}[0m{}", &secret[..half], &secret[half..]);
    let text = rest
        .replace('\u{1}', &secret)
        .replace('\u{2}', &percent)
        .replace('\u{4}', &split);
    let survives = |clean: &str| clean.contains(&secret);

    let known = Secret::new(secret.as_str());
    assert_eq!(format!("{known} {known:?}"), "*** ***");
    let clean = redact(&text, &[&known]);
    assert!(!survives(&clean), "{clean:?}");
    assert!(!survives(&one_line(&clean)), "{clean:?}");
    let console = Console::new(Stream::Nowhere, true);
    console.hide(&known);
    assert!(!survives(&console.clean(&text)));

    let credential = GitCredential::oauth2(secret.as_str());
    let clean = clean_git_output(&text, Some(&credential));
    assert!(!survives(&clean), "{clean:?}");
    assert!(!clean.contains(&percent), "{clean:?}");
    assert!(
        !clean.contains(|c: char| c.is_control() && c != '\n'),
        "{clean:?}"
    );
    // What has been cleaned stays as it is.
    assert_eq!(clean_git_output(&clean, Some(&credential)), clean);
}

fn cuts(text: &str, max: usize) {
    let max = max % 97;
    assert!(cut_bytes(text, max).len() <= max);
    assert!(cut_chars(text, max).chars().count() <= max);
    assert!(is_line(&one_line(text)));
    let note = "\n\n(cut)";
    for room in [200, 1000] {
        let fitted = fit_markdown(text, room, note);
        assert!(
            fitted.chars().count() <= room,
            "{} characters",
            fitted.chars().count()
        );
        assert!(!leaves_comment_open(&fitted), "{fitted:?}");
    }
}

/// Whether what follows a text would be part of an HTML comment.
fn leaves_comment_open(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once("<!--") {
        match inside.split_once("-->") {
            Some((_, after)) => rest = after,
            None => return true,
        }
    }
    false
}

fn comments(text: &str) {
    let title = issue::title(text, 42, true);
    assert!(
        is_line(&title) && title.chars().count() <= issue::MAX_TITLE_CHARS,
        "{title:?}"
    );
    assert!(
        title.starts_with("Draft: ") && !title[7..].starts_with("Draft:"),
        "{title:?}"
    );
    let description = issue::description(TASK, 42, text, PLACE);
    assert!(description.chars().count() <= issue::MAX_DESCRIPTION_CHARS);
    assert_eq!(description.matches(MARK).count(), 1, "{description:?}");
    // The forge drops carriage returns before it looks for commands.
    let command = description.replace('\r', "").split('\n').any(|line| {
        let mut characters = line.trim_start().chars();
        characters.next() == Some('/')
            && characters
                .next()
                .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
    });
    assert!(!command, "a command to the forge: {description:?}");
    let outcome = review::outcome(TASK, &Record::default(), Ending::Done, text, PLACE);
    assert!(outcome.chars().count() <= review::MAX_COMMENT_CHARS);
    assert_eq!(outcome.matches(MARK).count(), 1, "{outcome:?}");
    for posted in [description, outcome] {
        let at = posted.find(MARK).unwrap_or_default();
        assert!(!leaves_comment_open(&posted[..at]), "{posted:?}");
    }
}

/// A prompt has as many lines with a stranger's words in it as without.
fn prompts(text: &str) {
    let lines = |prompt: &str| {
        prompt
            .split([
                '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
            ])
            .count()
    };
    assert_eq!(
        lines(&review_prompt(text)),
        lines(&review_prompt("")),
        "{text:?}"
    );
    assert_eq!(
        lines(&issue_prompt(text)),
        lines(&issue_prompt("")),
        "{text:?}"
    );
    assert_eq!(
        lines(&news_prompt(text)),
        lines(&news_prompt("")),
        "{text:?}"
    );
}

fn review_prompt(text: &str) -> String {
    let settings = ReviewSettings {
        repo: "acme/widget".to_owned(),
        trigger_label: "review".to_owned(),
        tone: Tone::Concise,
        style_instructions: String::new(),
        guide_path: String::new(),
        review_drafts: true,
        api_url: "https://api.github.com".to_owned(),
        token_secret: "TOKEN".to_owned(),
    };
    let details = PullDetails {
        pull: Pull {
            number: 42,
            head_sha: HEAD.to_owned(),
            labels: vec![text.to_owned()],
            draft: false,
            updated_at: String::new(),
            html_url: String::new(),
        },
        open: true,
        title: text.to_owned(),
        // A long description is named at the top, which is a line of ours.
        body: cut_chars(text, 10_000),
        author: Some(text.to_owned()),
        base_ref: text.to_owned(),
        base_sha: HEAD.to_owned(),
        head_ref: text.to_owned(),
        from_fork: true,
        changed_files: None,
        additions: None,
        deletions: None,
        commits: None,
    };
    let checkout = CheckoutReport {
        files: 1,
        skipped: format!("links: 1 {text}"),
        has_submodules: false,
        has_lfs: false,
    };
    review::prompt(&review::PromptFacts {
        settings: &settings,
        details: &details,
        label_event_at: "2026-08-18T09:12:00Z",
        labelled_by: Some(text),
        checkout: &checkout,
        guide: None,
    })
}

fn issue_prompt(text: &str) -> String {
    let settings = IssueSettings {
        project: "group/service".to_owned(),
        trigger_label: "openhands".to_owned(),
        branch_prefix: "openhands/issue".to_owned(),
        mode: MergeRequestMode::Draft,
        trigger_level: None,
        keep_failed_work: true,
        api_url: "https://gitlab.com/api/v4".to_owned(),
        token_secret: "TOKEN".to_owned(),
    };
    let project = Project {
        id: 7,
        path: "group/service".to_owned(),
        default_branch: Some("main".to_owned()),
        http_url: "https://gitlab.com/group/service.git".to_owned(),
        web_url: "https://gitlab.com/group/service".to_owned(),
        archived: false,
        issues_enabled: true,
        repository_enabled: true,
        access_level: None,
        moved_to: None,
    };
    let issue = Issue {
        iid: 42,
        title: text.to_owned(),
        open: true,
        labels: vec![text.to_owned()],
        updated_at: String::new(),
        web_url: String::new(),
    };
    issue::prompt(&issue::PromptFacts {
        settings: &settings,
        project: &project,
        issue: &issue,
        label_event_at: "2026-08-18T09:12:00Z",
        labelled_by: Some(text),
        base_branch: "main",
        base_sha: HEAD,
        branch: "openhands/issue-42",
        has_submodules: false,
        has_lfs: false,
    })
}

fn news_prompt(text: &str) -> String {
    let story = Story {
        title: text.to_owned(),
        link: text.to_owned(),
        published: None,
        summary: text.to_owned(),
        source: text.to_owned(),
        keys: Vec::new(),
    };
    let failure = FeedFailure {
        url: format!("https://example.org/{text}"),
        error: text.to_owned(),
    };
    let news = News {
        stories: vec![story],
        funnel: Funnel::default(),
        failures: vec![failure],
        warnings: vec![text.to_owned()],
        configured: 1,
    };
    news::prompt("2026-08-18", &Interests { topics: Vec::new() }, &news)
}
