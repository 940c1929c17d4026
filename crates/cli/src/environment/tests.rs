//! What the variables mean, and that none of them is ever shown.

use super::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

fn of(variables: &[(&str, &str)]) -> Environment {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    Environment::from_lookup(|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn exposed(secret: Option<&Secret>) -> Option<&str> {
    secret.map(Secret::expose)
}

#[test]
fn nothing_set_is_nothing_given() {
    let environment = of(&[]);
    assert!(!environment.is_sandbox());
    assert_eq!(environment.automation_id(), None);
    assert_eq!(environment.secrets().count(), 0);
    assert_eq!(environment.agent_server_url, None);
}

#[test]
fn an_empty_variable_counts_as_absent() {
    let environment = of(&[
        ("AGENT_SERVER_URL", ""),
        ("SESSION_API_KEY", "  "),
        ("OH_SESSION_API_KEYS_0", "second\n"),
        ("AUTOMATION_KV_TOKEN", "\n"),
        ("AUTOMATION_CONFIG", ""),
        ("WORKSPACE_BASE", " "),
        ("SANDBOX_ID", ""),
        ("NO_COLOR", ""),
    ]);
    assert_eq!(environment.agent_server_url, None);
    assert_eq!(
        exposed(environment.session_api_key.as_ref()),
        Some("second")
    );
    assert!(environment.kv_token.is_none());
    assert_eq!(
        (environment.config, environment.workspace_base),
        (None, None)
    );
    assert!(environment.sandbox_id.is_none() && !environment.no_color);
}

#[test]
fn the_own_key_goes_before_the_servers_list() {
    let both = [
        ("SESSION_API_KEY", "own"),
        ("OH_SESSION_API_KEYS_0", "listed"),
    ];
    assert_eq!(exposed(of(&both).session_api_key.as_ref()), Some("own"));
}

#[test]
fn a_sandbox_has_its_agent_server_beside_it() {
    let url = |variables: &[(&str, &str)]| of(variables).agent_server_url;
    let sandbox = ("SANDBOX_ID", "s1");
    assert_eq!(url(&[sandbox]).as_deref(), Some("http://localhost:60000"));
    let port = ("AGENT_SERVER_PORT", "8123");
    assert_eq!(
        url(&[sandbox, port]).as_deref(),
        Some("http://localhost:8123")
    );
    let named = ("AGENT_SERVER_URL", "http://agent:8000");
    assert_eq!(
        url(&[sandbox, port, named]).as_deref(),
        Some("http://agent:8000")
    );
    assert_eq!(url(&[port]), None, "elsewhere a port alone says nothing");
}

#[test]
fn the_payload_says_which_automation_it_is() {
    let id = |payload: &str| {
        of(&[
            ("AUTOMATION_EVENT_PAYLOAD", payload),
            ("AUTOMATION_ID", "other"),
        ])
        .automation_id()
    };
    assert_eq!(id(r#"{"automation_id": "a1"}"#).as_deref(), Some("a1"));
    for unclear in [
        r#"{"automation_id": ""}"#,
        r#"{"automation_id": 7}"#,
        "[]",
        "{",
        "null",
    ] {
        assert_eq!(id(unclear).as_deref(), Some("other"), "{unclear}");
    }
    assert_eq!(
        of(&[("AUTOMATION_ID", "a2")]).automation_id().as_deref(),
        Some("a2")
    );
}

/// All names that are asked for.
fn names() -> BTreeSet<String> {
    let asked = RefCell::new(BTreeSet::new());
    let _ = Environment::from_lookup(|name| {
        asked.borrow_mut().insert(name.to_owned());
        // Further names are asked for in a sandbox.
        (name == "SANDBOX_ID").then(|| "s1".to_owned())
    });
    asked.into_inner()
}

#[test]
fn no_value_of_a_secret_is_ever_shown() {
    let telling = ["KEY", "TOKEN"];
    let is_secret = |name: &str| telling.iter().any(|word| name.contains(word));
    let secrets: Vec<String> = names().into_iter().filter(|name| is_secret(name)).collect();
    assert_eq!(secrets.len(), 8, "{secrets:?}");
    for name in secrets {
        let value = "s3cr3t-value-of-it";
        let environment = of(&[(&name, value)]);
        assert!(!format!("{environment:?}").contains(value), "{name}");
        let hidden: Vec<&str> = environment.secrets().map(Secret::expose).collect();
        assert_eq!(hidden, [value], "{name} is not hidden from the log");
    }
}

#[test]
fn every_variable_is_in_the_handbook() {
    let root = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{root}/../../docs/configuration.md")).unwrap();
    // Usual on any machine, or the lower-case twin of one that is explained.
    let usual = ["HOME", "PATH", "REQUEST_METHOD"];
    for name in names() {
        let explained = text.contains(&name.to_uppercase());
        assert!(
            explained || usual.contains(&name.as_str()),
            "{name} is not explained"
        );
    }
}
