//! The faults that a flash can be given, by name.

use firstread_core::{DieId, PageType, SuperblockId};

/// Pages of flash. A field that is `None` matches every value: `Address::default()` is all of flash.
///
/// ```
/// use firstread_core::{SuperblockId, DieId};
/// use firstread_faulty_flash::Address;
///
/// let wordline = Address::block(SuperblockId(7)).on_die(DieId(1)).wordline(3);
/// # let _ = wordline;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// The die; every die where it is none.
    pub die: Option<DieId>,
    /// The superblock: the block of this number on every plane of a die.
    pub block: Option<SuperblockId>,
    /// The wordline of the block.
    pub wordline: Option<u16>,
    /// The page of the wordline.
    pub page: Option<PageType>,
}

impl Address {
    /// All of superblock `block`.
    pub fn block(block: SuperblockId) -> Address {
        Address {
            block: Some(block),
            ..Address::default()
        }
    }
    /// All of die `die`.
    pub fn die(die: DieId) -> Address {
        Address::default().on_die(die)
    }
    /// The part on die `die`.
    pub fn on_die(self, die: DieId) -> Address {
        Address {
            die: Some(die),
            ..self
        }
    }
    /// The part on wordline `wordline`.
    pub fn wordline(self, wordline: u16) -> Address {
        Address {
            wordline: Some(wordline),
            ..self
        }
    }
    /// Page `page` of each wordline.
    pub fn page(self, page: PageType) -> Address {
        Address {
            page: Some(page),
            ..self
        }
    }

    /// Whether it includes `other`, where `None` stands for the whole: an erase has no wordline.
    pub(crate) fn includes(&self, other: &Address) -> bool {
        fn part<T: PartialEq>(of: Option<T>, other: Option<T>) -> bool {
            of.is_none() || other.is_none() || of == other
        }
        part(self.die, other.die)
            && part(self.block, other.block)
            && part(self.wordline, other.wordline)
            && part(self.page, other.page)
    }
}

/// When a fault occurs: by chance, by count, by address, or by several of them.
///
/// ```
/// use firstread_core::SuperblockId;
/// use firstread_faulty_flash::{Address, When};
///
/// // Two in a thousand, the seventeenth, and whatever touches superblock 3.
/// let when = When::permille(2)
///     .or(When::nth(17))
///     .or(When::at(Address::block(SuperblockId(3))));
/// # let _ = when;
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct When {
    /// The chance of each operation (‰); 1000 is every one.
    pub permille: u32,
    /// Numbers of operations, counted from 1 over the life of the drive.
    pub nth: Vec<u64>,
    /// Addresses: every operation there.
    pub at: Vec<Address>,
}

impl When {
    /// No operation fails.
    pub fn never() -> When {
        When::default()
    }
    /// Each operation with a chance of `permille` ‰.
    pub fn permille(permille: u32) -> When {
        When {
            permille,
            ..When::default()
        }
    }
    /// The `n`-th operation, counted from 1.
    pub fn nth(n: u64) -> When {
        When {
            nth: vec![n],
            ..When::default()
        }
    }
    /// Every operation at `address`.
    pub fn at(address: Address) -> When {
        When {
            at: vec![address],
            ..When::default()
        }
    }
    /// When either of the two says so. Chances add up.
    pub fn or(mut self, other: When) -> When {
        self.permille += other.permille;
        self.nth.extend(other.nth);
        self.at.extend(other.at);
        self
    }
    /// Whether it never occurs.
    pub fn is_never(&self) -> bool {
        self.permille == 0 && self.nth.is_empty() && self.at.is_empty()
    }

    /// Whether the operation with number `n` at `address` is one of them. `draw` draws below 1000 and is asked only
    /// where chance decides.
    pub(crate) fn is_at(&self, n: u64, address: &Address, draw: impl FnOnce() -> u64) -> bool {
        self.nth.contains(&n)
            || self.at.iter().any(|a| a.includes(address))
            || (self.permille > 0 && draw() < u64::from(self.permille))
    }
}

/// A power cut of a script. Events are those of the flash that the firmware is handed
/// ([`firstread_core::FlashEvent`]), counted from 1 over the life of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// Before event `n`: its operation is still on the die, so the cut tears a program and interrupts an erase.
    Before(u64),
    /// As soon as the firmware has handled event `n`.
    After(u64),
}

/// When the power is cut. A power cut ends the firmware but for its emergency dump; a new firmware recovers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PowerCuts {
    /// The chance after each event of the flash (‰).
    pub permille: u32,
    /// The chance of another power cut soon after each (‰): half of them during the recovery, half within eight
    /// events after it.
    pub again_permille: u32,
    /// Power cuts at given events.
    pub script: Vec<Cut>,
}

impl PowerCuts {
    /// A chance of `permille` ‰ after each event of the flash; half of the power cuts are followed by another one.
    pub fn permille(permille: u32) -> PowerCuts {
        PowerCuts {
            permille,
            again_permille: 500,
            script: Vec::new(),
        }
    }
    /// A single cut of the power, and none in the recovery that follows.
    pub fn at(cut: Cut) -> PowerCuts {
        PowerCuts {
            script: vec![cut],
            ..PowerCuts::default()
        }
    }
    /// Whether the power is never cut.
    pub fn is_never(&self) -> bool {
        self.permille == 0 && self.script.is_empty()
    }
}

/// Everything that may go wrong with flash and its power. By default nothing does.
///
/// ```
/// use firstread_faulty_flash::{Faults, PowerCuts, When};
///
/// let faults = Faults {
///     failed_programs: When::permille(2),
///     lost_pages: When::nth(100),
///     power_cuts: PowerCuts::permille(1),
///     ..Faults::default()
/// };
/// # let _ = faults;
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// Programs that fail verification, of the programs of one die. What they leave on the wordline is not the
    /// data.
    pub failed_programs: When,
    /// Erases that fail verification, of the erases of one die.
    pub failed_erases: When,
    /// Codewords that one sense does not decode, of the codewords sensed. The next sense of the same codeword draws
    /// anew, so that most of them are read by a retry.
    pub failed_senses: When,
    /// Pages that are uncorrectable in every sense until their block is erased, of the multi-plane pages
    /// programmed. Pages that were filled before the first command are lost by address only.
    pub lost_pages: When,
    /// Dies that get stuck, of the reads, programs and erases begun. A stuck die completes nothing, neither the
    /// operation that it is stuck in nor one that waits.
    pub stuck_dies: When,
    /// How long a die is stuck (ns); for ever where it is none. An event takes 100 ns here.
    pub stuck_ns: Option<u64>,
    /// When the power is cut.
    pub power_cuts: PowerCuts,
}
