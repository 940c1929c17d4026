//! Archives that are unpacked while they arrive, from sources that end, fail or never end.

use workspace_fs::{ChunkSource, Limits, WorkspaceError, extract_stream};

use crate::archive::workspace;
use crate::tarball::Tarball;

/// A source that gives pieces, then an error or the end.
struct Pieces(Vec<Result<Vec<u8>, &'static str>>);

impl ChunkSource for Pieces {
    type Chunk = Vec<u8>;
    type Error = &'static str;

    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, &'static str> {
        tokio::task::yield_now().await;
        if self.0.is_empty() {
            Ok(None)
        } else {
            self.0.remove(0).map(Some)
        }
    }
}

fn pieces(archive: &[u8], size: usize) -> Vec<Result<Vec<u8>, &'static str>> {
    archive
        .chunks(size)
        .map(|chunk| Ok(chunk.to_vec()))
        .collect()
}

#[tokio::test]
async fn a_stream_is_unpacked_while_it_arrives() {
    let archive = Tarball::rooted().file("root/a", &vec![b'x'; 100_000]).gz();
    for size in [1, 7, 64, 1 << 20] {
        let (_tmp, workspace) = workspace().await;
        let mut source = Pieces(pieces(&archive, size));
        source.0.insert(0, Ok(Vec::new()));
        let report = extract_stream(&mut source, &workspace, &Limits::default())
            .await
            .unwrap();
        assert_eq!((report.files, report.bytes), (1, 100_000));
    }
}

#[tokio::test]
async fn a_failing_source_leaves_nothing_and_says_why() {
    let archive = Tarball::rooted().file("root/a", b"x").gz();
    for cut in [0, 20, archive.len()] {
        let (_tmp, workspace) = workspace().await;
        let mut source = Pieces(pieces(&archive[..cut], 7));
        source.0.push(Err("connection reset by peer"));
        let error = extract_stream(&mut source, &workspace, &Limits::default())
            .await
            .unwrap_err();
        assert!(
            matches!(&error, WorkspaceError::ArchiveSource { reason }
                if reason == "connection reset by peer"),
            "{error:?}"
        );
        assert!(
            error.to_string().contains("connection reset by peer"),
            "{error}"
        );
        assert!(!workspace.path().exists());
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_or_is_refused_leaves_nothing() {
    let archive = Tarball::rooted().file("root/a", b"x").gz();
    let (_tmp, target) = workspace().await;
    let mut source = Pieces(pieces(&archive[..archive.len() / 2], 7));
    let error = extract_stream(&mut source, &target, &Limits::default())
        .await
        .unwrap_err();
    assert!(matches!(error, WorkspaceError::ArchiveBroken { .. }));
    assert!(!target.path().exists());
    // The unpacking side stops first; the source is not read to its end.
    let refused = Tarball::rooted().file("/etc/x", b"").gz();
    let (_tmp, target) = workspace().await;
    let mut source = Pieces(pieces(&refused, 1 << 20));
    source.0.extend((0..1000).map(|_| Ok(vec![0; 1 << 16])));
    let error = extract_stream(&mut source, &target, &Limits::default())
        .await
        .unwrap_err();
    assert!(matches!(error, WorkspaceError::ArchiveRefused { .. }));
    assert!(source.0.len() > 900);
}

#[tokio::test]
async fn a_dropped_stream_leaves_nothing() {
    struct Forever(Option<Vec<u8>>);
    impl ChunkSource for Forever {
        type Chunk = Vec<u8>;
        type Error = String;
        async fn chunk(&mut self) -> Result<Option<Vec<u8>>, String> {
            match self.0.take() {
                Some(chunk) => Ok(Some(chunk)),
                None => std::future::pending().await,
            }
        }
    }
    let archive = Tarball::rooted().file("root/a", b"x").gz();
    let (_tmp, workspace) = workspace().await;
    let mut source = Forever(Some(archive[..archive.len() / 2].to_vec()));
    let limits = Limits::default();
    let unpacking = extract_stream(&mut source, &workspace, &limits);
    let limit = std::time::Duration::from_millis(5);
    assert!(tokio::time::timeout(limit, unpacking).await.is_err());
    for _ in 0..2000 {
        if !workspace.path().exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    panic!("the workspace is still there");
}

/// A piece that cannot be looked at takes the unpacking thread with it.
struct Unreadable;

impl AsRef<[u8]> for Unreadable {
    fn as_ref(&self) -> &[u8] {
        std::panic::resume_unwind(Box::new("a piece that cannot be read"))
    }
}

#[tokio::test]
async fn an_unpacking_thread_that_dies_leaves_nothing() {
    struct One(Option<Unreadable>);
    impl ChunkSource for One {
        type Chunk = Unreadable;
        type Error = String;
        async fn chunk(&mut self) -> Result<Option<Unreadable>, String> {
            Ok(self.0.take())
        }
    }
    let (_tmp, workspace) = workspace().await;
    let mut source = One(Some(Unreadable));
    let error = extract_stream(&mut source, &workspace, &Limits::default())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            WorkspaceError::Interrupted {
                action: "unpacking an archive"
            }
        ),
        "{error:?}"
    );
    assert!(!workspace.path().exists());
}
