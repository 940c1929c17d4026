//! Clones for agents, and taking out of them what the agents did.
//!
//! Source of the rules: the architecture's rules 8, 9 and 11. An agent that a stranger's text drives
//! worked in the clone, so nothing in it is trusted afterwards: not its configuration, hooks,
//! attributes, remotes, nor that `.git` is a directory. The way out:
//!
//! 1. A fresh repository of ours is made beside the workspace ([`GitRunner::inspect`]).
//! 2. Objects are taken over as data: packs through `git index-pack`, which computes the name of
//!    every object in them anew, and loose objects after their hash has been checked. Alternates,
//!    indexes, commit-graphs, replace refs and grafts stay behind.
//! 3. `HEAD`, the branch, the shallow boundary and the exclude list are read by us, as text.
//! 4. The work tree is listed by git with our repository's configuration (so ignore rules count),
//!    looked at by us without following links, and stored by `git hash-object` (so line endings
//!    are converted as attributes say; filters need configuration, and there is none). `git add`
//!    and `git status` are never used: they start a git process inside nested repositories.
//! 5. The one branch is pushed from our repository to the address that the forge reported
//!    ([`Work::push`]), never forced.

mod argument;
mod classify;
mod clone;
mod credential;
mod inspect;
mod objects;
mod ours;
mod process;
mod push;
mod runner;
mod settings;
mod snapshot;
mod theirs;
mod worktree;

pub use argument::{GitIdentity, GitRemote};
pub use clone::{CloneOrder, CloneReport};
pub use credential::{GitCredential, clean_git_output};
pub use inspect::{LeftOut, Work};
pub use push::{PushOrder, Pushed};
pub use runner::GitRunner;
pub use settings::{GitLimits, GitSettings};
