//! git over HTTP: where the credential goes, and what the host's refusals become.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workspace_fs::{GitCredential, GitRemote, GitSettings, WorkspaceError};

use crate::http::{Behaviour, Host};
use crate::scene::{BRANCH, Scene, git, make_remote, settings};

const TOKEN: &str = "glpat-SECRETSECRETSECRET1";
/// `oauth2:` and the token, as the header has it.
const ENCODED: &str = "b2F1dGgyOmdscGF0LVNFQ1JFVFNFQ1JFVFNFQ1JFVDE=";

/// A host that serves `tmp/remote.git` to the token.
async fn gitlab(tmp: &TempDir) -> Host {
    make_remote(tmp.path());
    Host::start(Behaviour::Git {
        root: tmp.path().to_owned(),
        authorization: format!("Basic {ENCODED}"),
    })
    .await
}

fn remote(origin: &str) -> GitRemote {
    let url = format!("{origin}/remote.git");
    GitRemote::new(&url, Some(GitCredential::oauth2(TOKEN))).unwrap()
}

/// Only what a deployed program allows.
fn strict() -> GitSettings {
    let mut settings = settings();
    settings.local_remotes = false;
    settings
}

/// The error of a clone from a host that behaves so.
async fn refused(behaviour: Behaviour, settings: GitSettings) -> WorkspaceError {
    let host = Host::start(behaviour).await;
    let tmp = TempDir::new().unwrap();
    let base = tmp.path().join("base");
    let error = Scene::cloned(tmp, settings, remote(&host.origin))
        .await
        .err()
        .unwrap();
    assert!(!base.join("issue-to-mr/group__project/issue-42-7").exists());
    let text = format!("{error} {error:?}");
    assert!(!text.contains(TOKEN) && !text.contains(ENCODED), "{text}");
    error
}

