//! Lists in answers, bounded: a list of nothing takes many times its bytes in memory, so a limit on
//! bytes alone is none.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

/// A list of at most `N` items. A longer one is an error, and what comes after them is not read.
///
/// ```
/// use http_client::AtMost;
///
/// let AtMost::<u8, 3>(list) = serde_json::from_str("[1, 2, 3]")?;
/// assert_eq!(list, [1, 2, 3]);
/// assert!(serde_json::from_str::<AtMost<u8, 3>>("[1, 2, 3, 4]").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtMost<T, const N: usize>(pub Vec<T>);

impl<T, const N: usize> Default for AtMost<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for AtMost<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items::<T, N>(PhantomData))
    }
}

struct Items<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Items<T, N> {
    type Value = AtMost<T, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {N} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            if items.len() == N {
                return Err(A::Error::custom(format_args!("more than {N} items")));
            }
            items.push(item);
        }
        Ok(AtMost(items))
    }
}
