use std::path::Path;

use super::*;
use crate::git::credential::{GitCredential, clean_git_output};

fn output(stdout: &str, stderr: &str) -> Output {
    Output {
        name: "git push",
        code: Some(128),
        stdout: stdout.into(),
        stderr: clean_git_output(stderr, Some(&GitCredential::oauth2("glpat-secret"))),
    }
}

/// The variant's name.
fn kind(error: &WorkspaceError) -> String {
    let debug = format!("{error:?}");
    debug
        .split([' ', '('])
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/git");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn failures() {
    for (stderr, expected) in [
        (
            "fatal: could not read Username for 'https://h': terminal prompts disabled",
            "GitAuth",
        ),
        (
            "remote: HTTP Basic: Access denied.\nfatal: Authentication failed for 'https://h/p.git/'",
            "GitAuth",
        ),
        (
            "fatal: unable to access 'https://h/p.git/': The requested URL returned error: 403",
            "GitForbidden",
        ),
        (
            "remote: You are not allowed to push code to this project.\nfatal: unable to access 'https://h/': The requested URL returned error: 403",
            "GitForbidden",
        ),
        (
            "fatal: repository 'https://h/p.git/' not found",
            "GitNotFound",
        ),
        (
            "remote: The project you were looking for could not be found or you don't have permission to view it.",
            "GitNotFound",
        ),
        (
            "fatal: unable to access 'https://h/p.git/': The requested URL returned error: 301",
            "GitRedirected",
        ),
        (
            "fatal: unable to access 'https://h/': Could not resolve host: h",
            "GitUnreachable",
        ),
        (
            "fatal: unable to access 'https://h/': Failed to connect to h port 443 after 2 ms: Couldn't connect to server",
            "GitUnreachable",
        ),
        (
            "fatal: unable to access 'https://h/': server certificate verification failed. CAfile: none",
            "GitUnreachable",
        ),
        (
            "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502",
            "GitUnreachable",
        ),
        (
            "fatal: unable to access 'https://h/': Operation too slow. Less than 1000 bytes/sec transferred the last 30 seconds",
            "GitUnreachable",
        ),
        ("fatal: bad object 0123", "GitFailed"),
        (
            "warning: Could not find remote branch x\nfatal: Remote branch x not found in upstream origin",
            "GitBranchMissing",
        ),
    ] {
        assert_eq!(
            kind(&failure(&output("", stderr), Some("x"))),
            expected,
            "{stderr}"
        );
    }
}

#[test]
fn pushes() {
    let line = |flag: &str, summary: &str| {
        format!("To https://h/p.git\n{flag}\t0123:refs/heads/b\t{summary}\nDone\n")
    };
    let failed = |stdout: &str, stderr: &str| match push_outcome(&output(stdout, stderr), "b") {
        PushOutcome::Failed(error) => (kind(&error), error.to_string()),
        PushOutcome::Done => ("Done".to_owned(), String::new()),
    };
    for (flag, summary) in [
        ("*", "[new branch]"),
        ("=", "[up to date]"),
        (" ", "0123..4567"),
    ] {
        assert_eq!(failed(&line(flag, summary), "").0, "Done");
    }
    for summary in ["[rejected] (fetch first)", "[rejected] (non-fast-forward)"] {
        assert_eq!(
            failed(&line("!", summary), "error: failed to push some refs").0,
            "BranchTaken"
        );
    }
    let declined = line("!", "[remote rejected] (pre-receive hook declined)");
    let protected =
        "remote: GitLab: You are not allowed to push code to protected branches on this project.\n";
    assert_eq!(failed(&declined, protected).0, "BranchProtected");
    let full = "remote: GitLab: Your push to this repository has been rejected because it would exceed storage limits. Please contact your GitLab administrator for more information.\n";
    assert_eq!(failed(&declined, full).0, "StorageFull");
    assert_eq!(failed(&declined, "").0, "PushRejected");
    let (kind, text) = failed(
        "",
        "fatal: unable to access 'https://h/': The requested URL returned error: 403",
    );
    assert_eq!(kind, "GitForbidden");
    assert!(text.contains("Developer"));
}

#[test]
fn a_push_rule_is_told_in_the_hosts_words() {
    let stdout = "To https://gitlab.example.com/g/p.git\n\
        !\t0123:refs/heads/openhands/issue-42\t[remote rejected] (pre-receive hook declined)\nDone\n";
    let stderr = fixture("GL10a-push-rule.stderr.txt");
    let PushOutcome::Failed(error) = push_outcome(&output(stdout, &stderr), "openhands/issue-42")
    else {
        panic!("refused");
    };
    assert_eq!(kind(&error), "PushRejected");
    insta::assert_snapshot!(error, @"the push to openhands/issue-42 was refused by a rule of the host: GitLab: You cannot push commits for 'agent@example.org'. You can only push commits that were committed with one of your own verified emails; change the rule, or what it asks of commits");
}

#[test]
fn an_error_of_git_keeps_its_words_and_loses_the_token() {
    let stderr = fixture("G02a-token-in-address.stderr.txt");
    let secret = "glpat-SECRETSECRETSECRET1";
    for credential in [None, Some(GitCredential::oauth2(secret))] {
        let clean = clean_git_output(&stderr, credential.as_ref());
        assert!(
            !clean.contains(secret) && !clean.contains("oauth2"),
            "{clean}"
        );
        assert!(
            clean.contains("403") && clean.contains("gitlab.example.com"),
            "{clean}"
        );
    }
    let error = failure(&output("", &stderr), None);
    assert_eq!(kind(&error), "GitForbidden");
    assert!(!error.to_string().contains(secret) && !format!("{error:?}").contains(secret));
}

#[test]
fn long_texts_keep_their_end() {
    let error = failure(
        &output("", &format!("{}\nfatal: the end", "noise\n".repeat(9000))),
        None,
    );
    let text = error.to_string();
    assert!(text.contains("fatal: the end") && text.len() < 2000);
}
