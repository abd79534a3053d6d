//! A random number generator that repeats its sequence for the same seed.

/// A small generator (splitmix64), so that a random run can be repeated.
#[derive(Debug)]
pub struct SeededRandom(u64);

impl SeededRandom {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    /// Picks one item.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64);
        &items[usize::try_from(at).unwrap_or_default()]
    }
}
