//! Arguments that several commands have.

use crate::environment::Environment;
use crate::run::Automation;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// Reads the name of an automation.
pub(super) fn automation() -> impl TypedValueParser<Value = Automation> {
    let names = Automation::ALL.map(Automation::name);
    PossibleValuesParser::new(names)
        .try_map(|name| Automation::from_name(&name).ok_or("no such automation"))
}

const CONFIG: &str = "\
Configuration (JSON). Without it, the one that a run would find: $AUTOMATION_CONFIG,
else config.json beside this program, else config.json in the current directory";

const AUTOMATION_ID: &str = "\
Id of the automation at the automation service. It is part of the names of state
documents and of the ids of conversations. Without it, the environment says
($AUTOMATION_EVENT_PAYLOAD, else $AUTOMATION_ID), and without that it is \"default\"";

/// Which configuration is meant, and whose documents.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Whose {
    /// Configuration (JSON); without it, the one that a run would find
    #[arg(long, value_name = "FILE", long_help = CONFIG)]
    pub(super) config: Option<PathBuf>,
    /// Id of the automation at the automation service; without it, the environment's
    #[arg(long, value_name = "ID", long_help = AUTOMATION_ID)]
    pub(super) automation_id: Option<String>,
}

impl Whose {
    /// The environment with what was said on the command line.
    pub(super) fn apply(&self, mut environment: Environment) -> Environment {
        if let Some(id) = &self.automation_id {
            environment.automation_id = Some(id.trim().to_owned()).filter(|id| !id.is_empty());
            environment.event_payload = None;
        }
        environment
    }
}
