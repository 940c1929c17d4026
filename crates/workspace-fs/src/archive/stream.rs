//! Unpacks while the archive arrives: chunks come from an async source, and a thread for blocking
//! work takes them from a bounded queue, so that neither side runs ahead.

use std::io::{self, Read};

use tokio::sync::mpsc;

use super::{Extracted, Limits, extract};
use crate::error::WorkspaceError;
use crate::workspace::Workspace;

/// Chunks that may wait for the unpacking side.
const QUEUE: usize = 4;

/// Where the bytes of an archive come from.
pub trait ChunkSource {
    /// A piece of the archive, such as `Vec<u8>` or `Bytes`.
    type Chunk: AsRef<[u8]> + Send + 'static;
    /// Why there is no next piece.
    type Error: std::fmt::Display;

    /// The next piece, or `None` after the last one.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Self::Chunk>, Self::Error>>;
}

/// What goes through the queue. A queue that closes without [`Message::End`] was cut off.
enum Message<C> {
    Data(C),
    End,
}

/// Unpacks an archive that arrives in pieces; the rules are those of [`extract`].
///
/// An error of the source ends it as [`WorkspaceError::ArchiveSource`], with the source's words.
/// Whatever ends it early, the drop of this future included, removes the workspace.
pub async fn extract_stream<S: ChunkSource>(
    source: &mut S,
    workspace: &Workspace,
    limits: &Limits,
) -> Result<Extracted, WorkspaceError> {
    let (sender, receiver) = mpsc::channel::<Message<S::Chunk>>(QUEUE);
    let (target, limits) = (workspace.clone(), *limits);
    let unpacking = tokio::task::spawn_blocking(move || {
        let reader = Pieces {
            receiver,
            current: None,
            ended: false,
        };
        extract(reader, &target, &limits)
    });
    let failure = feed(source, sender).await.err();
    let unpacked = unpacking.await.unwrap_or_else(|_| {
        // The thread ended before it could remove what it wrote.
        let _stays = workspace.discard();
        Err(WorkspaceError::Interrupted {
            action: "unpacking an archive",
        })
    });
    match (unpacked, failure) {
        // The reader only knows that the source went away; the source knows why.
        (Err(_), Some(reason)) => Err(WorkspaceError::ArchiveSource { reason }),
        (result, _) => result,
    }
}

/// Hands on all chunks. Stops early when the other side has stopped, which has its own error.
async fn feed<S: ChunkSource>(
    source: &mut S,
    sender: mpsc::Sender<Message<S::Chunk>>,
) -> Result<(), String> {
    loop {
        let message = match source.chunk().await {
            Ok(Some(chunk)) => Message::Data(chunk),
            Ok(None) => Message::End,
            Err(error) => return Err(error.to_string()),
        };
        let last = matches!(message, Message::End);
        if sender.send(message).await.is_err() || last {
            return Ok(());
        }
    }
}

/// The receiving side as a reader.
struct Pieces<C> {
    receiver: mpsc::Receiver<Message<C>>,
    current: Option<(C, usize)>,
    ended: bool,
}

impl<C: AsRef<[u8]>> Read for Pieces<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some((chunk, done)) = &mut self.current {
                let mut rest = &chunk.as_ref()[*done..];
                let n = rest.read(buffer)?;
                if n > 0 || buffer.is_empty() {
                    *done += n;
                    return Ok(n);
                }
                self.current = None;
            }
            if self.ended {
                return Ok(0);
            }
            match self.receiver.blocking_recv() {
                Some(Message::Data(chunk)) => self.current = Some((chunk, 0)),
                Some(Message::End) => self.ended = true,
                None => return Err(io::Error::other("it was cut off")),
            }
        }
    }
}
