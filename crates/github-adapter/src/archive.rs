//! What comes as bytes: the archive of a commit, and single files.

use std::time::Duration;

use http_client::BodyStream;
use lifecycle::ports::{CheckoutError, ForgeError};

use crate::answers::is_commit;
use crate::forge::GitHub;

/// Time for a whole archive. The time budget of the run is the limit in practice.
const ARCHIVE_TIME: Duration = Duration::from_mins(10);
/// Time for a file.
const FILE_TIME: Duration = Duration::from_secs(30);

impl GitHub {
    /// The gzipped tar archive of a commit, of `max_bytes` compressed bytes at most (beyond them the
    /// stream ends with an error). The download host gets no token. The stream ends with an error
    /// when it is cut off; nothing else says that the archive is complete but its own end.
    ///
    /// [`CheckoutError::Gone`] when the commit is not there any more, which says nothing against the
    /// repository; [`CheckoutError::Forge`] for everything that GitHub refuses otherwise. Of the
    /// stream's errors, tell people the text: it holds no query of an address.
    pub async fn archive(
        &self,
        head_sha: &str,
        max_bytes: u64,
    ) -> Result<BodyStream, CheckoutError> {
        if !is_commit(head_sha) {
            return Err(CheckoutError::Failed(
                "the head is not the name of a commit".to_owned(),
            ));
        }
        let ask = self.requests.archive(head_sha);
        let outcome = self.caller.stream(&ask, ARCHIVE_TIME, max_bytes).await;
        let stream = self.unless_gone(outcome).await?;
        stream.ok_or_else(|| CheckoutError::Gone(format!("{} was answered with 404", ask.call())))
    }

    /// The first `max` bytes of a file, cut at a character. Folders and submodules are no files.
    pub(crate) async fn read_file(
        &self,
        path: &str,
        reference: &str,
        max: u64,
    ) -> Result<Option<String>, ForgeError> {
        let Some(ask) = self.requests.file(path, reference) else {
            return Ok(None);
        };
        let outcome = self.caller.stream(&ask, FILE_TIME, u64::MAX).await;
        let Some(mut stream) = self.unless_gone(outcome).await? else {
            return Ok(None);
        };
        // The bytes of a file come under the type that was asked for; anything else comes as JSON.
        let kind = stream.headers.get("content-type").unwrap_or_default();
        if kind
            .split(';')
            .next()
            .is_some_and(|kind| kind.trim() == "application/json")
        {
            return Ok(None);
        }
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        while bytes.len() <= max {
            match stream.chunk().await {
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => break,
                Err(error) => return Err(self.caller.unanswered(&ask, &error)),
            }
        }
        // A file that is no text might as well not be there.
        Ok((!bytes.contains(&0)).then(|| start_of(&bytes, max)))
    }
}

/// At most `max` bytes of a text, cut at a character.
fn start_of(bytes: &[u8], max: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
