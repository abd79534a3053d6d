//! Numbers that look random and are the same for the same seed.

/// A small generator (splitmix64): what happens is random, but can be repeated.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// Begins a sequence; the same seed begins the same one.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `most`.
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most.max(1)
    }

    /// Picks one of several.
    pub fn of<'a, T>(&mut self, many: &'a [T]) -> &'a T {
        let at = self.below(many.len() as u64);
        &many[usize::try_from(at).unwrap_or_default()]
    }
}
