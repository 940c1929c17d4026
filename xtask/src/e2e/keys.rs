//! The keys of one start of the services: made anew every time, because whoever has the agent
//! server's key may run commands as the person at the machine.

use std::fmt;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use super::error::E2eError;

/// All keys; not to be shown.
pub(super) struct Keys {
    /// The agent server's.
    pub(super) session: String,
    /// The automation service's.
    pub(super) api: String,
    /// What the automation service signs KV tokens with.
    pub(super) kv_secret: String,
    /// What the agent server encrypts stored secrets with.
    pub(super) storage_secret: String,
}

impl Keys {
    pub(super) fn random() -> Result<Self, E2eError> {
        Ok(Self {
            session: random_key()?,
            api: random_key()?,
            kv_secret: random_key()?,
            storage_secret: random_key()?,
        })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(***)")
    }
}

fn random_key() -> Result<String, E2eError> {
    let bytes: [u8; 16] = random_bytes()?;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Any number.
pub(super) fn random_number() -> Result<u16, E2eError> {
    Ok(u16::from_ne_bytes(random_bytes()?))
}

fn random_bytes<const N: usize>() -> Result<[u8; N], E2eError> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(E2eError::io("read /dev/urandom"))?;
    Ok(bytes)
}