/// All files below a directory that hold a text.
fn files_with(dir: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            found.extend(files_with(&path, needle));
        } else if metadata.is_file() {
            let content = fs::read(&path).unwrap();
            if content
                .windows(needle.len())
                .any(|window| window == needle.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn the_credential_goes_to_its_host_and_nowhere_else() {
    let tmp = TempDir::new().unwrap();
    let host = gitlab(&tmp).await;
    // A git that tells its arguments before it does its work.
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|dir| dir.join("git"))
        .find(|file| file.exists())
        .unwrap();
    let (bin, log) = (tmp.path().join("bin"), tmp.path().join("arguments"));
    fs::create_dir(&bin).unwrap();
    let wrapper = format!(
        "#!/bin/sh\necho \"$@\" >>{}\nexec {} \"$@\"\n",
        log.display(),
        real.display()
    );
    fs::write(bin.join("git"), wrapper).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut settings = strict();
    let mut dirs = vec![bin];
    dirs.extend(std::env::split_paths(&settings.search_path));
    settings.search_path = std::env::join_paths(dirs).unwrap();

    let (scene, _) = Scene::cloned(tmp, settings, remote(&host.origin))
        .await
        .unwrap();
    let dir = scene.workspace.path();
    let origin = git(dir, &["config", "remote.origin.url"]);
    assert_eq!(origin, format!("{}/remote.git", host.origin));
    for secret in [TOKEN, ENCODED, "oauth2"] {
        assert_eq!(files_with(dir, secret), Vec::<String>::new());
    }
    scene.agent("plain", &[]);
    let (outcome, pushed) = scene.finish().await;
    assert_eq!((outcome.commits, pushed.commits), (1, 2));
    let arguments = fs::read_to_string(log).unwrap();
    assert!(arguments.contains("clone") && arguments.contains("push"));
    assert!(
        !arguments.contains(TOKEN) && !arguments.contains(ENCODED),
        "{arguments}"
    );
    assert!(host.seen().len() >= 4);
    for seen in host.seen() {
        assert_eq!(
            seen.headers["authorization"],
            format!("Basic {ENCODED}"),
            "{}",
            seen.line
        );
    }
}

#[tokio::test]
async fn settings_in_the_clone_do_not_reach_the_connection() {
    let tmp = TempDir::new().unwrap();
    let host = gitlab(&tmp).await;
    let proxy = Host::start(Behaviour::Fixed("200 OK", String::new(), "")).await;
    let (scene, _) = Scene::cloned(tmp, strict(), remote(&host.origin))
        .await
        .unwrap();
    scene.agent("http", &[("HOSTILE_PROXY", &proxy.origin)]);
    scene.finish().await;
    assert!(proxy.seen().is_empty());
    assert!(
        host.seen()
            .iter()
            .all(|seen| !seen.headers.contains_key("x-evil"))
    );
    // The trap is real.
    let tmp = TempDir::new().unwrap();
    let (scene, _) = {
        make_remote(tmp.path());
        let url = format!("file://{}/remote.git", tmp.path().display());
        Scene::cloned(tmp, settings(), GitRemote::new(&url, None).unwrap())
            .await
            .unwrap()
    };
    scene.agent("http", &[("HOSTILE_PROXY", &proxy.origin)]);
    let dir = scene.workspace.path().to_owned();
    let url = format!("{}/remote.git", host.origin);
    tokio::task::spawn_blocking(move || git(&dir, &["ls-remote", &url]))
        .await
        .unwrap();
    assert!(!proxy.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_takes_the_credential_nowhere() {
    let other = Host::start(Behaviour::Fixed("200 OK", String::new(), "")).await;
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
    ] {
        let to = format!(
            "Location: {}/remote.git/info/refs?service=git-upload-pack\r\n",
            other.origin
        );
        let error = refused(Behaviour::Fixed(status, to, ""), strict()).await;
        assert!(
            matches!(error, WorkspaceError::GitRedirected { .. }),
            "{error}"
        );
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_push_that_is_redirected_takes_the_credential_nowhere() {
    let tmp = TempDir::new().unwrap();
    let host = gitlab(&tmp).await;
    let (mut scene, _) = Scene::cloned(tmp, strict(), remote(&host.origin))
        .await
        .unwrap();
    scene.agent("plain", &[]);
    let other = Host::start(Behaviour::Fixed("200 OK", String::new(), "")).await;
    let to = format!(
        "Location: {}/remote.git/info/refs?service=git-receive-pack\r\n",
        other.origin
    );
    let mover = Host::start(Behaviour::Fixed("301 Moved Permanently", to, "")).await;
    scene.remote = remote(&mover.origin);
    let work = scene.inspect().await.unwrap();
    let error = scene.push(&work, BRANCH).await.unwrap_err();
    assert!(
        matches!(error, WorkspaceError::GitRedirected { .. }),
        "{error}"
    );
    assert!(!mover.seen().is_empty() && other.seen().is_empty());
}

#[tokio::test]
async fn nothing_is_asked_for() {
    let begin = Instant::now();
    let challenge = "WWW-Authenticate: Basic realm=\"x\"\r\n".to_owned();
    let behaviour = Behaviour::Fixed("401 Unauthorized", challenge, "HTTP Basic: Access denied");
    let error = refused(behaviour, strict()).await;
    assert!(matches!(error, WorkspaceError::GitAuth { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn statuses_become_errors_that_say_what_to_do() {
    let mut texts = Vec::new();
    for status in [
        "403 Forbidden",
        "404 Not Found",
        "429 Too Many Requests",
        "500 Internal Server Error",
        "503 Service Unavailable",
    ] {
        let error = refused(Behaviour::Fixed(status, String::new(), "no"), strict()).await;
        let text = error.to_string();
        let at = text.find("http://").unwrap();
        let end = at + text[at..].find("/remote.git").unwrap();
        texts.push(format!("{status}: {}HOST{}", &text[..at], &text[end..]));
    }
    insta::assert_snapshot!(texts.join("\n"), @r"
    403 Forbidden: git clone is not allowed: fatal: unable to access 'HOST/remote.git/': The requested URL returned error: 403; the token's owner needs at least the Developer role and the scope write_repository
    404 Not Found: git clone did not find the repository: fatal: repository 'HOST/remote.git/' not found; check the project's path and the token's membership
    429 Too Many Requests: git clone did not get through to the host: fatal: unable to access 'HOST/remote.git/': The requested URL returned error: 429; check address, proxy and CA certificates, or try again later
    500 Internal Server Error: git clone did not get through to the host: fatal: unable to access 'HOST/remote.git/': The requested URL returned error: 500; check address, proxy and CA certificates, or try again later
    503 Service Unavailable: git clone did not get through to the host: fatal: unable to access 'HOST/remote.git/': The requested URL returned error: 503; check address, proxy and CA certificates, or try again later
    ");
}

#[tokio::test]
async fn a_host_that_never_answers_costs_one_timeout() {
    let mut settings = strict();
    settings.timeout = Duration::from_millis(800);
    let error = refused(Behaviour::Mute, settings).await;
    assert!(
        matches!(
            error,
            WorkspaceError::GitTimeout {
                call: "git clone",
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_unreachable_host() {
    let tmp = TempDir::new().unwrap();
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let remote = remote(&format!("http://127.0.0.1:{port}"));
    let error = Scene::cloned(tmp, strict(), remote).await.err().unwrap();
    assert!(
        matches!(error, WorkspaceError::GitUnreachable { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_proxy_is_used_for_other_hosts_only() {
    let proxy = Host::start(Behaviour::Fixed("403 Forbidden", String::new(), "")).await;
    let mut settings = strict();
    settings.http_proxy = Some(proxy.origin.clone());
    let outside = remote("http://gitlab.invalid");
    let tmp = TempDir::new().unwrap();
    let error = Scene::cloned(tmp, settings.clone(), outside)
        .await
        .err()
        .unwrap();
    assert!(
        matches!(error, WorkspaceError::GitForbidden { .. }),
        "{error}"
    );
    assert!(
        proxy.seen()[0]
            .line
            .starts_with("GET http://gitlab.invalid/remote.git/info/refs")
    );
    let before = proxy.seen().len();
    let tmp = TempDir::new().unwrap();
    let host = gitlab(&tmp).await;
    Scene::cloned(tmp, settings, remote(&host.origin))
        .await
        .unwrap();
    assert_eq!(proxy.seen().len(), before);
}

/// The clone lost its history; the base is fetched again, with the credential and nothing else.
#[tokio::test]
async fn a_lost_base_is_fetched_again() {
    let tmp = TempDir::new().unwrap();
    let host = gitlab(&tmp).await;
    let (scene, _) = Scene::cloned(tmp, strict(), remote(&host.origin))
        .await
        .unwrap();
    // The default branch has moved on meanwhile.
    let other = scene.tmp.path().join("other");
    git(scene.tmp.path(), &["clone", "-q", "remote.git", "other"]);
    let commit = [
        "-c",
        "user.name=o",
        "-c",
        "user.email=o@o",
        "commit",
        "-qm",
        "x",
        "--allow-empty",
    ];
    git(&other, &commit);
    git(&other, &["push", "-q", "origin", "main"]);
    scene.agent("git-gone", &[]);
    let (outcome, pushed) = scene.finish().await;
    assert!(outcome.rebuilt.is_some());
    assert_eq!(pushed.commits, 1);
    assert_eq!(
        scene.pushed_changes(),
        ["M 100644 a.txt", "A 100644 new.txt"]
    );
}
