//! Bodies: compressed, too long, cut off.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_client::{HttpError, Request};

use crate::client;
use crate::server::{Reply, Server};

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

async fn serving(encoding: &'static str, body: Vec<u8>) -> Server {
    Server::start(move |_, _| {
        Reply::Answer(200, Vec::new(), body.clone()).with("content-encoding", encoding)
    })
    .await
}

async fn read(server: &Server, max_bytes: u64) -> Result<Vec<u8>, HttpError> {
    let request = Request::get("feed", server.at("/")).max_bytes(max_bytes);
    client().send(request).await.map(|response| response.body)
}

#[tokio::test]
async fn gzip_is_asked_for_and_unpacked() {
    let text = "a line of a feed\n".repeat(10_000);
    let server = serving("gzip", gzip(text.as_bytes())).await;
    assert_eq!(read(&server, 1 << 20).await.unwrap(), text.as_bytes());
    assert_eq!(server.asked()[0].header("accept-encoding"), Some("gzip"));
}

#[tokio::test]
async fn the_limit_counts_what_comes_out() {
    let bomb = gzip(&vec![0; 50 << 20]);
    assert!(bomb.len() < 100_000);
    let server = serving("x-gzip", bomb).await;
    let error = read(&server, 1 << 20).await.unwrap_err();
    assert!(
        matches!(
            error,
            HttpError::TooLarge {
                limit: 1_048_576,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(server.lines().len(), 1);
}

#[tokio::test]
async fn the_limit_is_exact() {
    let server = serving("identity", vec![b'x'; 1000]).await;
    assert_eq!(read(&server, 1000).await.unwrap().len(), 1000);
    assert!(matches!(
        read(&server, 999).await,
        Err(HttpError::TooLarge { .. })
    ));
}

#[tokio::test]
async fn compressed_data_that_is_cut_off_or_damaged_is_an_error() {
    let whole = gzip(b"the whole truth, and nothing but the truth");
    let cut = serving("gzip", whole[..whole.len() - 9].to_vec()).await;
    let mut wrong = whole.clone();
    let checksum = wrong.len() - 6;
    wrong[checksum] ^= 0xff;
    let wrong = serving("gzip", wrong).await;
    for server in [cut, wrong] {
        let error = read(&server, 1000).await.unwrap_err();
        assert!(matches!(error, HttpError::Body { .. }), "{error}");
        assert!(error.to_string().contains("gzip"), "{error}");
    }
}

#[tokio::test]
async fn compression_that_is_announced_but_not_there() {
    let server = serving("gzip", b"<rss/>".to_vec()).await;
    assert_eq!(read(&server, 1000).await.unwrap(), b"<rss/>");
    let empty = serving("gzip", Vec::new()).await;
    assert_eq!(read(&empty, 1000).await.unwrap(), b"");
}

#[tokio::test]
async fn several_members_and_padding_after_them() {
    let body = [gzip(b"one, "), gzip(b"two"), vec![0; 8]].concat();
    let server = serving("gzip", body).await;
    assert_eq!(read(&server, 1000).await.unwrap(), b"one, two");
}

#[tokio::test]
async fn a_stream_gives_the_body_in_pieces_and_its_errors_too() {
    let big = vec![b'x'; 300_000];
    let server = Server::start({
        let big = big.clone();
        move |_, n| match n {
            0 => Reply::Answer(200, Vec::new(), big.clone()).with("etag", "\"1\""),
            1 => Reply::Answer(404, Vec::new(), b"no such commit".to_vec()),
            _ => Reply::Raw(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n".to_vec(),
            ),
        }
    })
    .await;
    let client = client();
    let request = Request::get("GitHub", server.at("/tarball"));

    let mut stream = client.stream(request.clone()).await.unwrap();
    assert_eq!(
        (stream.status(), stream.headers.get("etag")),
        (200, Some("\"1\""))
    );
    let mut body = Vec::new();
    while let Some(piece) = stream.chunk().await.unwrap() {
        body.extend_from_slice(&piece);
    }
    assert_eq!(body, big);
    drop(stream);

    let stream = client.stream(request.clone()).await.unwrap();
    let error = stream.into_response().await.unwrap().ok().unwrap_err();
    assert!(error.to_string().contains("no such commit"), "{error}");

    let mut stream = client.stream(request).await.unwrap();
    assert_eq!(stream.chunk().await.unwrap().unwrap(), "half");
    let error = stream.chunk().await.unwrap_err();
    assert!(matches!(error, HttpError::Broken { .. }), "{error}");
}
