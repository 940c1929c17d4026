//! The token that opens an automation's KV store, made as the automation service makes it: a JSON
//! web token, signed with HMAC-SHA256, that names automation and run and lives for a day. With it a
//! test can use the store of an automation without waiting for a run.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The block size of SHA-256 in bytes.
const BLOCK: usize = 64;

/// A token for the KV store of this automation. Times are seconds since the epoch.
pub(super) fn kv_token(
    secret: &str,
    automation_id: &str,
    run_id: &str,
    issued: u64,
    expires: u64,
) -> String {
    let claims = json!({
        "automation_id": automation_id, "run_id": run_id, "iat": issued, "exp": expires,
    });
    sign(secret.as_bytes(), &claims)
}

fn sign(secret: &[u8], claims: &Value) -> String {
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let signed = format!(
        "{}.{}",
        base64url(header.to_string().as_bytes()),
        base64url(claims.to_string().as_bytes())
    );
    let signature = base64url(&hmac_sha256(secret, signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// RFC 2104 with SHA-256.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; BLOCK];
    let hashed;
    let key = if key.len() > BLOCK {
        hashed = Sha256::digest(key);
        hashed.as_slice()
    } else {
        key
    };
    for (place, byte) in block.iter_mut().zip(key) {
        *place = *byte;
    }
    let inner = Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x36))
        .chain_update(message)
        .finalize();
    let outer = Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x5c))
        .chain_update(inner);
    outer.finalize().into()
}

/// Base 64 with the URL alphabet and no padding (RFC 4648, section 5).
fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut word = 0_u32;
        for place in 0..3 {
            word = word << 8 | u32::from(chunk.get(place).copied().unwrap_or(0));
        }
        for place in 0..=chunk.len() {
            let index = (word >> (18 - 6 * place)) & 63;
            text.push(char::from(ALPHABET[index as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }

    #[test]
    fn hmac_agrees_with_the_vectors_of_rfc_4231() {
        assert_eq!(
            hex(&hmac_sha256(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long_key = [0xaa; 131];
        let message = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(
            hex(&hmac_sha256(&long_key, message)),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn base64_has_no_padding_and_the_url_alphabet() {
        let texts = ["", "f", "fo", "foo", "foob"].map(|text| base64url(text.as_bytes()));
        assert_eq!(texts, ["", "Zg", "Zm8", "Zm9v", "Zm9vYg"]);
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn a_token_has_three_parts_and_names_automation_and_run() {
        let token = kv_token("secret", "a", "r", 1, 2);
        let parts: Vec<_> = token.split('.').collect();
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0], "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
    }
}
