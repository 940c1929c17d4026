//! The readers of answers for the fuzz targets, without the network. Not part of the interface.

use crate::answers::{FinalResponse, Profile, SecretList, Settings, Shown};

/// Reads an answer as everything that it could be the answer to.
pub fn answer(body: &[u8]) {
    let one = serde_json::from_slice::<Shown>(body).ok();
    let many = serde_json::from_slice::<Vec<Option<Shown>>>(body).unwrap_or_default();
    for shown in many.into_iter().flatten().chain(one) {
        let _looks = (
            shown.id(),
            shown.is("f020e135-9ead-43f1-a3b5-5ef74fc22697"),
            shown.look(),
        );
    }
    let _settings = serde_json::from_slice::<Settings>(body);
    let _profile = serde_json::from_slice::<Profile>(body);
    let _list = serde_json::from_slice::<SecretList>(body);
    let _response = serde_json::from_slice::<FinalResponse>(body);
}
