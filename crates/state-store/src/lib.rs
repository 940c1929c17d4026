//! Where state documents live: the automation service's KV store or local files.
