//! Where the core tells people what happens, as it happens.

/// The human log of a run. Texts are single lines without secrets.
pub trait Journal {
    /// Something happened to an item of a target, or to the target itself (`item` is empty then).
    fn note(&self, target: &str, item: &str, text: &str);

    /// Something needs a person's attention.
    fn warn(&self, target: &str, item: &str, text: &str);

    /// A finished digest, to be printed as it is.
    fn digest(&self, period: &str, text: &str);
}

/// A journal that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Journal for Silent {
    fn note(&self, _target: &str, _item: &str, _text: &str) {}
    fn warn(&self, _target: &str, _item: &str, _text: &str) {}
    fn digest(&self, _period: &str, _text: &str) {}
}
