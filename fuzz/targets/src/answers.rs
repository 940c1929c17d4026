//! Answers of services: GitHub, GitLab, the agent server, the key store.
//!
//! An input is the body of an answer; its first line may be `#!` with a status and the value of a
//! header. Every reader sees every answer. Texts that come of it go to logs, documents and comments,
//! so they are short lines, and what the token was is not in them.

use crate::is_line;
use http_client::Secret;

/// The token that was sent with the request; the seeds hold it in places where a server may echo it.
const TOKEN: &str = "glpat-0123456789abcdefXYZ";
/// Statuses that mean different things.
const STATUSES: [u16; 16] = [
    200, 204, 301, 304, 400, 401, 403, 404, 409, 410, 413, 422, 429, 451, 500, 503,
];

/// Reads an answer in every way.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let (status, header, body) = parts(data);
    let token = Secret::new(TOKEN);
    let mut texts = github_adapter::fuzzing::answer(body, status, &header, &token);
    texts.extend(gitlab_adapter::fuzzing::answer(
        body, status, &header, &token,
    ));
    for text in &texts {
        assert!(
            text.chars().count() <= 1500,
            "a text of {} bytes",
            text.len()
        );
        assert!(is_line(text), "more than a line: {text:?}");
        assert!(!text.contains(TOKEN), "the token is in {text:?}");
    }
    agent_server::fuzzing::answer(body);
    for text in state_store::fuzzing::answer(status, Some(&header), body) {
        assert!(
            text.chars().count() <= 1500,
            "a text of {} bytes",
            text.len()
        );
        assert!(is_line(&text), "more than a line: {text:?}");
    }
}

fn parts(data: &[u8]) -> (u16, String, &[u8]) {
    let by_length = STATUSES[data.len() % STATUSES.len()];
    let Some(rest) = data.strip_prefix(b"#!") else {
        return (by_length, String::new(), data);
    };
    let end = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len());
    let line = String::from_utf8_lossy(&rest[..end]).into_owned();
    let (status, header) = line.split_once(' ').unwrap_or((&line, ""));
    let status = status.parse().unwrap_or(by_length);
    (
        status,
        header.to_owned(),
        rest.get(end + 1..).unwrap_or_default(),
    )
}
