//! A language model that follows a script: an endpoint for chat completions in `OpenAI`'s style
//! that drives the real agent server without any model.
//!
//! A [`Play`] is chosen by a part of the prompt. Which turn is due is read from the request itself,
//! from how many turns of the assistant it contains, so that several conversations can go on at
//! once and a request that is repeated gets the same answer. A request without tools (the server
//! asks for a title) is answered with a few words.

mod play;
mod routes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use play::{Asked, Play, Turn};

use crate::error::TestbedError;
use crate::server::StandIn;

/// Which play is performed for whom.
#[derive(Debug)]
struct Stage {
    plays: Vec<(String, Play)>,
    otherwise: Play,
}

impl Stage {
    fn play_for(&self, asked: &Asked) -> Play {
        let fitting = self
            .plays
            .iter()
            .find(|(part, _)| asked.prompt.contains(part.as_str()));
        fitting.map_or_else(|| self.otherwise.clone(), |(_, play)| play.clone())
    }
}

/// A running scripted model.
#[derive(Debug)]
pub struct ScriptedLlm {
    server: StandIn,
    stage: Arc<Mutex<Stage>>,
}

impl ScriptedLlm {
    /// Starts a model that finishes every conversation at once with "Done.".
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn start() -> Result<Self, TestbedError> {
        let otherwise = Play::new().finish("Done.");
        let stage = Arc::new(Mutex::new(Stage {
            plays: Vec::new(),
            otherwise,
        }));
        let served = Arc::clone(&stage);
        let server = StandIn::start("scripted LLM", |_| routes::router(served))?;
        Ok(Self { server, stage })
    }

    /// Log, faults, base URL and the final check, which fails when a play was asked for more
    /// turns than it has.
    pub fn server(&self) -> &StandIn {
        &self.server
    }

    /// What an LLM profile holds as `base_url`: ends in `/v1`.
    pub fn api_url(&self) -> String {
        self.server.url("/v1")
    }

    /// The play for prompts that no other play is for.
    pub fn set_play(&self, play: Play) {
        self.lock().otherwise = play;
    }

    /// The play for prompts that contain `part`; a later one for the same part replaces it.
    pub fn play_for(&self, part: &str, play: Play) {
        let mut stage = self.lock();
        stage.plays.retain(|(have, _)| have != part);
        stage.plays.push((part.to_owned(), play));
    }

    /// How many requests with tools it has answered for prompts that contain `part`.
    pub fn turns_taken(&self, part: &str) -> usize {
        let requests = self.server.log().matching("POST", "/chat/completions");
        let bodies = requests.iter().filter_map(crate::request_log::Logged::json);
        bodies
            .map(|body| Asked::read(&body))
            .filter(|asked| asked.with_tools && asked.prompt.contains(part))
            .count()
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
