//! What the model says, turn by turn, and what it is asked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

/// What a request says about its conversation.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The texts of all messages of the user, joined by line ends.
    pub prompt: String,
    /// The texts of all results of tools, oldest first.
    pub results: Vec<String>,
    /// How many turns the assistant has had.
    pub turns: usize,
    /// Whether tools were offered.
    pub with_tools: bool,
    /// The request as it came.
    pub body: Value,
}

impl Asked {
    pub(super) fn read(body: &Value) -> Self {
        let mut asked = Self {
            prompt: String::new(),
            results: Vec::new(),
            turns: 0,
            with_tools: body["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty()),
            body: body.clone(),
        };
        for message in body["messages"].as_array().into_iter().flatten() {
            match message["role"].as_str() {
                Some("user") => {
                    asked.prompt.push_str(&text(&message["content"]));
                    asked.prompt.push('\n');
                }
                Some("tool") => asked.results.push(text(&message["content"])),
                Some("assistant") => asked.turns += 1,
                _ => {}
            }
        }
        asked
    }
}

/// The text of a message's content, which is text or a list of parts.
fn text(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    let joined: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    content
        .as_str()
        .map_or_else(|| joined.join("\n"), str::to_owned)
}

type Thought = Arc<dyn Fn(&Asked) -> Turn + Send + Sync>;

/// One turn of the model.
#[derive(Clone)]
pub enum Turn {
    /// Calls a tool. Arguments that the tool requires and the script does not give are made up.
    Tool {
        /// The tool's name.
        name: String,
        /// Its arguments, an object.
        arguments: Value,
    },
    /// Says something without calling a tool.
    Say(String),
    /// Answers with this status, always: the conversation ends in an error.
    Refuse(u16),
    /// Takes its time, then takes the other turn.
    Slowly(Duration, Box<Turn>),
    /// Decides when the time has come, by what the request says.
    Think(Thought),
}

impl Turn {
    /// Runs a command in the terminal.
    pub fn terminal(command: &str) -> Self {
        let arguments = json!({ "command": command });
        Self::Tool {
            name: "terminal".to_owned(),
            arguments,
        }
    }

    /// Creates a file with the editor; the path is absolute.
    pub fn create(path: &str, text: &str) -> Self {
        let arguments = json!({"command": "create", "path": path, "file_text": text});
        Self::Tool {
            name: "file_editor".to_owned(),
            arguments,
        }
    }

    /// Ends the conversation with these words.
    pub fn finish(message: &str) -> Self {
        Self::Tool {
            name: "finish".to_owned(),
            arguments: json!({ "message": message }),
        }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { name, arguments } => write!(f, "{name}({arguments})"),
            Self::Say(text) => write!(f, "say {text:?}"),
            Self::Refuse(status) => write!(f, "refuse with {status}"),
            Self::Slowly(by, turn) => write!(f, "after {by:?} {turn:?}"),
            Self::Think(_) => f.write_str("a turn of the test"),
        }
    }
}

/// The turns of a conversation.
///
/// ```
/// use testbed::scripted_llm::Play;
///
/// let play = Play::new()
///     .terminal("printf '# News' > digest.md")
///     .finish("The digest is written.");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Play {
    pub(super) turns: Vec<Turn>,
}

impl Play {
    /// A play without turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds a command in the terminal.
    #[must_use]
    pub fn terminal(self, command: &str) -> Self {
        self.turn(Turn::terminal(command))
    }

    /// Adds the creation of a file with the editor; the path is absolute.
    #[must_use]
    pub fn create(self, path: &str, text: &str) -> Self {
        self.turn(Turn::create(path, text))
    }

    /// Adds the end of the conversation.
    #[must_use]
    pub fn finish(self, message: &str) -> Self {
        self.turn(Turn::finish(message))
    }

    /// Adds a turn that is decided when the time has come.
    #[must_use]
    pub fn think(self, thought: impl Fn(&Asked) -> Turn + Send + Sync + 'static) -> Self {
        self.turn(Turn::Think(Arc::new(thought)))
    }

    /// Makes the newest turn take this long.
    #[must_use]
    pub fn slowly(mut self, by: Duration) -> Self {
        if let Some(turn) = self.turns.pop() {
            self.turns.push(Turn::Slowly(by, Box::new(turn)));
        }
        self
    }
}
