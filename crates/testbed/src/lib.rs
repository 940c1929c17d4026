//! Stand-in services for tests and for `cargo xtask dev`: feeds, agent server, KV store, GitHub, GitLab.
