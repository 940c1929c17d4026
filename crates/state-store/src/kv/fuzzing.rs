//! The reader of answers for the fuzz targets.

use super::answers::{Answer, Refusal, deleted, listed, read, written};
use super::wire::Put;

/// Reads an answer as everything that it could be the answer to, for the fuzz targets. Gives the
/// texts for people that came of it.
#[doc(hidden)]
pub fn fuzzed_answer(status: u16, retry_after: Option<&str>, body: &[u8]) -> Vec<String> {
    let answer = Answer {
        status,
        retry_after,
        body,
    };
    let refusals = [
        read(&answer, "state").err(),
        deleted(&answer, "state").err(),
        listed(&answer, "state").err(),
    ];
    let mut texts: Vec<String> = refusals
        .into_iter()
        .flatten()
        .map(|refusal| match refusal {
            Refusal::Again(_, detail) => detail,
            Refusal::Final(error) => error.to_string(),
        })
        .collect();
    match written(&answer, "state") {
        Ok(Put::Unknown(detail)) => texts.push(detail),
        Ok(_) => {}
        Err(error) => texts.push(error.to_string()),
    }
    texts
}
