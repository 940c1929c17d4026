//! The command line of the deployable binaries. Read by hand: five options do not need the parser
//! that the binary for people has, which would be a twentieth of an archive.

use super::{Automation, Options};
use crate::config::is_near;
use std::ffi::OsString;
use std::fmt::Write as _;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// A run.
    Run(Options),
    /// To print this and do nothing.
    Show(String),
}

struct Flag {
    name: &'static str,
    /// What its value is, if it takes one.
    value: &'static str,
    help: &'static str,
}

const FLAGS: [Flag; 7] = [
    Flag {
        name: "--config",
        value: "FILE",
        help: "Configuration (JSON); without it the file that AUTOMATION_CONFIG\nnames, else config.json beside the executable, else in the working\ndirectory, else the defaults",
    },
    Flag {
        name: "--dry-run",
        value: "",
        help: "Look only: write, claim and post nothing, and say what a run would do",
    },
    Flag {
        name: "--json",
        value: "",
        help: "Print one JSON report on standard output; the log goes to standard\nerror",
    },
    Flag {
        name: "--strict",
        value: "",
        help: "Exit with 3 when some targets failed",
    },
    Flag {
        name: "--now",
        value: "RFC3339",
        help: "Ask as of this moment (with --dry-run), such as 2026-08-20T06:00:00Z",
    },
    Flag {
        name: "--help",
        value: "",
        help: "Print this help",
    },
    Flag {
        name: "--version",
        value: "",
        help: "Print the version",
    },
];

/// A moment as `--now` takes it, in seconds since the epoch.
pub(crate) fn moment(text: &str) -> Result<f64, String> {
    lifecycle::moment::parse_rfc3339(text)
        .ok_or_else(|| "not a moment like 2026-08-20T06:00:00Z".to_owned())
}

/// Reads what comes after the program's name.
///
/// # Errors
/// What is wrong and how it is done right, in lines for people.
pub(super) fn read(
    automation: Automation,
    arguments: impl Iterator<Item = OsString>,
) -> Result<Asked, String> {
    collect(automation, arguments).map_err(|wrong| {
        let name = automation.name();
        format!(
            "error: {wrong}\n\nUsage: {name} [OPTIONS]\n\nFor more information, try '--help'.\n"
        )
    })
}

fn collect(
    automation: Automation,
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<Asked, String> {
    let mut options = Options::default();
    let mut seen = [false; FLAGS.len()];
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let (name, given) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(OsString::from(value))),
            _ => (text.as_ref(), None),
        };
        let name = match name {
            "-h" => "--help",
            "-V" => "--version",
            name => name,
        };
        let found = FLAGS
            .iter()
            .zip(&mut seen)
            .find(|(flag, _)| flag.name == name);
        let (flag, seen) = found.ok_or_else(|| unknown(name))?;
        if std::mem::replace(seen, true) {
            return Err(format!(
                "the argument '{name}' cannot be used multiple times"
            ));
        }
        let value = if flag.value.is_empty() {
            match given {
                Some(_) => return Err(format!("'{name}' takes no value")),
                None => OsString::new(),
            }
        } else {
            let value = given.or_else(|| arguments.next()).unwrap_or_default();
            if value.is_empty() {
                let value = flag.value;
                return Err(format!("a value is required for '{name} <{value}>'"));
            }
            value
        };
        match name {
            "--config" => options.config = Some(value.into()),
            "--dry-run" => options.dry_run = true,
            "--json" => options.json = true,
            "--strict" => options.strict = true,
            "--now" => {
                let text = value.to_string_lossy();
                let now = moment(&text).map_err(|why| {
                    format!("invalid value '{text}' for '--now <RFC3339>': {why}")
                })?;
                options.now = Some(now);
            }
            "--help" => return Ok(Asked::Show(help(automation))),
            _ => {
                let version = env!("CARGO_PKG_VERSION");
                return Ok(Asked::Show(format!("{} {version}\n", automation.name())));
            }
        }
    }
    if options.now.is_some() && !options.dry_run {
        return Err("'--now' needs '--dry-run'".to_owned());
    }
    Ok(Asked::Run(options))
}

fn unknown(name: &str) -> String {
    let mut text = format!("unexpected argument '{name}' found");
    if let Some(near) = FLAGS.iter().find(|flag| is_near(name, flag.name)) {
        let _ = write!(
            text,
            "\n\n  tip: a similar argument exists: '{}'",
            near.name
        );
    }
    text
}

fn help(automation: Automation) -> String {
    let mut text = format!(
        "{}\n\nUsage: {} [OPTIONS]\n\nOptions:\n",
        automation.about(),
        automation.name()
    );
    for flag in &FLAGS {
        let short = match flag.name {
            "--help" => "-h, ",
            "--version" => "-V, ",
            _ => "    ",
        };
        let value = match flag.value {
            "" => String::new(),
            value => format!(" <{value}>"),
        };
        let left = format!("  {short}{}{value}", flag.name);
        for (index, line) in flag.help.lines().enumerate() {
            let left = if index == 0 { left.as_str() } else { "" };
            let _ = writeln!(text, "{left:<23}{line}");
        }
    }
    text.push_str(
        "\nRuns once and ends: a scheduler starts it every few minutes.\n\n\
         Exit code: 0 done, 1 every target failed, 2 usage or configuration, 3 some targets\n\
         failed and --strict was given\n",
    );
    text
}

#[cfg(test)]
mod tests;
