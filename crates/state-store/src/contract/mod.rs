//! What every backend must do, as checks that run against any of them: in memory, on files, over
//! the stand-in of the KV store in both behaviours, and over the real service. A new backend passes
//! all of them or does not exist.
//!
//! A check says what went wrong as text, so that it can run in a test as well as in a tool. Each
//! uses targets of its own, so all can share one place, but not at the same time as itself.

mod backend;
mod documents;
mod overlap;
mod places;

pub use backend::{Backend, Folder, Keys};

/// The outcome of a check: what is wrong, if anything.
pub type Verdict = Result<(), String>;

macro_rules! suite {
    ($($module:ident::$check:ident,)*) => {
        /// The names of all checks.
        pub const CHECKS: &[&str] = &[$(stringify!($check)),*];

        /// Runs one check by name.
        ///
        /// # Errors
        /// What is wrong with the backend, or that there is no such check.
        pub async fn run<B: Backend>(check: &str, backend: &B) -> Verdict {
            match check {
                $(stringify!($check) => $module::$check(backend).await,)*
                _ => Err(format!("there is no check {check}")),
            }
        }
    };
}

suite! {
    documents::starts_empty,
    documents::keeping_writes_nothing,
    documents::a_write_names_its_run,
    documents::a_change_gets_the_fresh_document,
    documents::what_could_not_be_read_is_not_written,
    documents::what_it_does_not_know_survives,
    documents::a_newer_version_is_refused_untouched,
    documents::what_cannot_be_read_is_set_aside,
    documents::a_removed_document_is_empty_again,
    documents::budget_is_an_even_share,
    documents::cache_comes_back,
    overlap::created_twice_keeps_both,
    overlap::another_document_moves_the_version,
    overlap::every_effect_of_many_writers_is_there,
    overlap::a_guard_is_created_once,
    overlap::a_claim_is_won_once,
    places::documents_that_share_a_name_stay_apart,
    places::an_older_document_is_adopted_once,
    places::owners_compare_without_case,
}

/// `Err` with the text unless the condition holds.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// `Err` unless both are the same.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Verdict {
    ensure(found == expected, || {
        format!("{what}: found {found:?}, expected {expected:?}")
    })
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
