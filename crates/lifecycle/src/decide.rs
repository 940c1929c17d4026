//! Pure decisions (being written).

/// Proof that the conversation of a workspace has stopped, or never was. Only this crate can make
/// one.
#[derive(Debug)]
pub struct Stopped(());
