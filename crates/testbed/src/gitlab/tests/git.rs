//! git over HTTP with a real git: cloning, pushing, and all the ways to be refused.

use super::*;
use crate::faults::Fault;
use crate::tree::Entry;

/// Clones the project and leaves one commit on `topic` that is not pushed.
fn work(world: &World) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let url = world.project.clone_url();
    let credential = Some((world.gitlab.server().base_url(), TOKEN));
    git_ok(
        directory.path(),
        credential,
        &["clone", "-q", "--depth=1", &url, "."],
    );
    git_ok(directory.path(), None, &["checkout", "-q", "-b", "topic"]);
    std::fs::write(directory.path().join("new.txt"), "new\n").unwrap();
    git_ok(directory.path(), None, &["add", "new.txt"]);
    git_ok(directory.path(), None, &["commit", "-q", "-m", "Add new"]);
    directory
}

fn push(world: &World, directory: &Path, token: &str, arguments: &[&str]) -> Result<(), String> {
    let credential = Some((world.gitlab.server().base_url(), token));
    let output = git(
        directory,
        credential,
        &[&["push", "origin"], arguments].concat(),
    );
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(())
    } else {
        Err(errors)
    }
}

#[test]
fn a_branch_is_cloned_committed_to_and_pushed() {
    let world = World::new();
    let before = world.project.tip("main").unwrap();
    let directory = work(&world);
    push(&world, directory.path(), TOKEN, &["topic"]).unwrap();
    let tip = git_ok(directory.path(), None, &["rev-parse", "HEAD"]);
    assert_eq!(world.project.tip("topic"), Some(tip.clone()));
    let commits = world.project.commits("main..topic");
    assert_eq!(commits.len(), 1);
    assert_eq!(
        (commits[0].parents[0].as_str(), commits[0].message.trim()),
        (before.as_str(), "Add new")
    );
    assert_eq!(commits[0].committer_email, "agent@example.org");
    assert_eq!(
        world.project.files("topic")["new.txt"],
        Entry::from("new\n")
    );
    let pushes = world.project.pushes();
    assert_eq!(pushes.len(), 1);
    assert_eq!(pushes[0].reference, "refs/heads/topic");
    assert_eq!(
        (&pushes[0].before, &pushes[0].after, pushes[0].forced),
        (&None, &Some(tip), false)
    );
    world.gitlab.check().unwrap();
}

#[test]
fn git_is_asked_for_a_password_and_not_told_about_strangers() {
    let world = World::new();
    let url = format!(
        "{}/info/refs?service=git-upload-pack",
        world.project.clone_url()
    );
    let refused = Call::get(&url).send().unwrap();
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.header("www-authenticate"),
        Some("Basic realm=\"GitLab\"")
    );
    let with = |user: &str, token: &str| {
        let basic = crate::coding::base64(format!("{user}:{token}").as_bytes());
        Call::get(&url)
            .header("authorization", &format!("Basic {basic}"))
            .send()
            .unwrap()
            .status
    };
    world.gitlab.token("glpat-stranger", "stranger");
    assert_eq!(with("oauth2", TOKEN), 200);
    assert_eq!(with("somebody", TOKEN), 401);
    assert_eq!(with("oauth2", "wrong"), 401);
    assert_eq!(with("oauth2", "glpat-stranger"), 404);
    world.project.make_public();
    assert_eq!(Call::get(&url).send().unwrap().status, 200);
    let push = url.replace("upload-pack", "receive-pack");
    assert_eq!(Call::get(&push).send().unwrap().status, 401);
}

#[test]
fn who_may_not_push_is_refused_with_gitlabs_words() {
    let world = World::new();
    let directory = work(&world);
    world.gitlab.token("glpat-reporter", "reporter");
    world.project.set_member("reporter", 20);
    world.gitlab.read_only_token("glpat-read", "automation");
    for token in ["glpat-reporter", "glpat-read"] {
        let told = push(&world, directory.path(), token, &["topic"]).unwrap_err();
        assert!(told.contains("403"), "{told}");
    }
    let told = push(&world, directory.path(), TOKEN, &["topic:main"]).unwrap_err();
    let protected = "remote: GitLab: You are not allowed to push code to protected branches";
    assert!(
        told.contains(protected) && told.contains("pre-receive hook declined"),
        "{told}"
    );
    world.gitlab.token("glpat-maintainer", "maintainer");
    world.project.set_member("maintainer", 40);
    push(
        &world,
        directory.path(),
        "glpat-maintainer",
        &["topic:main"],
    )
    .unwrap();
    world.project.archive();
    let told = push(&world, directory.path(), TOKEN, &["topic"]).unwrap_err();
    assert!(told.contains("403"), "{told}");
    assert_eq!(world.project.pushes().len(), 1);
}

