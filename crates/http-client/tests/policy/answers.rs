//! Answers that are not what was hoped for, in words.

use http_client::{HttpError, Request, Secret, mask, redact, redact_address};
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
fn a_password_needs_no_scheme_to_be_taken_out() {
    for (text, clean) in [
        ("oauth2:pw@gitlab.com/group/a", "***@gitlab.com/group/a"),
        ("[\"me:p:w@h.example:80/a\"]", "[\"***@h.example:80/a\"]"),
        ("url=me:p=w@h.example, b", "url=***@h.example, b"),
        (
            "to=1,me:pw@10.0.0.5 (me:pw@[::1]:80)",
            "to=1,***@10.0.0.5 (***@[::1]:80)",
        ),
        ("me@example.com:pw@h.example/a", "***@h.example/a"),
        ("me:p@ss@h.example", "***@h.example"),
        ("token:@h.example/a", "***@h.example/a"),
        ("https:/me:pw@h.example", "https:/***@h.example"),
        ("me:pw@localhost:3000/a", "***@localhost:3000/a"),
        ("mailto:me:pw@h.example", "mailto:***@h.example"),
        ("https://h.example/?u=me:pw@h", "https://h.example/?u=***@h"),
        ("über:pw@ümlaut.example", "***@ümlaut.example"),
        // A slash in a password that was not encoded.
        (
            "see https://me:a/b@h.example/c.",
            "see https://***@h.example/c.",
        ),
        ("https://me:a?b@h.example", "https://***@h.example"),
    ] {
        assert_eq!(redact(text, &[]), clean);
        assert_eq!(redact(clean, &[]), clean);
    }
    for plain in [
        "git@github.com:acme/widget.git",
        "git@github.com: Permission denied",
        "at 12:30 mail me@example.com, or mailto:me@example.com",
        "acct:me@example.social",
        r#"{"at":"12:30","to":"me@example.com","n":[1,2]}"#,
        "HEAD:a@{1} a:b@1.2.3 npm:@scope/package",
        "https://h.example:8080/@you and http://[::1]:80/@you",
        "https://matrix.example/#/@me:h.example?at=12:30",
        "github.com/acme/widget@v1.2: 404",
        "@me:matrix.example",
    ] {
        assert_eq!(redact(plain, &[]), plain);
    }
}

#[test]
fn an_address_is_known_to_be_one() {
    for (value, clean) in [
        (" me:p w\"\\<x@h.example/a ", " ***@h.example/a "),
        ("https://me:p w@h.example/a", "https://***@h.example/a"),
        ("https://me:p/w x@h.example/a", "https://***@h.example/a"),
        ("me:p/w@h.example/a", "***@h.example/a"),
        ("htps://me:pw@h.example", "htps://***@h.example"),
        ("me:p w@://h", "***@://h"),
        ("me@h.example", "me@h.example"),
        ("git@h.example:a/b", "git@h.example:a/b"),
        ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
        (
            "https://h.example/a?token=b",
            "https://h.example/a?token=***",
        ),
        (" htps://me:p w@h", " htps://***@h"),
        ("a/b", "a/b"),
        (" ,\n", " ,\n"),
    ] {
        assert_eq!(redact_address(value), clean);
    }
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
    let (short, long) = (Secret::new("hushed"), Secret::new("hushed-and-more"));
    for secrets in [[&short, &long], [&long, &short]] {
        assert_eq!(
            redact("a hushed-and-more b hushed", &secrets),
            "a *** b ***"
        );
    }
    // A word of five letters may be one of our own, and is no secret.
    assert_eq!(redact("news: ok", &[&Secret::new("news")]), "news: ok");
}

/// A server chooses what an error repeats: the work grows with the text, not with its square.
#[test]
fn a_text_of_nothing_but_starts_is_cleaned_in_time() {
    for piece in [
        "ghp_", "glpat-x ", "g", "://", "?token=", "&", "x@://", "://a:b", "a:b@", ":@", "mailto:",
        "@a", "a:@1",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let began = std::time::Instant::now();
        let clean = redact(&text, &[&Secret::new("hush-hush")]);
        assert!(!clean.is_empty());
        assert!(began.elapsed().as_secs() < 10, "{piece:?}");
    }
}
