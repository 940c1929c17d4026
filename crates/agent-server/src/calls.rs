//! The requests of the agent server's API, as values. Nothing is sent from here.

use std::collections::BTreeMap;

use http_client::{HttpError, Method, Request, Url};
use lifecycle::ports::StartConversation;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::connection::Connection;
use crate::grounds::Grounds;

/// The service's name in errors.
const SERVICE: &str = "agent server";
const KEY_HEADER: &str = "x-session-api-key";
/// Bytes of an agent's last words, or of a secret, that are read at most.
const MAX_TEXT_BYTES: u64 = 4 * 1024 * 1024;
/// Tools that every conversation gets.
const TOOLS: [&str; 2] = ["terminal", "file_editor"];

impl Connection {
    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("api").extend(path);
        }
        url
    }

    fn call(&self, method: Method, path: &[&str]) -> Request {
        self.call_at(method, self.url(path))
    }

    fn call_at(&self, method: Method, url: Url) -> Request {
        let request = Request::new(method, SERVICE, url);
        match &self.session_key {
            Some(key) => request.credential(KEY_HEADER, key.clone()),
            None => request,
        }
    }

    pub(crate) fn settings(&self) -> Request {
        self.call(Method::GET, &["settings"])
            .header("x-expose-secrets", "plaintext")
    }

    pub(crate) fn profile(&self, name: &str) -> Request {
        self.call(Method::GET, &["profiles", name])
            .header("x-expose-secrets", "plaintext")
    }

    pub(crate) fn secret_list(&self) -> Request {
        self.call(Method::GET, &["settings", "secrets"])
    }

    pub(crate) fn secret(&self, name: &str) -> Request {
        self.call(Method::GET, &["settings", "secrets", name])
            .max_bytes(MAX_TEXT_BYTES)
    }

    pub(crate) fn conversation(&self, id: &str) -> Request {
        self.call(Method::GET, &["conversations", id])
    }

    /// At most 99 ids are allowed in one call.
    pub(crate) fn batch(&self, ids: &[&String]) -> Request {
        let mut url = self.url(&["conversations"]);
        url.query_pairs_mut()
            .extend_pairs(ids.iter().map(|id| ("ids", id)));
        self.call_at(Method::GET, url)
    }

    pub(crate) fn final_response(&self, id: &str) -> Request {
        self.call(Method::GET, &["conversations", id, "agent_final_response"])
            .max_bytes(MAX_TEXT_BYTES)
    }

    /// May be repeated: a conversation that is stopped stays stopped.
    pub(crate) fn interrupt(&self, id: &str) -> Request {
        self.call(Method::POST, &["conversations", id, "interrupt"])
            .idempotent(true)
    }

    /// Never repeated by itself: an older server that does not heed the id would start a second
    /// one. Every status comes back to the caller.
    pub(crate) fn start(
        &self,
        request: &StartConversation,
        grounds: &Grounds,
    ) -> Result<Request, HttpError> {
        self.call(Method::POST, &["conversations"])
            .retry_statuses(false)
            .json(&self.start_body(request, grounds))
    }

    fn start_body<'a>(
        &'a self,
        request: &'a StartConversation,
        grounds: &'a Grounds,
    ) -> StartBody<'a> {
        StartBody {
            conversation_id: &request.conversation_id,
            workspace: Workspace {
                working_dir: &request.working_dir,
            },
            agent: Agent {
                kind: "Agent",
                llm: &grounds.llm,
                tools: TOOLS.map(|name| Tool { name }),
                mcp_config: grounds.mcp_config.as_ref(),
            },
            initial_message: Message {
                content: [Text {
                    text: &request.prompt,
                }],
            },
            secrets: grounds
                .secret_names
                .iter()
                .map(|name| (name.as_str(), self.lookup(name)))
                .collect(),
            mcp_config: grounds.mcp_config.as_ref(),
        }
    }

    fn lookup(&self, name: &str) -> LookupSecret<'_> {
        LookupSecret {
            kind: "LookupSecret",
            url: format!("/api/settings/secrets/{name}"),
            headers: self
                .session_key
                .iter()
                .map(|key| ("X-Session-API-Key", key.expose()))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct StartBody<'a> {
    conversation_id: &'a str,
    workspace: Workspace<'a>,
    agent: Agent<'a>,
    initial_message: Message<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    secrets: BTreeMap<&'a str, LookupSecret<'a>>,
    /// Where the API's description has it. The server of today (1.58) reads the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_config: Option<&'a Value>,
}

#[derive(Serialize)]
struct Workspace<'a> {
    working_dir: &'a str,
}

#[derive(Serialize)]
struct Agent<'a> {
    kind: &'a str,
    llm: &'a Map<String, Value>,
    tools: [Tool<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_config: Option<&'a Value>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Message<'a> {
    content: [Text<'a>; 1],
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct LookupSecret<'a> {
    kind: &'a str,
    url: String,
    headers: BTreeMap<&'a str, &'a str>,
}
