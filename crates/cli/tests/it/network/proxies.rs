//! A proxy is set, and everything else is on this machine.

use crate::stage::Automation;
use crate::stage::Backend;
use crate::stage::scenes::fresh_work;
use std::path::Path;
use testbed::ClosedPort;

#[test]
fn loopback_is_never_sent_through_a_proxy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/network/proxy-is-set-and-targets-are-loopback.json");
    let input: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // Nobody listens where the proxy should be: whatever went there would fail.
    let proxy = ClosedPort::take().unwrap();
    for automation in [Automation::News, Automation::Review, Automation::Issue] {
        let mut scene = fresh_work(automation, Backend::LikeSqlite);
        for (name, value) in input["env"].as_object().unwrap() {
            if value.is_string() {
                for name in [name.clone(), name.to_lowercase()] {
                    scene.stage_mut().set(&name, proxy.base_url());
                }
            }
        }
        scene.stage_mut().set("ALL_PROXY", proxy.base_url());
        let ran = scene.stage().run().ok();
        assert_eq!(ran.count("started"), 1, "{}", ran.all());
        scene.polls_until_quiet().unwrap();
    }
}
