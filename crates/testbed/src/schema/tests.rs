//! Each keyword once as it should be and once not, and the documents that come with the crate.

use serde_json::{Value, json};

use super::Schemas;

fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let document = json!({"schemas": {
        "it": schema,
        "name": {"type": "string"},
        "loop": {"$ref": "#/schemas/loop"},
    }});
    let schemas = Schemas::parse(&document.to_string()).unwrap();
    schemas
        .check("it", value)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn types() {
    let cases = [
        ("string", json!("a"), json!(1)),
        ("integer", json!(7), json!(7.5)),
        ("number", json!(7.5), json!("7.5")),
        ("boolean", json!(true), json!("true")),
        ("array", json!([]), json!({})),
        ("object", json!({}), json!([])),
        ("null", json!(null), json!(0)),
    ];
    for (name, good, bad) in cases {
        assert!(problems(&json!({"type": name}), &good).is_empty(), "{name}");
        assert_eq!(problems(&json!({"type": name}), &bad).len(), 1, "{name}");
        assert_eq!(
            problems(&json!({"type": [name, "null"]}), &json!(null)),
            [""; 0],
            "{name}"
        );
    }
    assert!(
        problems(&json!({}), &json!(null)).is_empty(),
        "no type allows everything"
    );
}

#[test]
fn required_properties_and_items_name_the_place() {
    let schema = json!({"type": "object", "required": ["labels", "id"], "properties": {
        "id": {"type": "integer"},
        "labels": {"type": "array", "items": {
            "type": "object", "required": ["name"], "properties": {"name": {"$ref": "#/schemas/name"}}}},
    }});
    let value = json!({"labels": [{"name": "bug"}, {"name": null}, {}], "more": 1});
    assert_eq!(
        problems(&schema, &value),
        [
            "id: is required and missing",
            "labels[1].name: expected \"string\", found null",
            "labels[2].name: is required and missing",
        ]
    );
}

#[test]
fn nullable_stands_beside_a_type_or_a_reference() {
    assert!(problems(&json!({"type": "string", "nullable": true}), &json!(null)).is_empty());
    let reference = json!({"$ref": "#/schemas/name", "nullable": true});
    assert!(problems(&reference, &json!(null)).is_empty());
    assert_eq!(
        problems(&json!({"$ref": "#/schemas/name"}), &json!(null)).len(),
        1
    );
    assert_eq!(
        problems(&json!({"type": "string", "nullable": false}), &json!(null)).len(),
        1
    );
}

#[test]
fn enumerations() {
    let schema = json!({"type": "string", "enum": ["open", "closed"]});
    assert!(problems(&schema, &json!("open")).is_empty());
    assert_eq!(
        problems(&schema, &json!("opened")),
        [r#"the value: "opened" is not one of ["open","closed"]"#]
    );
}

#[test]
fn combinations() {
    let any = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    assert!(problems(&any, &json!(1)).is_empty());
    assert_eq!(problems(&any, &json!(true)).len(), 1);
    let one = json!({"oneOf": [{"type": "number"}, {"type": "integer"}]});
    assert!(problems(&one, &json!(1.5)).is_empty());
    assert_eq!(
        problems(&one, &json!(1)),
        ["the value: fits 2 schemas where one is allowed"]
    );
    let all = json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert!(problems(&all, &json!({"a": 1, "b": 2})).is_empty());
    assert_eq!(
        problems(&all, &json!({"a": 1})),
        ["b: is required and missing"]
    );
}

#[test]
fn broken_schemas_are_told_apart_from_broken_values() {
    assert_eq!(
        problems(&json!({"$ref": "#/schemas/gone"}), &json!(1)),
        ["the value: nothing is at #/schemas/gone"]
    );
    assert_eq!(
        problems(&json!({"$ref": "#/schemas/loop"}), &json!(1)),
        ["the value: the schema refers to itself without end"]
    );
    let schemas = Schemas::parse("{}").unwrap();
    assert_eq!(
        schemas.check("x", &json!(1))[0].problem,
        "there is no schema named x"
    );
    assert!(Schemas::parse("{").is_err());
}

#[test]
fn a_closed_check_refuses_unknown_members() {
    let schemas = Schemas::github();
    let request = json!({"body": "text", "tone": "friendly"});
    assert!(
        schemas
            .check("request:create-issue-comment", &request)
            .is_empty()
    );
    let found = schemas.check_closed("request:create-issue-comment", &request);
    assert_eq!(found[0].to_string(), "tone: is not part of the schema");
}

#[test]
fn lists_are_checked_item_by_item() {
    let schemas = Schemas::parse(r#"{"schemas": {"n": {"type": "object", "required": ["a"]}}}"#);
    let found = schemas.unwrap().check_items("n", &json!([{"a": 1}, {}, 3]));
    let places: Vec<_> = found
        .iter()
        .map(|mismatch| mismatch.path.as_str())
        .collect();
    assert_eq!(places, ["[1].a", "[2]"]);
}

/// Every reference in a document that comes with the crate leads somewhere.
#[test]
fn the_built_in_documents_are_whole() {
    fn references(node: &Value, out: &mut Vec<String>) {
        match node {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    out.push(reference.to_owned());
                }
                members.values().for_each(|member| references(member, out));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, out)),
            _ => {}
        }
    }
    for schemas in [Schemas::github(), Schemas::gitlab()] {
        assert!(!schemas.names().is_empty());
        assert!(
            schemas.root["source"].is_object(),
            "every document names its source"
        );
        let mut found = Vec::new();
        references(&schemas.root, &mut found);
        for reference in found {
            assert!(schemas.resolve(&reference).is_some(), "{reference}");
        }
    }
}
