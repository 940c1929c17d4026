//! Reads typed values from the keys of a configuration, with errors that a person can act on.

use super::{ConfigError, Shared};
use http_client::{redact, redact_address};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The keys of a configuration, and which of them are known.
#[derive(Debug)]
pub struct Reader {
    source: String,
    keys: Map<String, Value>,
    known: Vec<&'static str>,
}

/// What a value is, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Each text as if it were an address, which it should often be.
fn without_passwords(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact_address(text)),
        Value::Array(items) => items.iter().map(without_passwords).collect(),
        Value::Object(members) => {
            let clean = members.iter();
            clean
                .map(|(key, member)| (key.clone(), without_passwords(member)))
                .collect()
        }
        other => other.clone(),
    }
}

impl Reader {
    pub(super) fn new(source: &str, keys: Map<String, Value>) -> Self {
        Self {
            source: source.to_owned(),
            keys,
            known: Vec::new(),
        }
    }

    /// The value of a key; `null` counts as absent.
    fn value(&mut self, key: &'static str) -> Option<Value> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.keys.get(key).filter(|value| !value.is_null()).cloned()
    }

    /// Whether a key is there.
    pub(super) fn has(&mut self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    /// An error about a key.
    pub(super) fn wrong(
        &self,
        key: &'static str,
        expected: impl Into<String>,
        found: &Value,
    ) -> ConfigError {
        let shown = match found {
            Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
            Value::String(text) if text.trim().is_empty() => "an empty string".to_owned(),
            other => {
                // An address may hold a password, and this ends up in logs.
                let text = redact(&without_passwords(other).to_string(), &[]);
                format!("{} {}", kind(other), lifecycle::text::cut_bytes(&text, 80))
            }
        };
        ConfigError::Wrong {
            path: self.source.clone(),
            key,
            expected: expected.into(),
            found: shown,
        }
    }

    /// A text; an empty one is allowed.
    pub(super) fn text(&mut self, key: &'static str, default: &str) -> Result<String, ConfigError> {
        match self.value(key) {
            None => Ok(default.to_owned()),
            Some(Value::String(text)) => Ok(text.trim().to_owned()),
            Some(other) => Err(self.wrong(key, "a string", &other)),
        }
    }

    /// A text that says something.
    pub(super) fn full_text(
        &mut self,
        key: &'static str,
        default: &str,
    ) -> Result<String, ConfigError> {
        let text = self.text(key, default)?;
        if text.is_empty() {
            return Err(self.wrong(key, "a string that is not empty", &Value::String(text)));
        }
        Ok(text)
    }

    /// One of a few texts.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, ConfigError> {
        let names: Vec<String> = choices
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let expected = format!("one of {}", names.join(", "));
        match self.value(key) {
            None => Ok(default),
            Some(Value::String(text)) => choices
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(text.trim()))
                .map(|(_, choice)| *choice)
                .ok_or_else(|| self.wrong(key, expected, &Value::String(text))),
            Some(other) => Err(self.wrong(key, expected, &other)),
        }
    }

    /// A boolean.
    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> Result<bool, ConfigError> {
        match self.value(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(self.wrong(key, "true or false", &other)),
        }
    }

    /// A whole number within a range.
    pub(super) fn whole(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, ConfigError> {
        let Some(value) = self.value(key) else {
            return Ok(default);
        };
        value
            .as_u64()
            .filter(|number| range.contains(number))
            .ok_or_else(|| {
                let expected = format!("a whole number from {} to {}", range.start(), range.end());
                self.wrong(key, expected, &value)
            })
    }

    /// A list of texts, or one text split at newlines and commas. `None` when the key is absent.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Option<Vec<String>>, ConfigError> {
        let expected = "a list of strings, or one string with them separated by newlines or commas";
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let items: Vec<String> = match &value {
            Value::String(text) => text.split(['\n', ',']).map(str::to_owned).collect(),
            Value::Array(items) => {
                let mut texts = Vec::new();
                for item in items {
                    let Value::String(text) = item else {
                        return Err(self.wrong(key, expected, &value));
                    };
                    texts.push(text.clone());
                }
                texts
            }
            other => return Err(self.wrong(key, expected, other)),
        };
        let mut list: Vec<String> = Vec::new();
        for item in items {
            let item = item.trim().to_owned();
            if !item.is_empty() && !list.contains(&item) {
                list.push(item);
            }
        }
        Ok(Some(list))
    }

    /// A list that has something in it, if it is there at all.
    pub(super) fn some_list(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Vec<String>>, ConfigError> {
        match self.list(key)? {
            Some(list) if list.is_empty() => {
                let found = self.value(key).unwrap_or_default();
                Err(self.wrong(key, "a list that is not empty", &found))
            }
            other => Ok(other),
        }
    }

    /// A list that has something in it.
    pub(super) fn full_list(&mut self, key: &'static str) -> Result<Vec<String>, ConfigError> {
        if let Some(list) = self.some_list(key)? {
            return Ok(list);
        }
        let near = self.keys.keys().find(|other| is_near(other, key));
        Err(ConfigError::Wrong {
            path: self.source.clone(),
            key,
            expected: "a list that is not empty".to_owned(),
            found: match near.filter(|near| near.as_str() != key) {
                Some(near) => format!("nothing (is `{near}` meant for it?)"),
                None => "nothing".to_owned(),
            },
        })
    }

    /// An address that begins with `http://` or `https://`. `None` when the key is absent or empty.
    pub(super) fn address(&mut self, key: &'static str) -> Result<Option<String>, ConfigError> {
        let text = self.text(key, "")?;
        if text.is_empty() {
            return Ok(None);
        }
        let fits = url::Url::parse(&text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if fits {
            Ok(Some(text))
        } else {
            Err(self.wrong(key, "an http:// or https:// address", &Value::String(text)))
        }
    }

    /// What every automation has.
    pub(super) fn shared(
        &mut self,
        secrets: &[&str],
        max_new: u64,
        wait_seconds: u64,
    ) -> Result<Shared, ConfigError> {
        let names = self.list("agent_secret_names")?;
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Ok(Shared {
            openhands_url: self.address("openhands_url")?,
            agent_secret_names: names
                .unwrap_or_else(|| secrets.iter().map(|name| (*name).to_owned()).collect()),
            forward_mcp_servers: self.flag("forward_mcp_servers", false)?,
            time_budget_seconds: self.whole("time_budget_seconds", 30..=1740, 480)? as f64,
            wait_seconds: self.whole("wait_seconds", 0..=1740, wait_seconds)? as f64,
            max_new_per_run: number(self.whole("max_new_per_run", 1..=1000, max_new)?),
            max_active: number(self.whole("max_active", 0..=10_000, 0)?),
        })
    }

    /// Keys that are unknown but nearly known.
    pub(super) fn near_misses(&self) -> Vec<String> {
        let unknown = self
            .keys
            .keys()
            .filter(|key| !self.known.contains(&key.as_str()));
        unknown
            .filter_map(|key| {
                let near = self.known.iter().find(|known| is_near(key, known))?;
                let source = &self.source;
                Some(format!(
                    "{source}: `{key}` is ignored; did you mean `{near}`?"
                ))
            })
            .collect()
    }
}

/// Whether two names differ by two letters at most, or only in case and separators.
pub(crate) fn is_near(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase()
    };
    let (a, b) = (plain(a), plain(b));
    let allowed = if b.len() < 6 { 1 } else { 2 };
    a == b || distance(a.as_bytes(), b.as_bytes()) <= allowed
}

/// How many letters have to be changed, added or removed.
fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
