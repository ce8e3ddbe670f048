//! One record per scheme: the source of help, docs, configuration keys and contract tests.

/// A parameter of a scheme. Values are integers in the named unit, or one of a list of words.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key, as in `--set axis.key=value`.
    pub key: &'static str,
    /// What it does, one line.
    pub doc: &'static str,
    /// Its kind, unit, default and range.
    pub kind: ParamKind,
}

/// What values a parameter takes, and which one it has unless it is set.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// A whole number with a unit: `ns` (written `5h`, `20us`), `permille`, `blocks`, ...
    Number {
        /// Unit of the stored number.
        unit: &'static str,
        /// Value unless it is set.
        default: i64,
        /// Least value that is accepted.
        min: i64,
        /// Greatest value that is accepted.
        max: i64,
    },
    /// One of a list of words, stored as its index. The default is the first word.
    Choice(&'static [&'static str]),
    /// `true` or `false`, stored as 1 or 0.
    Flag(bool),
}

impl Param {
    /// A number with its default, its minimum and its maximum.
    pub const fn number(
        key: &'static str,
        doc: &'static str,
        unit: &'static str,
        (default, min, max): (i64, i64, i64),
    ) -> Param {
        let kind = ParamKind::Number {
            unit,
            default,
            min,
            max,
        };
        Param { key, doc, kind }
    }
    /// A parameter that is on or off.
    pub const fn flag(key: &'static str, doc: &'static str, default: bool) -> Param {
        let kind = ParamKind::Flag(default);
        Param { key, doc, kind }
    }
    /// One of `words`, the first by default.
    pub const fn choice(
        key: &'static str,
        doc: &'static str,
        words: &'static [&'static str],
    ) -> Param {
        let kind = ParamKind::Choice(words);
        Param { key, doc, kind }
    }
    /// The default, as stored.
    pub const fn default(&self) -> i64 {
        match self.kind {
            ParamKind::Number { default, .. } => default,
            ParamKind::Choice(_) => 0,
            ParamKind::Flag(on) => on as i64,
        }
    }
}

/// The role of a scheme on its axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Does nothing that a plain drive does not do.
    Baseline,
    /// Could be built into a product.
    Scheme,
    /// Uses knowledge that no firmware has.
    Oracle,
}

/// What a scheme requires of its drive, beyond what every drive has. A profile whose drive does not have it
/// is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// All planes of a die are read together. The scheme uses the cache register or the sensing timing of the
    /// die, which planes that read independently do not share.
    WholeDie,
    /// Parity across the dies of a superblock, set in the geometry of the drive.
    StripeParity,
    /// A code whose decoder gains from soft senses.
    SoftDecoder,
    /// The chip's table of the shortest safe senses.
    SafeSenses,
    /// The heat of pages: the firmware then counts the host's reads and writes of each.
    Heat,
    /// Cells with voltages: the scheme reads them at levels that are no entry of the factory's retry table, or learns
    /// from what such a read finds.
    Voltages,
    /// Superblocks can be erased into other cell modes, with read levels of their own.
    CellModes,
    /// Of these other modes SLC alone: in it superblocks that the host writes to, and further ones for pages that were promoted if the
    /// choice `promote` of the scheme is not its first value.
    SlcAlone,
    /// One more superblock that is open: for a write stream of the scheme in the drive's own cell mode. Named once for
    /// each stream.
    OwnStream,
    /// The same if the named choice of the scheme has its first value.
    OwnStreamIf(&'static str),
    /// As many more open superblocks as the named number of the scheme is above this one.
    OwnStreamsBeyond(&'static str, u8),
    /// The same if the flag that is named last is set.
    OwnStreamsBeyondIf(&'static str, u8, &'static str),
    /// The true valleys of the cells ([`crate::Levels::Ideal`]), known only to an oracle.
    TrueLevels,
    /// Programs that can be stopped often enough that no slice of one is long (`firmware.slice`).
    SlicedPrograms,
    /// Erases that can be stopped often enough that no slice of one is long (`firmware.slice`).
    SlicedErases,
    /// Suspending and resuming takes no time and loses no progress: an oracle's chip.
    FreeSuspends,
    /// What the host will read and write, known only to an oracle. The load has to be known before it runs.
    Future,
    /// Each simulated erase counts as one cycle: how the scheme spreads wear depends on how many cycles a life has, so a
    /// life of ten times as much wear an erase is another life.
    TrueWear,
}

/// How two parameters of a scheme have to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first is at most the second.
    AtMost(&'static str, &'static str),
    /// The first is below the second.
    Below(&'static str, &'static str),
}

/// A scheme's record: everything that help, configuration and tests know of the scheme.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Name, as in `--scheme axis=name`.
    pub name: &'static str,
    /// What the scheme does, in one line.
    pub summary: &'static str,
    /// The publication or product it comes from.
    pub source: &'static str,
    /// Its role on its axis.
    pub role: Role,
    /// What it requires of the drive.
    pub needs: &'static [Need],
    /// How its parameters have to compare.
    pub ordered: &'static [Order],
    /// Parameters, in the order in which [`Values`] has their values.
    pub params: &'static [Param],
}

impl Scheme {
    /// Whether the scheme requires `need`.
    pub fn requires(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    /// Write streams that the scheme has in the drive's own cell mode, at most.
    pub fn own_streams(&self) -> usize {
        let beyond = |key: &str, than: u8| {
            let param = self.params.iter().find(|param| param.key == key);
            let most = match param.map(|param| param.kind) {
                Some(ParamKind::Number { max, .. }) => max,
                _ => 0,
            };
            (most - i64::from(than)).max(0) as usize
        };
        let own = |need: &Need| match need {
            Need::OwnStream | Need::OwnStreamIf(_) => 1,
            Need::OwnStreamsBeyond(key, than) | Need::OwnStreamsBeyondIf(key, than, _) => {
                beyond(key, *than)
            }
            _ => 0,
        };
        self.needs.iter().map(own).sum()
    }
}

/// An axis: a decision the firmware makes, with the schemes that can make it.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Name, as in `--scheme name=...`.
    pub name: &'static str,
    /// What the axis decides, in one line.
    pub summary: &'static str,
    /// Its schemes, the baseline first.
    pub schemes: &'static [Scheme],
}

