//! Asking the person at the terminal for what is missing, or saying what it is.

use crate::commands::error::CommandError;
use crate::console::Console;
use std::io::{self, IsTerminal as _};

/// Gives the answer to a question.
type Answer<'a> = Box<dyn FnMut(&str) -> io::Result<String> + 'a>;

/// Somebody who answers, or nobody, and what stayed without an answer.
pub(super) struct Questions<'a> {
    answer: Option<Answer<'a>>,
    asked: bool,
    missing: Vec<String>,
}

impl<'a> Questions<'a> {
    /// Asks at the terminal, if standard input is one and the answer is not for a program.
    pub(super) fn at_terminal(console: &'a Console, json: bool) -> Self {
        if json || !io::stdin().is_terminal() {
            return Self::to(None);
        }
        Self::to(Some(Box::new(|question| console.ask(question))))
    }

    /// Asks whoever is given.
    pub(super) fn to(answer: Option<Answer<'a>>) -> Self {
        Self {
            answer,
            asked: false,
            missing: Vec::new(),
        }
    }

    /// Asks for what has to be known. Without an answer it is missing, as `named` says.
    pub(super) fn needed(
        &mut self,
        question: &str,
        named: impl Into<String>,
    ) -> Result<Option<String>, CommandError> {
        let answer = self.ask(question)?;
        if answer.is_none() {
            self.missing.push(named.into());
        }
        Ok(answer)
    }

    /// Asks for what has a default, in a conversation that is under way.
    pub(super) fn wished(&mut self, question: &str) -> Result<Option<String>, CommandError> {
        if self.asked {
            self.ask(question)
        } else {
            Ok(None)
        }
    }

    /// Something cannot be asked for.
    pub(super) fn is_missing(&mut self, named: impl Into<String>) {
        self.missing.push(named.into());
    }

    /// What was found, unless something is missing.
    pub(super) fn settle_with<T>(&self, found: Option<T>) -> Result<T, CommandError> {
        self.settle()?;
        found.ok_or_else(|| CommandError::Usage("something is missing".to_owned()))
    }

    /// An error that names everything that is missing.
    pub(super) fn settle(&self) -> Result<(), CommandError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let list = self.missing.join("; ");
        Err(CommandError::Usage(format!("this is missing: {list}")))
    }

    fn ask(&mut self, question: &str) -> Result<Option<String>, CommandError> {
        let Some(answer) = &mut self.answer else {
            return Ok(None);
        };
        self.asked = true;
        let given = answer(question)
            .map_err(|error| CommandError::Failed(format!("nobody answered ({error})")))?;
        let given = given.trim();
        Ok((!given.is_empty()).then(|| given.to_owned()))
    }
}

/// The items of an answer, separated by blanks or commas.
pub(super) fn items(answer: &str) -> Vec<String> {
    let parts = answer.split(|c: char| c.is_whitespace() || c == ',');
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}
