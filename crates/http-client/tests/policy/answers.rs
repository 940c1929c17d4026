//! Answers that are not what was hoped for, in words.

use http_client::{HttpError, Request, Secret, mask, redact};
use serde_json::Value;

use crate::server::{Reply, Server};
use crate::{client, fixture, fixture_at};

#[tokio::test]
async fn answers_that_are_not_the_json_expected() {
    let case = fixture_at("answers-that-are-not-the-json-expected.json", &[]);
    let answers = case["answers"].as_array().unwrap().clone();
    let served = answers.clone();
    let server = Server::start(move |_, n| {
        let answer = &served[n];
        let status = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
        let body = answer["body"]
            .as_str()
            .unwrap_or_default()
            .as_bytes()
            .to_vec();
        let reply = Reply::Answer(status, Vec::new(), body);
        match answer["content_type"].as_str() {
            Some(kind) => reply.with("content-type", kind),
            None => reply,
        }
    })
    .await;
    let client = client();
    for answer in answers {
        let request = Request::get("agent server", server.at("/api/settings?key=value"));
        // Where no body is needed, none is missed.
        let response = client.send(request).await.unwrap().ok().unwrap();
        let json = response.json::<std::collections::BTreeMap<String, Value>>();
        match answer["error"].as_str() {
            None => assert_eq!(json.unwrap()["a"], 1),
            Some(expected) => {
                let error = json.unwrap_err();
                assert!(matches!(error, HttpError::Body { .. }), "{error}");
                let text = error.to_string();
                let status = format!("status {}", answer["status"]);
                for part in ["agent server", "GET /api/settings", &status, expected] {
                    assert!(text.contains(part), "{part}: {text}");
                }
                assert!(
                    text.contains(answer["body"].as_str().unwrap_or_default()),
                    "{text}"
                );
                assert!(!text.contains("key=value"), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn the_start_of_a_body_is_short_clean_and_without_secrets() {
    let body = format!(
        "{{\"error\":\r\n\t\"bad \u{7} key abc-secret-xyz\"}} {}",
        "long ".repeat(500)
    );
    let server =
        Server::start(move |_, _| Reply::Answer(401, Vec::new(), body.clone().into_bytes())).await;
    let request = Request::get("GitHub", server.at("/user"))
        .credential("authorization", Secret::new("Bearer abc-secret-xyz"));
    let error = client().send(request).await.unwrap().ok().unwrap_err();
    assert_eq!(error.status(), Some(401));
    let HttpError::Status { snippet, .. } = error else {
        panic!("{error}")
    };
    assert!(
        snippet.starts_with(r#"{"error": "bad key ***"} long"#),
        "{snippet}"
    );
    assert!(
        snippet.ends_with('…') && snippet.chars().count() == 201,
        "{snippet}"
    );
}

#[tokio::test]
async fn not_modified_is_counted() {
    let server = Server::start(|_, _| Reply::status(304)).await;
    let client = client();
    let request = Request::get("GitHub", server.at("/pulls")).header("if-none-match", "\"1\"");
    assert_eq!(client.send(request).await.unwrap().status, 304);
    assert_eq!(server.asked()[0].header("if-none-match"), Some("\"1\""));
    assert_eq!(client.counters().not_modified, 1);
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_an_error_without_its_value() {
    let server = Server::start(|_, _| Reply::text("x")).await;
    let client = client();
    let bad = Request::get("GitHub", server.at("/"));
    for request in [
        bad.clone().header("x-line", "one\r\ntwo"),
        bad.credential("authorization", Secret::new("Bearer secret\r\nx: y")),
    ] {
        let error = client.send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Setup(_)), "{error}");
        assert!(!error.to_string().contains("secret") && !error.to_string().contains("two"));
    }
    assert!(server.lines().is_empty());
}

#[test]
fn a_git_error_that_repeats_the_token() {
    let text = fixture("git-error-that-repeats-the-token.txt");
    let token = "glpat-SECRETSECRETSECRET1";
    assert!(text.contains(token));
    for secrets in [vec![], vec![Secret::new(token)]] {
        let clean = redact(&text, &secrets.iter().collect::<Vec<_>>());
        assert!(!clean.contains("SECRET"), "{clean}");
        for part in [
            "403",
            "gitlab.example.com/g/p.git",
            "https://gitlab.example.com/help",
        ] {
            assert!(clean.contains(part), "{clean}");
        }
    }
}

#[test]
fn what_is_taken_out_of_texts() {
    let secret = Secret::new("hush-hush\n");
    for (text, clean) in [
        ("say hush-hush twice: hush-hush", "say *** twice: ***"),
        (
            "https://u:p@h.example/x and http://h/@you",
            "https://***@h.example/x and http://h/@you",
        ),
        ("ssh://git@h/x", "ssh://***@h/x"),
        (
            "GET /x?token=abc&page=2&sig=d#e",
            "GET /x?token=***&page=2&sig=***#e",
        ),
        (
            "(see https://h/?X-Amz-Signature=ab12)",
            "(see https://h/?X-Amz-Signature=***)",
        ),
        ("why? because & so=on", "why? because & so=on"),
        ("ghp_abcdefghijklmnop. is glpat-x", "***. is glpat-x"),
        ("über https://é@h/ ?", "über https://***@h/ ?"),
    ] {
        assert_eq!(redact(text, &[&secret]), clean);
    }
    assert_eq!(format!("{secret} {secret:?}"), "*** ***");
    assert_eq!(secret.expose(), "hush-hush");
}

#[test]
fn what_people_are_to_read_keeps_its_addresses() {
    let secret = Secret::new("hush-hush");
    let text = "see https://me@h/?author=a&key=b hush-hush ghp_abcdefghijklmnop";
    assert_eq!(
        mask(text, &[&secret]),
        "see https://me@h/?author=a&key=b *** ***"
    );
}

/// One secret may be the beginning of another: nothing of the longer one stays.
#[test]
fn a_secret_within_a_secret() {
    let (short, long) = (Secret::new("hush"), Secret::new("hush-and-more"));
    for secrets in [[&short, &long], [&long, &short]] {
        assert_eq!(redact("a hush-and-more b hush", &secrets), "a *** b ***");
    }
}

/// A server chooses what an error repeats: the work grows with the text, not with its square.
#[test]
fn a_text_of_nothing_but_starts_is_cleaned_in_time() {
    for piece in ["ghp_", "glpat-x ", "g", "://", "?token=", "&", "x@://"] {
        let text = piece.repeat(400_000 / piece.len());
        let began = std::time::Instant::now();
        let clean = redact(&text, &[&Secret::new("hush-hush")]);
        assert!(!clean.is_empty());
        assert!(began.elapsed().as_secs() < 10, "{piece:?}");
    }
}
