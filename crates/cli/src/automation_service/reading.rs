//! From an answer to a value, or to the error that it means.

use super::answers::problems;
use super::error::ServiceError;
use http_client::Response;
use serde::de::DeserializeOwned;

/// The answer, unless the automation that it is about does not exist.
pub(super) fn known<'a>(id: &str, answer: &'a Response) -> Result<&'a Response, ServiceError> {
    let unknown = answer.status == 404
        || (answer.status == 422 && problems(&answer.body).names("automation_id"));
    if unknown {
        return Err(ServiceError::NoSuchAutomation { id: id.to_owned() });
    }
    Ok(answer)
}

/// Success of a removal: what is gone already is removed.
pub(super) fn gone(answer: &Response) -> Result<(), ServiceError> {
    match answer.status {
        200..=299 | 404 => Ok(()),
        _ => Err(refusal(answer)),
    }
}

/// The value of a successful answer.
pub(super) fn read<T: DeserializeOwned>(answer: &Response) -> Result<T, ServiceError> {
    match answer.status {
        200..=299 => Ok(answer.json()?),
        _ => Err(refusal(answer)),
    }
}

fn refusal(answer: &Response) -> ServiceError {
    let (call, why) = (answer.call(), problems(&answer.body).in_words());
    match answer.status {
        403 => ServiceError::Forbidden { call, why },
        400 | 409 | 422 => ServiceError::Refused { call, why },
        _ => ServiceError::Http(answer.status_error()),
    }
}
