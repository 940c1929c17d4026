//! What the checks have found, told as they go or as JSON at the end.

use crate::commands::plain::harmless;
use crate::console::Console;
use serde::Serialize;
use serde_json::json;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Ok,
    Warning,
    Failed,
    Skipped,
}

impl Outcome {
    fn mark(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, Serialize)]
pub(in crate::commands) struct Finding {
    automation: &'static str,
    check: &'static str,
    target: Option<String>,
    status: Outcome,
    found: String,
    advice: Option<String>,
}

impl Finding {
    fn new(check: &'static str, status: Outcome, found: impl Into<String>) -> Self {
        Self {
            automation: "",
            check,
            target: None,
            status,
            found: harmless(&found.into(), 800),
            advice: None,
        }
    }

    pub(super) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, Outcome::Ok, found)
    }

    /// Not checked, and why.
    pub(in crate::commands) fn skipped(check: &'static str, why: impl Into<String>) -> Self {
        Self::new(check, Outcome::Skipped, why)
    }

    /// A run would go on, but perhaps not as wanted.
    pub(super) fn warning(
        check: &'static str,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::new(check, Outcome::Warning, found).advise(advice)
    }

    /// A run would fail, in whole or in part.
    pub(super) fn failed(
        check: &'static str,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::new(check, Outcome::Failed, found).advise(advice)
    }

    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into()).filter(|advice| !advice.is_empty());
        self
    }

    /// What was checked.
    pub(in crate::commands) fn check(&self) -> &'static str {
        self.check
    }

    /// Whether a run would fail.
    pub(in crate::commands) fn is_failed(&self) -> bool {
        self.status == Outcome::Failed
    }

    /// What was found and what to do, in one line.
    pub(in crate::commands) fn in_words(&self) -> String {
        let target = self.target.as_ref().map(|target| format!(" {target}"));
        let advice = self.advice.as_ref().map(|advice| format!(". {advice}"));
        format!(
            "{}{}: {}{}",
            self.check,
            target.unwrap_or_default(),
            self.found,
            advice.unwrap_or_default()
        )
    }

    /// Says which target it is about.
    pub(super) fn of(mut self, target: &str) -> Self {
        self.target = Some(target.to_owned());
        self
    }
}

/// All findings, in order.
pub(in crate::commands) struct Findings<'a> {
    console: &'a Console,
    json: bool,
    automation: &'static str,
    all: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(in crate::commands) fn new(console: &'a Console, json: bool) -> Self {
        Self {
            console,
            json,
            automation: "",
            all: Vec::new(),
        }
    }

    /// What follows is about this automation.
    pub(in crate::commands) fn begin(&mut self, automation: &'static str) {
        self.automation = automation;
        if !self.json {
            let gap = if self.all.is_empty() { "" } else { "\n" };
            self.console.output(&format!("{gap}{automation}"));
        }
    }

    pub(in crate::commands) fn add(&mut self, mut finding: Finding) {
        finding.automation = self.automation;
        // Secrets that came from the agent server are known to the console by now.
        finding.found = self.console.clean(&finding.found);
        if !self.json {
            let target = finding.target.as_ref().map(|target| format!(" {target}"));
            self.console.output(&format!(
                "  {:<8} {}{}: {}",
                finding.status.mark(),
                finding.check,
                target.unwrap_or_default(),
                finding.found
            ));
            if let Some(advice) = &finding.advice {
                self.console.output(&format!("           -> {advice}"));
            }
        }
        self.all.push(finding);
    }

    /// All of them, without a word at the end.
    pub(in crate::commands) fn into_all(self) -> Vec<Finding> {
        self.all
    }

    pub(super) fn has_failed(&self) -> bool {
        self.count(Outcome::Failed) > 0
    }

    /// The end: a summary, or everything as JSON.
    pub(super) fn tell(&self) {
        if self.json {
            let status = if self.has_failed() { "failed" } else { "ok" };
            let report = json!({"status": status, "findings": self.all});
            let text = serde_json::to_string_pretty(&report).unwrap_or_default();
            self.console.output(&text);
            return;
        }
        let text = match (self.count(Outcome::Failed), self.count(Outcome::Warning)) {
            (0, 0) => "everything is in place".to_owned(),
            (0, warnings) => format!("nothing is wrong, {warnings} to look at"),
            (failed, warnings) => format!("{failed} wrong, {warnings} more to look at"),
        };
        self.console.output(&format!("\n{text}"));
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.all
            .iter()
            .filter(|finding| finding.status == outcome)
            .count()
    }
}