#[test]
fn push_rules_refuse_with_their_text() {
    let world = World::new();
    let directory = work(&world);
    world
        .project
        .set_push_rule("Commit message does not follow the pattern 'JIRA-'")
        .unwrap();
    let told = push(&world, directory.path(), TOKEN, &["topic"]).unwrap_err();
    assert!(
        told.contains("remote: GitLab: Commit message does not follow"),
        "{told}"
    );
    world.project.set_push_rule("").unwrap();
    world
        .project
        .require_committer("automation@example.org")
        .unwrap();
    let told = push(&world, directory.path(), TOKEN, &["topic"]).unwrap_err();
    assert!(
        told.contains("You cannot push commits for 'agent@example.org'."),
        "{told}"
    );
    world
        .project
        .require_committer("agent@example.org")
        .unwrap();
    push(&world, directory.path(), TOKEN, &["topic"]).unwrap();
    assert!(push(&world, directory.path(), TOKEN, &["--delete", "topic"]).is_ok());
    assert_eq!(world.project.tip("topic"), None);
}

#[test]
fn a_push_that_throws_commits_away_is_told() {
    let world = World::new();
    let directory = work(&world);
    world
        .project
        .commit_to("topic", "Theirs", [("theirs.txt", "t")])
        .unwrap();
    assert!(push(&world, directory.path(), TOKEN, &["topic"]).is_err());
    push(&world, directory.path(), TOKEN, &["--force", "topic"]).unwrap();
    assert!(world.project.pushes()[0].forced);
    assert!(!world.project.files("topic").contains_key("theirs.txt"));
}

#[test]
fn a_push_is_seen_by_the_merge_request_and_may_be_followed_by_a_refusal() {
    let world = World::new();
    let directory = work(&world);
    world.project.refuse_merge_requests_after_push(1);
    push(&world, directory.path(), TOKEN, &["topic"]).unwrap();
    let body = json!({"source_branch": "topic", "target_branch": "main", "title": "x"});
    let refused = world.post("/merge_requests", &body);
    let expected = json!({"message": {"source_branch": ["does not exist"]}});
    assert_eq!((refused.status, refused.json()), (400, expected));
    assert_eq!(world.post("/merge_requests", &body).status, 201);
    world.gitlab.advance(9.0);
    git_ok(
        directory.path(),
        None,
        &["commit", "-q", "--allow-empty", "-m", "More"],
    );
    push(&world, directory.path(), TOKEN, &["topic"]).unwrap();
    let tip = git_ok(directory.path(), None, &["rev-parse", "HEAD"]);
    let shown = world.get("/merge_requests/1").json();
    assert_eq!(
        (&shown["sha"], &shown["updated_at"]),
        (&json!(tip), &json!("2026-08-18T09:00:09.000Z"))
    );
}

#[test]
fn an_empty_repository_takes_its_first_push() {
    let world = World::new();
    let empty = world.gitlab.empty_project("group/empty").unwrap();
    empty.set_member("automation", 30);
    let directory = work(&world);
    let credential = Some((world.gitlab.server().base_url(), TOKEN));
    git_ok(
        directory.path(),
        credential,
        &["fetch", "-q", "--unshallow", "origin"],
    );
    git_ok(
        directory.path(),
        credential,
        &["push", "-q", &empty.clone_url(), "topic:main"],
    );
    assert_eq!(empty.files("main").len(), 2);
    let url = format!("{}/projects/{}", world.gitlab.api_url(), empty.id());
    let shown = Call::get(&url)
        .header("private-token", TOKEN)
        .send()
        .unwrap()
        .json();
    assert_eq!(shown["default_branch"], "main");
}

#[test]
fn a_moved_project_and_a_mirror_send_git_on() {
    let world = World::new();
    let former = format!(
        "{}/info/refs?service=git-upload-pack",
        world.project.clone_url()
    );
    world.project.rename("group/other");
    let basic = crate::coding::base64(format!("oauth2:{TOKEN}").as_bytes());
    let ask = |url: &str| {
        Call::get(url)
            .header("authorization", &format!("Basic {basic}"))
            .send()
            .unwrap()
    };
    let answer = ask(&former);
    assert_eq!(answer.status, 301);
    assert_eq!(ask(answer.header("location").unwrap()).status, 200);
    world.project.redirect_git_to("http://127.0.0.1:9/mirror");
    let answer = ask(answer.header("location").unwrap());
    let expected = "http://127.0.0.1:9/mirror/group/other.git/info/refs?service=git-upload-pack";
    assert_eq!(
        (answer.status, answer.header("location")),
        (301, Some(expected))
    );
}

