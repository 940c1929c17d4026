//! The real services on loopback: agent server and automation service as child processes
//! with a scripted LLM, for `cargo xtask e2e`. What they are expected to do is written down in
//! [`contract`], which tries it against them; everything else here starts, drives and stops them.
//!
//! ```ignore
//! let python = install::ensure_installed(&project_root)?;
//! let services = RealServices::start(&Options::new(&python, &project_root.join("target/e2e/news")))?;
//! services.use_llm(&llm_base_url)?;
//! let tarball = services.upload("news-digest", archive)?;
//! let id = services.create_automation(&NewAutomation::new("news", &tarball, "./news-digest"))?;
//! let run = services.wait_for_run(&id, &services.dispatch(&id)?, Duration::from_secs(60))?;
//! ```

#![allow(
    dead_code,
    unused_imports,
    reason = "the checks that use it come and go, what it offers stays whole"
)]

mod agent;
mod automations;
pub(crate) mod contract;
mod error;
mod guard;
pub(crate) mod install;
mod keys;
mod kv;
mod process;
mod recipes;
mod run_environment;
mod services;
mod token;

pub(crate) use automations::{NewAutomation, Run};
pub(crate) use error::E2eError;
pub(crate) use run_environment::RunEnvironment;
pub(crate) use services::{Options, RealServices};
