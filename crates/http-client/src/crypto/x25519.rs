//! Key exchange X25519 for TLS (RFC 7748, RFC 8446, section 4.2.8.2) on top of `x25519-dalek`,
//! which does without ring's table of multiples of the base point.

use rustls::crypto::{ActiveKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};
use zeroize::Zeroizing;

/// Length of keys and of the result.
const LENGTH: usize = 32;

/// X25519.
pub(super) static KEY_EXCHANGE: &dyn SupportedKxGroup = &Group;

#[derive(Debug)]
struct Group;

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        use ring::rand::SecureRandom as _;
        let mut secret = Zeroizing::new([0; LENGTH]);
        ring::rand::SystemRandom::new()
            .fill(&mut *secret)
            .map_err(|_| GetRandomFailed)?;
        let public = x25519(*secret, X25519_BASEPOINT_BYTES);
        Ok(Box::new(Exchange { secret, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct Exchange {
    secret: Zeroizing<[u8; LENGTH]>,
    public: [u8; LENGTH],
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer: [u8; LENGTH] = peer
            .try_into()
            .map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let shared = Zeroizing::new(x25519(*self.secret, peer));
        // A point of small order: the result would not depend on our secret (RFC 7748, 6.1).
        if shared.iter().fold(0, |all, byte| all | byte) == 0 {
            return Err(PeerMisbehaved::InvalidKeyShare.into());
        }
        Ok(SharedSecret::from(shared.as_slice()))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}