#[test]
fn all_kinds_of_files_are_committed_and_read_back() {
    let world = World::new();
    let change = [
        ("run.sh", Entry::Executable(b"#!/bin/sh\n".to_vec())),
        ("data.bin", Entry::File(vec![0, 255, 10, 0])),
        ("link", Entry::Symlink("run.sh".to_owned())),
        ("vendor/sub", Entry::Submodule("1".repeat(40))),
        ("with \"quotes\" and ü.txt", Entry::from("q")),
        ("README.md", Entry::Removed),
    ];
    world
        .project
        .commit_to("kinds", "Kinds\n\nAll of them.", change.clone())
        .unwrap();
    let tree = world.project.files("kinds");
    for (path, entry) in &change[..5] {
        assert_eq!(tree.get(*path), Some(entry), "{path}");
    }
    assert!(!tree.contains_key("README.md"));
    let commit = &world.project.commits("kinds")[0];
    assert_eq!(commit.message.trim_end(), "Kinds\n\nAll of them.");
    assert_eq!(commit.authored_at, "2026-08-18T09:00:00Z");
    assert!(world.project.files("nowhere").is_empty());
    assert!(
        world
            .project
            .commit_to("bad..name", "x", [("a", "b")])
            .is_err()
    );
}

#[test]
fn large_pushes_arrive_compressed_or_in_chunks() {
    let world = World::new();
    let directory = work(&world);
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(300_000)
    .collect();
    std::fs::write(directory.path().join("noise.bin"), noise).unwrap();
    git_ok(directory.path(), None, &["add", "noise.bin"]);
    git_ok(directory.path(), None, &["commit", "-q", "-m", "Noise"]);
    // Below the size of its buffer git sends a length, above it chunks.
    git_ok(
        directory.path(),
        None,
        &["config", "http.postBuffer", "65536"],
    );
    push(&world, directory.path(), TOKEN, &["topic"]).unwrap();
    let chunked = world
        .gitlab
        .server()
        .log()
        .last("POST", "git-receive-pack")
        .unwrap();
    assert_eq!(chunked.header("transfer-encoding"), Some("chunked"));
    assert_eq!(
        world.project.files("topic")["noise.bin"].bytes().len(),
        300_000
    );

    // A fetch that tells of many commits is compressed.
    for number in 0..8 {
        world
            .project
            .commit_to("many", &format!("Number {number}"), [("n", "n")])
            .unwrap();
    }
    let credential = Some((world.gitlab.server().base_url(), TOKEN));
    let url = world.project.clone_url();
    let full = tempfile::tempdir().unwrap();
    git_ok(full.path(), credential, &["clone", "-q", &url, "."]);
    git_ok(full.path(), credential, &["fetch", "-q", "origin", "many"]);
    let coded = world
        .gitlab
        .server()
        .log()
        .matching("POST", "git-upload-pack");
    let compressed = coded
        .iter()
        .any(|one| one.header("content-encoding") == Some("gzip"));
    assert!(coded.len() > 2, "{}", coded.len());
    let basic = crate::coding::base64(format!("oauth2:{TOKEN}").as_bytes());
    if !compressed {
        let first = coded.iter().find(|one| one.body.len() > 20).unwrap();
        let mut coder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut coder, &first.body).unwrap();
        let call = Call::new("POST", &format!("{url}/git-upload-pack"))
            .header("authorization", &format!("Basic {basic}"))
            .header("content-encoding", "gzip")
            .header("git-protocol", "version=2")
            .body(
                "application/x-git-upload-pack-request",
                coder.finish().unwrap(),
            );
        assert_eq!(call.send().unwrap().status, 200);
    }
}

#[test]
fn faults_reach_git_too() {
    let world = World::new();
    let directory = work(&world);
    world
        .gitlab
        .server()
        .faults()
        .add(Fault::answer_lost().on("POST", "git-receive-pack"));
    assert!(push(&world, directory.path(), TOKEN, &["topic"]).is_err());
    assert!(
        world.project.tip("topic").is_some(),
        "the push had its effect"
    );
    let fault = Fault::status(503).on("GET", "info/refs");
    world.gitlab.server().faults().add(fault);
    assert!(push(&world, directory.path(), TOKEN, &["topic:again"]).is_err());
    push(&world, directory.path(), TOKEN, &["topic:again"]).unwrap();
}
