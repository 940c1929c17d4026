use std::collections::BTreeMap;

use serde::Deserialize;
use url::Url;

use super::Proxies;
use crate::policy::NetworkEnv;

#[derive(Deserialize)]
struct Case {
    env: BTreeMap<String, Option<String>>,
    targets: BTreeMap<String, String>,
}

fn check(case: &str) {
    let case: Case = serde_json::from_str(case).unwrap();
    let env = NetworkEnv::from_lookup(|name| case.env.get(name).cloned().flatten());
    let proxies = Proxies::new(&env);
    for (target, expected) in &case.targets {
        let chosen = match proxies.choose(&Url::parse(target).unwrap()).unwrap() {
            Some(proxy) => {
                assert_eq!(proxy.host_str(), Some("proxy.example"));
                "proxy"
            }
            None => "direct",
        };
        assert_eq!(chosen, expected, "{target}");
    }
}

#[test]
fn a_proxy_is_set_and_targets_are_loopback() {
    check(include_str!(
        "../../../../fixtures/network/proxy-is-set-and-targets-are-loopback.json"
    ));
}

#[test]
fn no_proxy_in_every_form() {
    check(include_str!(
        "../../../../fixtures/network/no-proxy-in-every-form.json"
    ));
}

#[test]
fn variables_of_a_cgi_process_and_empty_ones_count_for_nothing() {
    let env = NetworkEnv::from_lookup(|name| match name {
        "HTTP_PROXY" | "REQUEST_METHOD" => Some("http://evil.example".to_owned()),
        "HTTPS_PROXY" => Some(" ".to_owned()),
        _ => None,
    });
    assert_eq!(env, NetworkEnv::default());
}

#[test]
fn everything_is_direct_with_a_star() {
    let env = NetworkEnv {
        all_proxy: Some("http://proxy.example".to_owned()),
        no_proxy: Some("*".to_owned()),
        ..NetworkEnv::default()
    };
    let url = Url::parse("https://api.github.com").unwrap();
    assert_eq!(Proxies::new(&env).choose(&url), Ok(None));
}
