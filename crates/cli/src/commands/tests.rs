//! Help is for people, so it is read here as they read it; and what is wrong is said before anything
//! is done.

use super::*;
use clap::CommandFactory as _;

/// The help of a command and of all commands below it.
fn helps(command: &mut clap::Command, path: &str, all: &mut Vec<(String, String)>) {
    all.push((path.to_owned(), command.render_long_help().to_string()));
    for below in command
        .get_subcommands_mut()
        .filter(|below| below.get_name() != "help")
    {
        let path = format!("{path}-{}", below.get_name());
        helps(below, &path, all);
    }
}

#[test]
fn help_reads_well() {
    let mut command = Arguments::command();
    command.build();
    let mut all = Vec::new();
    helps(&mut command, "help", &mut all);
    for (name, text) in &all {
        insta::assert_snapshot!(name.as_str(), text);
        assert!(text.contains("Example"), "{name} has no example");
        let long = text.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "{name}: a line is too long for a terminal");
    }
    let short = command.render_help().to_string();
    insta::assert_snapshot!("short-help", short);
}

#[test]
fn the_definition_of_the_command_line_is_sound() {
    Arguments::command().debug_assert();
}
