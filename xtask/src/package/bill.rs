//! The bill of materials of an executable: every crate that it is built from, as `CycloneDX` JSON
//! 1.5 (<https://cyclonedx.org/docs/1.5/json/>). It has no time and no number of its own, so that the
//! same commit gives the same bytes.

use super::build::{Build, Machine};
use super::weight::Weights;
use crate::error::TaskError;
use crate::process::{cargo, output, root};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Name and version.
type Id = (String, String);

/// The bill of an automation.
///
/// # Errors
/// Cargo or Cargo.lock cannot be read.
pub(super) fn of(name: &str, build: &Build<'_>, weights: &Weights) -> Result<String, TaskError> {
    let used = used(build.machine)?;
    let sums = sums()?;
    let packages = build.packages["packages"].as_array();
    let packages: Vec<&Value> = packages
        .into_iter()
        .flatten()
        .filter(|package| used.contains(&id(package)))
        .collect();
    let by_key: BTreeMap<&str, Id> = packages
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, id(package))))
        .collect();
    let components: Vec<Value> = packages
        .iter()
        .filter(|package| package["name"] != "cli")
        .map(|package| component(package, &sums, weights))
        .collect();
    let nodes = build.packages["resolve"]["nodes"].as_array();
    let dependencies: Vec<Value> = nodes
        .into_iter()
        .flatten()
        .filter_map(|node| dependencies(node, &by_key))
        .collect();
    let cli = packages.iter().find(|package| package["name"] == "cli");
    let version = cli.map_or("", |package| {
        package["version"].as_str().unwrap_or_default()
    });
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": reference(&("cli".to_owned(), version.to_owned())),
                "name": name,
                "version": version,
                "licenses": [{"expression": "MIT"}],
                "properties": [{"name": "target", "value": build.machine.triple}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

fn id(package: &Value) -> Id {
    let field = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    (field("name"), field("version"))
}

fn reference((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{version}")
}

fn component(package: &Value, sums: &BTreeMap<Id, String>, weights: &Weights) -> Value {
    let id = id(package);
    let (name, version) = &id;
    // What the linker left of it under its name; code that went into its callers does not count.
    let weight = weights.of(&name.replace('-', "_"));
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(&id),
        "name": name,
        "version": version,
        "purl": reference(&id),
        "properties": [{"name": "bytes-in-executable", "value": weight.to_string()}],
    });
    if let Some(license) = package["license"].as_str() {
        // Old manifests write a slash for "or".
        let expression = license.replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    if let Some(sum) = sums.get(&id) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

fn dependencies(node: &Value, by_key: &BTreeMap<&str, Id>) -> Option<Value> {
    let own = by_key.get(node["id"].as_str()?)?;
    let others = node["dependencies"].as_array().into_iter().flatten();
    let others: BTreeSet<String> = others
        .filter_map(|key| by_key.get(key.as_str()?))
        .map(reference)
        .collect();
    Some(json!({"ref": reference(own), "dependsOn": others}))
}

/// The crates that are compiled into the binaries: neither those of tests and build scripts nor
/// macros.
fn used(machine: &Machine) -> Result<BTreeSet<Id>, TaskError> {
    let mut tree = cargo(&["tree", "--locked", "--package", "cli", "--prefix", "none"]);
    tree.args(["--edges", "normal,no-proc-macro", "--format", "{p}"]);
    tree.args(["--target", &machine.triple]);
    let told = output(&mut tree)?;
    if !told.status.success() {
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        return Err(TaskError::found(format!("cargo tree: {said}")));
    }
    Ok(used_in(&String::from_utf8_lossy(&told.stdout)))
}

/// Lines such as `bytes v1.12.2` or `cli v0.1.0 (/where/it/is)`.
fn used_in(tree: &str) -> BTreeSet<Id> {
    tree.lines()
        .filter_map(|line| {
            let (name, version) = line.split_once(" v")?;
            let version = version.split_whitespace().next()?;
            Some((name.to_owned(), version.to_owned()))
        })
        .collect()
}

fn sums() -> Result<BTreeMap<Id, String>, TaskError> {
    let path = root().join("Cargo.lock");
    let text = std::fs::read_to_string(&path).map_err(|error| TaskError::file(&path, error))?;
    Ok(sums_in(&text))
}

/// The sums in a Cargo.lock.
fn sums_in(lock: &str) -> BTreeMap<Id, String> {
    let parts = lock.split("[[package]]").skip(1);
    parts
        .filter_map(|part| {
            let field = |name: &str| {
                let mut lines = part.lines();
                let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
                value.map(|value| value.trim_matches('"').to_owned())
            };
            Some(((field("name")?, field("version")?), field("checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{sums_in, used_in};

    fn id(name: &str, version: &str) -> (String, String) {
        (name.to_owned(), version.to_owned())
    }

    #[test]
    fn crates_are_read_from_a_tree() {
        let used = used_in("cli v0.1.0 (/somewhere)\nbytes v1.12.2\nbytes v1.12.2 (*)\n\n");
        assert_eq!(used, [id("bytes", "1.12.2"), id("cli", "0.1.0")].into());
    }

    #[test]
    fn sums_are_read_from_a_lock() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\
                    source = \"registry\"\nchecksum = \"00ff\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        assert_eq!(
            sums_in(lock),
            [(id("a", "1.0.0"), "00ff".to_owned())].into()
        );
    }
}
