//! The download host: another origin than the API, where a one-time token in the address opens an
//! archive and an `Authorization` header is a mistake. It refuses such a request, so a client that
//! lets the token follow the redirect fails here.

use std::io::{self, Write};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::mpsc;

use super::Shared;
use super::archive::{Archive, Place, write};
use crate::rest::{Ask, Reply};

/// Bytes that are handed over at once.
const PORTION: usize = 32 * 1024;

/// Answers `/{owner}/{name}/legacy.tar.gz/{sha}`.
pub(super) fn router(model: Shared) -> Router {
    Router::new()
        .route("/{*path}", axum::routing::any(serve))
        .with_state(model)
}

async fn serve(State(model): State<Shared>, request: Request) -> Response {
    let ask = Ask::read(request).await;
    if ask.header("authorization").is_some() {
        let reply = Reply::bytes(403, "text/plain; charset=utf-8", "403: Forbidden");
        return reply
            .unexpected("the Authorization header followed the redirect to the download host")
            .into_response("");
    }
    let segments = ask.segments("").unwrap_or_default();
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let found = match (ask.reads(), parts.as_slice()) {
        (true, [owner, name, "legacy.tar.gz", sha]) => archive(&model, &ask, owner, name, sha),
        _ => None,
    };
    match found {
        Some((archive, place)) => send(archive, place),
        None => Reply::bytes(404, "text/plain; charset=utf-8", "404: Not Found").into_response(""),
    }
}

/// The archive that an address names, if its token is good and the commit still exists.
fn archive(
    model: &Shared,
    ask: &Ask,
    owner: &str,
    name: &str,
    sha: &str,
) -> Option<(Archive, Place)> {
    let model = super::lock(model);
    let repo = model.repos.get(model.downloads.get(ask.query("token")?)?)?;
    let archive = match repo.archives.get(sha) {
        Some(Archive::Missing) => return None,
        Some(archive) => archive.clone(),
        None => Archive::Tree(repo.commits.get(sha)?.tree.clone()),
    };
    let place = Place {
        root: format!("{owner}-{name}-{}", sha.get(..7)?),
        sha: sha.to_owned(),
        at: 1_750_000_000,
    };
    Some((archive, place))
}

/// Sends an archive while it is being made.
fn send(archive: Archive, place: Place) -> Response {
    let file = format!("attachment; filename={}.tar.gz", place.root);
    let (portions, receiver) = mpsc::channel::<io::Result<Bytes>>(4);
    tokio::task::spawn_blocking(move || {
        let mut sink = Portions {
            sender: portions.clone(),
            buffer: Vec::new(),
        };
        if let Err(error) = write(&archive, &place, &mut sink).and_then(|()| sink.flush()) {
            // Nobody may be listening any more, which is how most errors come about.
            let _ = portions.blocking_send(Err(error));
        }
    });
    let body = Body::from_stream(stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|portion| (portion, receiver))
    }));
    let mut response = Reply::empty(200)
        .header("content-type", "application/x-gzip")
        .header("content-disposition", file)
        .header("x-content-type-options", "nosniff")
        .into_response("");
    *response.body_mut() = body;
    response
}

/// Collects what is written into portions and hands them over; waits while the receiver is busy.
struct Portions {
    sender: mpsc::Sender<io::Result<Bytes>>,
    buffer: Vec<u8>,
}

impl Write for Portions {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PORTION {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let portion = Bytes::from(std::mem::take(&mut self.buffer));
        self.sender
            .blocking_send(Ok(portion))
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
