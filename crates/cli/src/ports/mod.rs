//! The core's ports, filled by the crates that do the work.

mod agents;
mod checkouts;
mod clones;
mod feeds;
mod workspaces;

pub use agents::AgentsPort;
pub use checkouts::CheckoutsPort;
pub use clones::ClonesPort;

pub use feeds::FeedsPort;
pub use workspaces::WorkspacesPort;
