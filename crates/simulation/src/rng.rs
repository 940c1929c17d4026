//! Chance, from a seed and nothing else. The sequence of a seed never changes, so that a seed named in a
//! test means the same schedule for as long as the world does.

/// A source of chance: the generator that is known as `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 when there is none.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.any().checked_rem(end).unwrap_or(0)
    }

    /// A number from `first` to `last`, both included.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// True this often in a thousand times.
    pub(crate) fn chance(&mut self, permille: u32) -> bool {
        permille > 0 && self.below(1000) < u64::from(permille)
    }

    /// One of several; the list must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// A place in a list of that length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of several by weight.
    pub(crate) fn weighted<T: Copy>(&mut self, from: &[(u64, T)]) -> T {
        let mut at = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, value) in from {
            if at < *weight {
                return *value;
            }
            at -= weight;
        }
        from[from.len() - 1].1
    }

    /// Micro-seconds between two numbers of seconds.
    pub(crate) fn seconds(&mut self, first: u64, last: u64) -> u64 {
        self.between(first * 1_000_000, last * 1_000_000)
    }
}
