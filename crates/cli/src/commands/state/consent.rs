//! Asking a person before something is lost.

use crate::commands::error::CommandError;
use crate::console::Console;
use std::io::IsTerminal as _;

/// Whether to go on: `--yes` was given, or a person at a terminal types `yes`.
pub(super) fn given(console: &Console, yes: bool, question: &str) -> Result<(), CommandError> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        let text = format!("{question} Nobody can be asked here; say --yes if that is meant");
        return Err(CommandError::Usage(text));
    }
    match console.ask(&format!("{question} Type yes to go on:")) {
        Ok(answer) if answer.eq_ignore_ascii_case("yes") => Ok(()),
        Ok(_) => Err(CommandError::Failed("nothing was changed".to_owned())),
        Err(error) => Err(CommandError::Failed(format!("nobody answered ({error})"))),
    }
}
