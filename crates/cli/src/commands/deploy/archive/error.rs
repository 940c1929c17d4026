//! Why an archive cannot be deployed, and what to do about it.

use std::io;

/// What is wrong with an archive.
#[derive(Debug, thiserror::Error)]
pub(in crate::commands::deploy) enum ArchiveError {
    /// There is none where one is looked for.
    #[error(
        "there is no archive of {name}: looked for {places}; make one with `cargo xtask package \
         {name}`, or name one with --archive"
    )]
    NotFound {
        /// The automation.
        name: &'static str,
        /// Where it was looked for.
        places: String,
    },
    /// The file cannot be read.
    #[error("{path}: cannot be read ({source})")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It is no `.tar.gz`, or not a whole one.
    #[error("{source_name}: not a whole .tar.gz archive ({detail})")]
    Damaged {
        /// The file or address.
        source_name: String,
        /// What is wrong.
        detail: String,
    },
    /// It holds something else.
    #[error("{source_name}: this is no archive of {name}: it holds {found}")]
    Other {
        /// The file or address.
        source_name: String,
        /// The automation.
        name: &'static str,
        /// Its entries.
        found: String,
    },
    /// A file would be where workspaces go.
    #[error(
        "{source_name}: a run on a shared agent server has its workspaces below `{folder}`, where \
         this archive puts the file `{file}`; {advice}"
    )]
    InTheWay {
        /// The file or address.
        source_name: String,
        /// The folder of its workspaces.
        folder: &'static str,
        /// The file's name in the archive.
        file: String,
        /// What to do.
        advice: String,
    },
}
