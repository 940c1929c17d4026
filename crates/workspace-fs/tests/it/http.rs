//! A git host on loopback: real git behind it, or an answer made up for a test.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

/// What a host does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Behaviour {
    /// Serves the repositories below a folder to whoever sends this `Authorization`.
    Git {
        root: PathBuf,
        authorization: String,
    },
    /// Answers with a status, further headers and a body.
    Fixed(&'static str, String, &'static str),
    /// Accepts, and never answers.
    Mute,
}

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub line: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
}

/// A host that runs until the test's runtime ends.
pub(crate) struct Host {
    pub origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Host {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, behaviour.clone(), Arc::clone(&log)));
            }
        });
        Self { origin, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, behaviour: Behaviour, log: Arc<Mutex<Vec<Seen>>>) {
    let mut stream = BufReader::new(stream);
    let mut seen = Seen::default();
    stream.read_line(&mut seen.line).await.unwrap();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        seen.headers
            .insert(name.to_lowercase(), value.trim().to_owned());
    }
    log.lock().unwrap().push(seen.clone());
    match behaviour {
        Behaviour::Mute => std::future::pending().await,
        Behaviour::Fixed(status, headers, body) => {
            answer(&mut stream, status, &headers, body.as_bytes()).await;
        }
        Behaviour::Git {
            root,
            authorization,
        } => {
            if seen.headers.get("authorization") == Some(&authorization) {
                git_backend(&mut stream, &seen, root).await;
            } else {
                let challenge = "WWW-Authenticate: Basic realm=\"GitLab\"\r\n";
                answer(
                    &mut stream,
                    "401 Unauthorized",
                    challenge,
                    b"HTTP Basic: Access denied",
                )
                .await;
            }
        }
    }
}

async fn answer(stream: &mut BufReader<TcpStream>, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    let whole = [head.as_bytes(), body].concat();
    // Whoever has gone away needs no answer.
    let _ = stream.write_all(&whole).await;
    let _ = stream.shutdown().await;
}

/// Runs `git http-backend` as a web server would.
async fn git_backend(stream: &mut BufReader<TcpStream>, seen: &Seen, root: PathBuf) {
    let header = |name: &str| seen.headers.get(name).cloned().unwrap_or_default();
    if header("expect").contains("100-continue") {
        stream
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
            .await
            .unwrap();
    }
    let body = read_body(stream, &seen.headers).await;
    let mut words = seen.line.split(' ');
    let method = words.next().unwrap().to_owned();
    let target = words.next().unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "oauth2")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut output = Vec::new();
    let mut stdout = child.stdout.take().unwrap();
    let write = async {
        let _ = stdin.write_all(&body).await;
        drop(stdin);
    };
    let ((), read) = tokio::join!(write, stdout.read_to_end(&mut output));
    read.unwrap();
    child.wait().await.unwrap();
    let end = output
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: "));
    let mut headers = String::new();
    for line in head.lines().filter(|line| !line.starts_with("Status: ")) {
        headers += line;
        headers += "\r\n";
    }
    answer(
        stream,
        status.unwrap_or("200 OK"),
        &headers,
        &output[end + 4..],
    )
    .await;
}

async fn read_body(
    stream: &mut BufReader<TcpStream>,
    headers: &HashMap<String, String>,
) -> Vec<u8> {
    let mut body = Vec::new();
    if headers
        .get("transfer-encoding")
        .is_some_and(|how| how == "chunked")
    {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            let size = u64::from_str_radix(line.trim(), 16).unwrap();
            (&mut *stream)
                .take(size)
                .read_to_end(&mut body)
                .await
                .unwrap();
            stream.read_line(&mut line).await.unwrap();
            if size == 0 {
                return body;
            }
        }
    }
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    stream.take(length).read_to_end(&mut body).await.unwrap();
    body
}
