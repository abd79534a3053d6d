//! Pseudo-random choices seeded by the input, for targets that need more than a text.

/// Makes the same choices for the same bytes.
pub(super) struct SeededChoice(u64);

impl SeededChoice {
    /// Seeds with the FNV-1a hash of the bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// Returns a number below the bound; zero if that is zero.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        // The generator of Knuth's MMIX; only its upper bits are random enough.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound.max(1)
    }

    /// Returns one of several.
    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }

    /// Returns a few characters of a text.
    pub(super) fn part_of(&mut self, text: &str) -> String {
        let start = self.below(text.len().min(2_000));
        text.chars().skip(start).take(1 + self.below(8)).collect()
    }
}
