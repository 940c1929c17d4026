//! What a run printed, as the agent server keeps it: the events of its command, page by page.

use super::site;
use crate::automation_service::Run;
use crate::commands::session::Session;
use http_client::{Redirects, Request, Url};
use serde::Deserialize;

/// Pages that are read at most; each has up to a hundred events.
const PAGES: usize = 100;

#[derive(Debug, Deserialize)]
struct Page {
    items: Vec<Event>,
    next_page_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Event {
    stdout: Option<String>,
    stderr: Option<String>,
    exit_code: Option<i64>,
}

/// The output of a run: its standard output, its standard error, its exit code; or why it cannot be
/// had.
pub(super) async fn of(run: &Run, session: &Session) -> Result<String, String> {
    let environment = &session.environment;
    let Some(address) = &environment.agent_server_url else {
        return Err(
            "set AGENT_SERVER_URL and SESSION_API_KEY to those of the agent server to see it"
                .to_owned(),
        );
    };
    let command = run
        .bash_command_id
        .as_deref()
        .ok_or("the run was not started, so there is none")?;
    let base = Url::parse(address).map_err(|error| format!("AGENT_SERVER_URL: {error}"))?;
    let client = site::client(session).map_err(|error| error.to_string())?;
    let (mut out, mut errors, mut code) = (String::new(), String::new(), None);
    let mut next: Option<String> = None;
    for _ in 0..PAGES {
        let mut request = Request::get("agent server", page(&base, command, next.as_deref()))
            .redirects(Redirects::No);
        if let Some(key) = &environment.session_api_key {
            request = request.credential("x-session-api-key", key.clone());
        }
        let answer = client
            .send(request)
            .await
            .and_then(http_client::Response::ok);
        let page: Page = answer
            .and_then(|answer| answer.json())
            .map_err(|error| error.to_string())?;
        for event in page.items {
            out.push_str(&event.stdout.unwrap_or_default());
            errors.push_str(&event.stderr.unwrap_or_default());
            code = code.or(event.exit_code);
        }
        next = page.next_page_id;
        if next.is_none() {
            break;
        }
    }
    if let Some(code) = code {
        errors.push_str(&format!("[exit code {code}]"));
    }
    Ok(format!("{out}{errors}"))
}

fn page(base: &Url, command: &str, next: Option<&str>) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments
            .pop_if_empty()
            .extend(["api", "bash", "bash_events", "search"]);
    }
    let mut query = url.query_pairs_mut();
    query.append_pair("command_id__eq", command);
    if let Some(next) = next {
        query.append_pair("page_id", next);
    }
    drop(query);
    url
}
