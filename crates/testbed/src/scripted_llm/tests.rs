//! The scripted model over its socket.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::call::{Answer, Call};

/// A request with a prompt after this many turns of the assistant.
fn request(prompt: &str, turns: usize) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "You are an agent."}),
        json!({"role": "user", "content": [{"type": "text", "text": prompt}]}),
    ];
    for turn in 0..turns {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": []}));
        messages.push(json!({"role": "tool", "content": format!("result {turn}")}));
    }
    let tool = |name: &str, required: Value| {
        let properties = json!({
            "command": {"type": "string"}, "message": {"type": "string"},
            "security_risk": {"type": "string", "enum": ["UNKNOWN", "LOW", "HIGH"]},
        });
        json!({"type": "function", "function": {
            "name": name, "parameters": {"properties": properties, "required": required},
        }})
    };
    let tools = [
        tool("terminal", json!(["command", "security_risk"])),
        tool("finish", json!(["message"])),
    ];
    json!({"model": "scripted", "messages": messages, "tools": tools})
}

fn ask(llm: &ScriptedLlm, request: &Value) -> Answer {
    let url = format!("{}/chat/completions", llm.api_url());
    Call::post(&url, request).bearer("llm-key").send().unwrap()
}

fn called(answer: &Answer) -> (String, Value) {
    let answer = answer.json();
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    let arguments = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    (call["name"].as_str().unwrap().to_owned(), arguments)
}

#[test]
fn takes_the_turns_of_the_play_for_the_prompt() {
    let llm = ScriptedLlm::start().unwrap();
    llm.play_for("digest", Play::new().terminal("ls").finish("Written."));
    let first = ask(&llm, &request("Write the digest", 0));
    assert_eq!(first.json()["choices"][0]["finish_reason"], "tool_calls");
    let arguments = json!({"command": "ls", "security_risk": "LOW"});
    assert_eq!(called(&first), ("terminal".to_owned(), arguments));
    let (name, arguments) = called(&ask(&llm, &request("Write the digest", 1)));
    assert_eq!(
        (name.as_str(), arguments),
        ("finish", json!({"message": "Written."}))
    );
    let (name, arguments) = called(&ask(&llm, &request("Something else", 0)));
    assert_eq!(
        (name.as_str(), arguments),
        ("finish", json!({"message": "Done."}))
    );
    assert_eq!(llm.turns_taken("digest"), 2);
    llm.server().check().unwrap();
}

#[test]
fn a_play_that_is_asked_for_too_much_finishes_and_says_so() {
    let llm = ScriptedLlm::start().unwrap();
    assert_eq!(called(&ask(&llm, &request("x", 1))).0, "finish");
    let message = llm.server().check().unwrap_err().to_string();
    assert!(message.contains("no turn 2"), "{message}");
}

#[test]
fn thinks_waits_and_refuses() {
    let llm = ScriptedLlm::start().unwrap();
    let play = Play::new()
        .think(|asked| Turn::Say(format!("{} {:?}", asked.prompt.trim(), asked.results)))
        .think(|asked| Turn::terminal(&asked.results[0]))
        .slowly(Duration::from_millis(10))
        .turn(Turn::Refuse(400));
    llm.set_play(play);
    let said = ask(&llm, &request("Hello", 0)).json();
    assert_eq!(said["choices"][0]["message"]["content"], "Hello []");
    let begin = Instant::now();
    assert_eq!(
        called(&ask(&llm, &request("Hello", 1))).1["command"],
        "result 0"
    );
    assert!(begin.elapsed() >= Duration::from_millis(10));
    assert_eq!(ask(&llm, &request("Hello", 2)).status, 400);
}

#[test]
fn answers_requests_without_tools_with_a_few_words() {
    let llm = ScriptedLlm::start().unwrap();
    let mut title = request("Find a title", 5);
    title["tools"] = json!([]);
    let said = ask(&llm, &title).json();
    assert_eq!(
        said["choices"][0]["message"]["content"],
        "A scripted conversation"
    );
    assert_eq!(said["choices"][0]["finish_reason"], "stop");
    llm.server().check().unwrap();
}

#[test]
fn streams_when_asked_to() {
    let llm = ScriptedLlm::start().unwrap();
    let mut request = request("x", 0);
    request["stream"] = json!(true);
    request["stream_options"] = json!({"include_usage": true});
    let answer = ask(&llm, &request);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let text = answer.text();
    let events: Vec<&str> = text.trim_end().split("\n\n").collect();
    assert_eq!((events.len(), events[3]), (4, "data: [DONE]"));
    let event: Value = serde_json::from_str(&events[0]["data: ".len()..]).unwrap();
    let call = &event["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(
        (&call["index"], &call["function"]["name"]),
        (&json!(0), &json!("finish"))
    );
    let event: Value = serde_json::from_str(&events[1]["data: ".len()..]).unwrap();
    assert_eq!(event["choices"][0]["finish_reason"], "tool_calls");
}
