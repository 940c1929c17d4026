//! Networks and services on bad days, for each of the services around a run.

mod answers;
mod callback;
mod proxies;
mod silence;
mod store;
