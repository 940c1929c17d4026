//! Values of any type where the standard wants one: what does not fit counts as absent.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Accepts any value; those of the wrong type count as absent.
pub(super) struct Lenient<T>(pub(super) T);

/// What a [`Lenient`] visitor makes of a value, if it is of its type.
pub(super) trait FromJson<'de>: Sized {
    type Value: Default;

    fn text(self, _: &str) -> Self::Value {
        Self::Value::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::Value::default())
    }
}

/// A string, or what can be written as one.
#[derive(Default)]
pub(super) struct Scalar(pub(super) Option<String>);

struct ScalarSeed;

impl FromJson<'_> for ScalarSeed {
    type Value = Scalar;

    fn text(self, text: &str) -> Scalar {
        Scalar(Some(text.to_owned()))
    }
}

impl<'de> serde::Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Lenient(ScalarSeed))
    }
}

/// The next value as a string, empty if it is none.
pub(super) fn scalar<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    Ok(map.next_value::<Scalar>()?.0.unwrap_or_default())
}

impl<'de, T: FromJson<'de>> Visitor<'de> for Lenient<T> {
    type Value = T::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T::Value, E> {
        Ok(T::Value::default())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T::Value, E> {
        Ok(self.0.text(&number.to_string()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T::Value, E> {
        Ok(self.0.text(&number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T::Value, E> {
        Ok(self.0.text(&number.to_string()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T::Value, E> {
        Ok(self.0.text(text))
    }

    fn visit_unit<E: Error>(self) -> Result<T::Value, E> {
        Ok(T::Value::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::Value::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T::Value, A::Error> {
        self.0.map(map)
    }
}
