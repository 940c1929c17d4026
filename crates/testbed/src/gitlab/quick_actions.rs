//! Quick actions: lines of a text that GitLab takes as commands and carries out with the rights of
//! the author. From "GitLab quick actions": a command starts its line with a slash; code blocks and
//! quotes are left alone.

use super::model::Model;

/// The commands that a text of an agent could do harm with, and some that stand for the rest.
const COMMANDS: [&str; 24] = [
    "approve",
    "assign",
    "award",
    "board_move",
    "close",
    "confidential",
    "done",
    "draft",
    "duplicate",
    "due",
    "estimate",
    "label",
    "lock",
    "merge",
    "milestone",
    "move",
    "reassign",
    "rebase",
    "relabel",
    "reopen",
    "spend",
    "title",
    "unassign",
    "unlabel",
];

/// Parts a text into what stays and the commands in it.
pub(super) fn split(text: &str) -> (String, Vec<String>) {
    let (mut kept, mut commands) = (Vec::new(), Vec::new());
    let mut in_code = false;
    // GitLab drops carriage returns before it looks: what one of them parted is a command.
    let text = text.replace('\r', "");
    for line in text.split('\n') {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let word = line.strip_prefix('/').map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphabetic() && c != '_')
                .next()
                .unwrap_or_default()
        });
        if !in_code && word.is_some_and(|word| COMMANDS.contains(&word.to_lowercase().as_str())) {
            commands.push(line.trim_end().to_owned());
        } else {
            kept.push(line);
        }
    }
    (kept.join("\n"), commands)
}

/// Carries commands out on an issue. `Some` tells what happened, for the final check.
pub(super) fn run(
    model: &mut Model,
    project: u64,
    iid: u64,
    commands: &[String],
) -> Option<String> {
    let now = model.now();
    let project = model.projects.get_mut(&project)?;
    for command in commands {
        project.quick_actions.push(command.clone());
        let Some(issue) = project.issues.get_mut(&iid) else {
            continue;
        };
        match command.split_whitespace().next() {
            Some("/close") => {
                issue.open = false;
                issue.closed_at = Some(now);
            }
            Some("/reopen") => {
                issue.open = true;
                issue.closed_at = None;
            }
            _ => {}
        }
    }
    let told = format!("a text carried out commands: {}", commands.join(", "));
    (!commands.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_at_the_start_of_a_line_outside_of_code() {
        let text = "Done.\n\n/close\n/merge now\n/assign @root\nSee /usr/bin and a/b.\n/usr/bin\n\
                    ```\n/close\n```\n > /close\n";
        let (left, commands) = split(text);
        assert_eq!(commands, ["/close", "/merge now", "/assign @root"]);
        let expected = "Done.\n\nSee /usr/bin and a/b.\n/usr/bin\n```\n/close\n```\n > /close\n";
        assert_eq!(left, expected);
    }
}
