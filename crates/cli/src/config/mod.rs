//! Configuration: `config.json`, the same keys and shapes as the deployed scripts.
//!
//! A wrong value ends the run with exit code 2 and a message that names the key, what was expected
//! and what was found. Unknown keys are ignored, since a host may ship its own beside ours; one that
//! is nearly a known key is warned about.

pub(crate) mod issue;
mod named;
mod news;
mod reader;
pub(crate) mod review;
#[cfg(test)]
mod shown_tests;
#[cfg(test)]
mod tests;

pub use issue::IssueConfig;
pub use named::Named;
pub use news::NewsConfig;
pub(crate) use reader::is_near;
pub use review::ReviewConfig;

use crate::environment::Environment;
use reader::Reader;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// What is wrong with a configuration.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// The file that was named cannot be read.
    #[error("{path}: cannot be read ({detail})")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        detail: String,
    },
    /// It is no JSON object.
    #[error("{path}: not a JSON object ({detail})")]
    NotJson {
        /// The file.
        path: String,
        /// Where it breaks.
        detail: String,
    },
    /// A key holds something else than it should.
    #[error("{path}: `{key}` should be {expected}, found {found}")]
    Wrong {
        /// The file.
        path: String,
        /// The key.
        key: &'static str,
        /// What may stand there.
        expected: String,
        /// What stands there, shortened.
        found: String,
    },
}

/// What every automation has.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Where people look at conversations, if configured.
    pub openhands_url: Option<String>,
    /// Names of secrets that conversations may use.
    pub agent_secret_names: Vec<String>,
    /// Whether conversations get the MCP servers of the installation.
    pub forward_mcp_servers: bool,
    /// Seconds that a run may take.
    pub time_budget_seconds: f64,
    /// Seconds that a run stays for the conversations it started.
    pub wait_seconds: f64,
    /// New tasks in one run.
    pub max_new_per_run: usize,
    /// Tasks at work at once; 0 for no cap.
    pub max_active: usize,
}

impl Shared {
    /// The name of a secret if conversations may use it, else nothing.
    pub fn granted(&self, name: &str) -> String {
        let granted = self
            .agent_secret_names
            .iter()
            .any(|granted| granted == name);
        if granted {
            name.to_owned()
        } else {
            String::new()
        }
    }
}

/// A configuration with what is worth a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// The configuration.
    pub config: T,
    /// Where it came from.
    pub source: String,
    /// Near misses of known keys.
    pub warnings: Vec<String>,
}

/// The configuration of one automation.
pub trait Config: Sized {
    /// Reads it from the keys of a JSON object.
    ///
    /// # Errors
    /// [`ConfigError::Wrong`] for the first key that is wrong.
    fn read(reader: &mut Reader) -> Result<Self, ConfigError>;
}

/// Finds and reads a configuration: the file named on the command line, else the one named by
/// `AUTOMATION_CONFIG`, else `config.json` beside the executable, else in the working directory,
/// else the defaults.
///
/// # Errors
/// [`ConfigError`], naming file and key.
pub fn load<T: Config>(
    named: Option<&Path>,
    environment: &Environment,
    executable: Option<&Path>,
    working_dir: &Path,
) -> Result<Loaded<T>, ConfigError> {
    let candidates: Vec<(PathBuf, bool)> = match (named, &environment.config) {
        (Some(path), _) => vec![(path.to_owned(), true)],
        (None, Some(path)) => vec![(path.clone(), true)],
        (None, None) => executable
            .and_then(Path::parent)
            .into_iter()
            .chain([working_dir])
            .map(|folder| (folder.join("config.json"), false))
            .collect(),
    };
    for (path, must_exist) in candidates {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => continue,
            Err(error) => {
                return Err(ConfigError::Unreadable {
                    path: path.display().to_string(),
                    detail: error.to_string(),
                });
            }
        };
        return parse(&path.display().to_string(), &text);
    }
    parse("the default configuration (no config.json was found)", "{}")
}

/// Reads a configuration from text; `source` names it in messages.
///
/// # Errors
/// [`ConfigError`], naming source and key.
pub fn parse<T: Config>(source: &str, text: &str) -> Result<Loaded<T>, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let keys: Map<String, Value> = match serde_json::from_str(text) {
        Ok(Value::Object(keys)) => keys,
        Ok(other) => {
            let detail = format!("it is {}", reader::kind(&other));
            return Err(ConfigError::NotJson {
                path: source.to_owned(),
                detail,
            });
        }
        Err(error) => {
            let detail = error.to_string();
            return Err(ConfigError::NotJson {
                path: source.to_owned(),
                detail,
            });
        }
    };
    let mut reader = Reader::new(source, keys);
    let config = T::read(&mut reader)?;
    Ok(Loaded {
        config,
        source: source.to_owned(),
        warnings: reader.near_misses(),
    })
}
