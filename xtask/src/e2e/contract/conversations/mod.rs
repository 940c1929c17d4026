//! placeholder
use super::Facts;
use crate::e2e::error::E2eError;
use crate::e2e::services::RealServices;
pub(super) fn check(_s: &RealServices, _f: &mut Facts) -> Result<(), E2eError> {
    Ok(())
}