/// The values of one scheme's parameters, in the order of its record.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    scheme: &'a Scheme,
    values: &'a [i64],
}

impl<'a> Values<'a> {
    /// Pairs `values` with the parameters of `scheme`; the lengths agree.
    pub fn new(scheme: &'a Scheme, values: &'a [i64]) -> Values<'a> {
        assert_eq!(
            scheme.params.len(),
            values.len(),
            "values of scheme {}",
            scheme.name
        );
        Values { scheme, values }
    }
    /// The value of parameter `key`, which the record has.
    pub fn get(&self, key: &str) -> i64 {
        self.find(key)
            .expect("a scheme reads only parameters of its record")
    }
    /// The value of parameter `key`, if the record has it: for schemes of one type.
    pub fn find(&self, key: &str) -> Option<i64> {
        let i = self.scheme.params.iter().position(|p| p.key == key)?;
        Some(self.values[i])
    }
    /// Write streams that the scheme has in the drive's own cell mode with these values.
    pub fn own_streams(&self) -> usize {
        let beyond = |key: &str, than: u8| (self.get(key) - i64::from(than)).max(0) as usize;
        let own = |need: &Need| match need {
            Need::OwnStream => 1,
            Need::OwnStreamIf(choice) => usize::from(self.get(choice) == 0),
            Need::OwnStreamsBeyond(key, than) => beyond(key, *than),
            Need::OwnStreamsBeyondIf(key, than, flag) if self.flag(flag) => beyond(key, *than),
            _ => 0,
        };
        self.scheme.needs.iter().map(own).sum()
    }
    /// The value of flag `key`.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[Param] = &[
        Param::number("spread", "how far", "blocks", (8, 1, 64)),
        Param::choice("order", "which first", &["oldest", "newest"]),
        Param::flag("eager", "at once", true),
        Param::flag("shy", "later", false),
    ];

    fn scheme(needs: &'static [Need]) -> Scheme {
        Scheme {
            name: "sample",
            summary: "",
            source: "",
            role: Role::Scheme,
            needs,
            ordered: &[],
            params: PARAMS,
        }
    }

    #[test]
    fn formula_a_parameter_has_the_default_of_its_kind() {
        let defaults: [i64; 4] = core::array::from_fn(|i| PARAMS[i].default());
        assert_eq!(defaults, [8, 0, 1, 0]);
        assert_eq!((PARAMS[0].key, PARAMS[0].doc), ("spread", "how far"));
        let range = match PARAMS[0].kind {
            ParamKind::Number { unit, min, max, .. } => (unit, min, max),
            _ => panic!("{:?}", PARAMS[0].kind),
        };
        assert_eq!(range, ("blocks", 1, 64));
    }

    #[test]
    fn formula_values_are_found_by_the_keys_of_the_record() {
        let scheme = scheme(&[]);
        let values = Values::new(&scheme, &[40, 1, 0, 1]);
        assert_eq!((values.get("spread"), values.get("order")), (40, 1));
        assert_eq!((values.flag("eager"), values.flag("shy")), (false, true));
        assert_eq!(
            (values.find("spread"), values.find("colour")),
            (Some(40), None)
        );
    }

    #[test]
    fn formula_a_scheme_requires_what_its_record_names() {
        let scheme = scheme(&[Need::Heat, Need::OwnStreamIf("order")]);
        assert!(scheme.requires(Need::Heat) && !scheme.requires(Need::Voltages));
        assert!(scheme.requires(Need::OwnStreamIf("order")));
        assert!(!scheme.requires(Need::OwnStreamIf("eager")) && !scheme.requires(Need::OwnStream));
    }

    /// Two streams always, and two more each where its choice has the first word.
    #[test]
    fn formula_write_streams_of_a_scheme_are_counted() {
        let scheme = scheme(&[
            Need::OwnStream,
            Need::Heat,
            Need::OwnStreamIf("order"),
            Need::OwnStream,
            Need::OwnStreamIf("shy"),
        ]);
        assert_eq!(scheme.own_streams(), 4, "at most");
        for (values, streams) in [
            ([8, 0, 1, 0], 4),
            ([8, 1, 1, 0], 3),
            ([8, 0, 1, 1], 3),
            ([8, 1, 1, 1], 2),
        ] {
            assert_eq!(
                Values::new(&scheme, &values).own_streams(),
                streams,
                "{values:?}"
            );
        }
    }

    /// A scheme whose streams are as many as a number of it says has that number less what every drive has, and a second set if a
    /// flag says so.
    #[test]
    fn formula_streams_by_a_number_of_the_scheme() {
        let scheme = scheme(&[
            Need::OwnStreamsBeyond("spread", 2),
            Need::OwnStreamsBeyondIf("spread", 1, "shy"),
        ]);
        assert_eq!(scheme.own_streams(), 62 + 63, "at most");
        for (values, streams) in [
            ([8, 0, 1, 0], 6),
            ([8, 0, 1, 1], 6 + 7),
            ([2, 0, 1, 0], 0),
            ([1, 0, 1, 1], 0),
        ] {
            let own = Values::new(&scheme, &values).own_streams();
            assert_eq!(own, streams, "{values:?}");
        }
    }
}
