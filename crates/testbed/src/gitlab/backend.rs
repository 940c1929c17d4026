//! git over HTTP: `git http-backend` as a CGI program over the bare repositories. Who may read and
//! who may push is decided before it starts, as GitLab does: Basic authentication with the user
//! `oauth2` and a token as the password.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use super::git::{FOREIGN, environment};
use super::model::{DEVELOPER, Model, Project};
use super::{Shared, lock};
use crate::coding::from_base64;
use crate::rest::{Ask, Reply};

/// What a git request is about.
struct Wanted {
    /// Id of the project.
    project: u64,
    /// The repository's directory.
    dir: PathBuf,
    /// What follows the repository in the address, with its slash.
    service: String,
    /// Whether it is about pushing.
    pushes: bool,
    /// Name and access level of who asks, if it is known.
    caller: Option<(String, u32)>,
    /// The project's page.
    url: String,
}

/// The services of git over HTTP; everything else under a repository is none of git's business.
const SERVICES: [&str; 3] = ["/info/refs", "/git-upload-pack", "/git-receive-pack"];

/// Whether a request is one of git's.
pub(super) fn is_git(ask: &Ask) -> bool {
    SERVICES.iter().any(|service| ask.path.ends_with(service)) && ask.path.contains(".git/")
}

/// Answers one of git's requests.
pub(super) async fn serve(model: &Shared, prefix: &str, ask: &Ask) -> Reply {
    let wanted = match admit(&lock(model), prefix, ask) {
        Ok(wanted) => wanted,
        Err(reply) => return reply,
    };
    let reply = match run(&wanted, ask).await {
        Ok(output) => cgi(&output),
        Err(error) => Reply::bytes(500, "text/plain", format!("git http-backend: {error}")),
    };
    if wanted.service == "/git-receive-pack" {
        lock(model).pushed(wanted.project);
    }
    reply
}

/// Decides whether git gets to run, and for whom.
fn admit(model: &Model, prefix: &str, ask: &Ask) -> Result<Wanted, Reply> {
    let path = ask.path.strip_prefix(prefix).unwrap_or(&ask.path);
    let (repository, service) = path.split_once(".git/").unwrap_or((path, ""));
    let full_path = crate::coding::decode(repository.trim_matches('/'));
    let service = format!("/{service}");
    let pushes =
        service.ends_with("/git-receive-pack") || ask.query("service") == Some("git-receive-pack");

    let user = match credentials(ask) {
        None => None,
        Some((name, token)) => match model.tokens.get(&token).filter(|_| name == "oauth2") {
            Some(token) => Some(token.clone()),
            None => return Err(challenge()),
        },
    };
    if let Some(id) = model.moved.get(&full_path.to_lowercase())
        && let Some(project) = model.projects.get(id)
    {
        let address = format!(
            "{}/{}.git{service}?{}",
            model.base, project.path, ask.raw_query
        );
        return Err(Reply::empty(301).header("location", address));
    }
    let Some(project) = model.project_named(&full_path) else {
        return Err(if user.is_none() {
            challenge()
        } else {
            nowhere()
        });
    };
    let level = user.as_ref().and_then(|token| project.level(token.user));
    if user.is_none() && (pushes || !project.public) {
        return Err(challenge());
    }
    if level.is_none() && !project.public {
        return Err(nowhere());
    }
    if let Some(other) = &project.git_redirect {
        let address = format!("{other}/{}.git{service}?{}", project.path, ask.raw_query);
        return Err(Reply::empty(301).header("location", address));
    }
    refusal(
        project,
        level,
        pushes,
        user.as_ref().is_some_and(|token| token.writes),
    )?;
    let caller = user.as_ref().and_then(|token| {
        Some((
            model.users.get(&token.user)?.username.clone(),
            level.unwrap_or(0),
        ))
    });
    Ok(Wanted {
        project: project.id,
        dir: project.bare.dir.clone(),
        service,
        pushes,
        caller,
        url: format!("{}/{}", model.base, project.path),
    })
}

fn refusal(project: &Project, level: Option<u32>, pushes: bool, writes: bool) -> Result<(), Reply> {
    let refuse = |text: &str| Err(Reply::bytes(403, "text/plain; charset=utf-8", text));
    if !project.repository_enabled {
        return refuse("The project you're accessing has its repository disabled.");
    }
    if pushes && project.archived {
        return refuse("You can't push code to an archived project.");
    }
    if pushes && (level.is_none_or(|level| level < DEVELOPER) || !writes) {
        return refuse("You are not allowed to push code to this project.");
    }
    Ok(())
}

fn credentials(ask: &Ask) -> Option<(String, String)> {
    let coded = ask.header("authorization")?.strip_prefix("Basic ")?;
    let plain = String::from_utf8(from_base64(coded.trim())?).ok()?;
    let (name, password) = plain.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

fn challenge() -> Reply {
    let text = "HTTP Basic: Access denied. If a password was provided for Git authentication, the \
                password was incorrect or you're required to use a token instead of a password.";
    Reply::bytes(401, "text/plain; charset=utf-8", text)
        .header("www-authenticate", "Basic realm=\"GitLab\"")
}

fn nowhere() -> Reply {
    let text = "The project you were looking for could not be found or you don't have permission \
                to view it.";
    Reply::bytes(404, "text/plain; charset=utf-8", text)
}

/// Runs the CGI program on a request and gives what it wrote.
async fn run(wanted: &Wanted, ask: &Ask) -> std::io::Result<Vec<u8>> {
    let mut command = tokio::process::Command::new("git");
    for name in FOREIGN {
        command.env_remove(name);
    }
    for (name, value) in environment(&wanted.dir) {
        command.env(name, value);
    }
    let header = |name: &str| ask.header(name).unwrap_or_default().to_owned();
    let (name, level) = wanted.caller.clone().unwrap_or_default();
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", &wanted.dir)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", &wanted.service)
        .env("REQUEST_METHOD", &ask.method)
        .env("QUERY_STRING", &ask.raw_query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", ask.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("HTTP_GIT_PROTOCOL", header("git-protocol"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("STAND_IN_LEVEL", level.to_string())
        .env("STAND_IN_URL", &wanted.url)
        .current_dir(&wanted.dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    // A user's name is what lets the program take a push.
    if wanted.pushes {
        command.env("REMOTE_USER", &name);
    } else {
        command.env_remove("REMOTE_USER");
    }
    let mut child = command.spawn()?;
    let input = child.stdin.take();
    let body = ask.body.clone();
    let feed = async move {
        if let Some(mut input) = input {
            // The program may well stop reading early, which is no failure of ours.
            let _ = input.write_all(&body).await;
        }
    };
    let (output, ()) = tokio::join!(child.wait_with_output(), feed);
    Ok(output?.stdout)
}

/// Takes what a CGI program wrote apart: headers, an empty line, the body.
fn cgi(output: &[u8]) -> Reply {
    let blank = output.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = blank else {
        return Reply::bytes(500, "text/plain", "git http-backend gave no answer");
    };
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let mut reply = Reply::bytes(200, "", &output[end + 4..]);
    for line in head.lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => {
                reply.status = status
                    .get(..3)
                    .and_then(|code| code.parse().ok())
                    .unwrap_or(500);
            }
            Some((name, value)) => reply = reply.header(&name.to_lowercase(), value),
            None => {}
        }
    }
    reply
}
