//! What a part of the end-to-end tests has seen, fact by fact.

use serde_json::Value;
use testbed::call::Answer;

/// Facts that were tried, one line each.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    held: Vec<String>,
    broken: Vec<String>,
}

impl Facts {
    /// Records whether a fact holds, and what was found where it does not.
    pub(super) fn check(&mut self, fact: &str, holds: bool, found: &str) {
        if holds {
            self.held.push(fact.to_owned());
        } else {
            let found: String = found.chars().take(2000).collect();
            self.broken.push(format!("{fact}; found: {found}"));
        }
    }

    /// Checks the status of an answer.
    pub(super) fn status(&mut self, fact: &str, answer: &Answer, wanted: u16) {
        let found = format!("{} {}", answer.status, answer.text());
        self.check(fact, answer.status == wanted, &found);
    }

    /// Checks a value.
    pub(super) fn equal(&mut self, fact: &str, found: &Value, wanted: &Value) {
        self.check(fact, found == wanted, &found.to_string());
    }

    /// Checks that nothing is left of something.
    pub(super) fn none(&mut self, fact: &str, left: &[String]) {
        self.check(fact, left.is_empty(), &left.join(", "));
    }

    /// Records what is worth knowing and may change.
    pub(super) fn note(&mut self, observation: String) {
        self.held.push(observation);
    }

    /// Takes over what was seen elsewhere.
    pub(super) fn absorb(&mut self, other: Self) {
        self.held.extend(other.held);
        self.broken.extend(other.broken);
    }

    /// The facts that held.
    pub(super) fn held(&self) -> &[String] {
        &self.held
    }

    /// The facts that did not, with what was found.
    pub(super) fn broken(&self) -> &[String] {
        &self.broken
    }
}
