//! What people may write for an item.

use crate::commands::error::CommandError;
use crate::run::Automation;
use lifecycle::identity::{day_task, parse_label_task};
use lifecycle::moment::{day, parse_rfc3339};

/// A pull request, an issue or a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Number(u64),
    Day(String),
}

impl Item {
    /// Reads `42`, `#42`, `!42` or an address that ends in a number; for news a day or `today`.
    pub(super) fn parse(
        text: &str,
        automation: Automation,
        now: f64,
    ) -> Result<Self, CommandError> {
        let text = text.trim();
        if automation == Automation::News {
            if text.eq_ignore_ascii_case("today") {
                return Ok(Self::Day(day(now)));
            }
            let moment = parse_rfc3339(&format!("{text}T00:00:00Z"));
            // Read and written again: the 31st of a short month is no day.
            return match moment.map(day) {
                Some(day) if day == text => Ok(Self::Day(day)),
                _ => Err(CommandError::Usage(format!(
                    "{text} is no day; write it as 2026-08-20, or today"
                ))),
            };
        }
        let last = text
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(text);
        let digits = last.split(['?', '#']).find(|part| !part.is_empty());
        let number = digits.and_then(|digits| digits.trim_start_matches('!').parse().ok());
        number.map(Self::Number).ok_or_else(|| {
            CommandError::Usage(format!("{text} is no number of an item, such as 42"))
        })
    }

    /// Whether a task key is about this item.
    pub(super) fn owns(&self, task: &str) -> bool {
        match self {
            Self::Number(number) => {
                parse_label_task(task).is_some_and(|(owner, _)| owner == *number)
            }
            Self::Day(day) => task == day_task(day),
        }
    }

    /// As reports name it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Day(day) => day.clone(),
        }
    }
}
