//! Fields and records.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use firstread_core::{
    Buf, CellMode, DieId, Lpn, Ns, OpClass, PageAddr, PageType, Ppa, Spare, SuperblockId,
};

use super::Cursor;

/// What a dump keeps of a value.
pub(crate) trait Record {
    /// Saves the value at `cursor`, or loads it from there into a value that was newly made.
    fn transfer(&mut self, cursor: &mut Cursor<'_>);
}

/// A value without meaning, into which another one is loaded.
pub(crate) trait Blank {
    const BLANK: Self;
}

/// Declares what a dump keeps of a struct: `FIELD ["UNIT"]: "MEANING"`, and then, below `not`, each field that it does not
/// keep, with the reason. A struct `of values` is one that lists and options hold.
macro_rules! record {
    ($type:ident as $name:literal {
        $($field:ident $([$unit:literal])?: $meaning:literal,)*
    } $(not { $($left:ident: $why:literal,)* })?) => {
        impl $crate::format::Record for $type {
            fn transfer(&mut self, cursor: &mut $crate::format::Cursor<'_>) {
                let $type { $($field,)* $($($left: _,)*)? } = self;
                $(
                    #[cfg(test)]
                    let begun = Some(cursor.place());
                    $crate::format::Record::transfer($field, cursor);
                    #[cfg(test)]
                    cursor.describe(begun, [$name, stringify!($field), concat!("", $($unit)?), $meaning]);
                )*
                $($(
                    #[cfg(test)]
                    cursor.describe(None, [$name, stringify!($left), "", $why]);
                )*)?
            }
        }
    };
    (of values $type:ident as $name:literal { $($field:ident $([$unit:literal])?: $meaning:literal,)* }) => {
        $crate::format::record! { $type as $name { $($field $([$unit])?: $meaning,)* } }
        impl $crate::format::Blank for $type {
            const BLANK: $type = $type { $($field: $crate::format::Blank::BLANK,)* };
        }
    };
}
pub(crate) use record;

/// Declares the number by which a dump names each value of an enumeration without fields.
macro_rules! tags {
    ($type:ident { $($value:ident = $tag:literal),+ $(,)? }) => {
        impl $crate::format::Record for $type {
            fn transfer(&mut self, cursor: &mut $crate::format::Cursor<'_>) {
                let mut tag: u8 = match self { $($type::$value => $tag),+ };
                $crate::format::Record::transfer(&mut tag, cursor);
                *self = match tag { $($tag => $type::$value,)+ _ => return cursor.fault() };
            }
        }
        impl $crate::format::Blank for $type {
            const BLANK: $type = $crate::format::tags!(@first $type $($value)+);
        }
    };
    (@first $type:ident $first:ident $($value:ident)*) => { $type::$first };
}
pub(crate) use tags;

macro_rules! number {
    ($($type:ty),+) => {$(
        impl Record for $type {
            fn transfer(&mut self, cursor: &mut Cursor<'_>) {
                let mut bytes = self.to_le_bytes();
                cursor.field(&mut bytes);
                *self = <$type>::from_le_bytes(bytes);
            }
        }
        impl Blank for $type {
            const BLANK: $type = 0;
        }
    )+};
}
number!(u8, u16, u32, u64, u128, i8, i64);

/// A value that is a number.
macro_rules! numbered {
    ($($type:ident),+) => {$(
        impl Record for $type {
            fn transfer(&mut self, cursor: &mut Cursor<'_>) {
                self.0.transfer(cursor);
            }
        }
        impl Blank for $type {
            const BLANK: $type = $type(0);
        }
    )+};
}
numbered!(Ns, Lpn, Ppa, Buf, DieId, SuperblockId, PageType);

impl Record for usize {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let mut number = *self as u32;
        number.transfer(cursor);
        *self = number as usize;
    }
}

impl Blank for usize {
    const BLANK: usize = 0;
}

impl Record for bool {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let mut bit = u8::from(*self);
        bit.transfer(cursor);
        match bit {
            0 | 1 => *self = bit == 1,
            _ => cursor.fault(),
        }
    }
}

impl Blank for bool {
    const BLANK: bool = false;
}

/// None is zero.
impl Record for Option<NonZeroU64> {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let mut number = self.map_or(0, NonZeroU64::get);
        number.transfer(cursor);
        *self = NonZeroU64::new(number);
    }
}

/// A tag, and the bytes of a value, which are those of a blank one if there is none.
impl<T: Record + Blank + Copy> Record for Option<T> {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let (mut is_some, mut value) = (self.is_some(), self.unwrap_or(T::BLANK));
        is_some.transfer(cursor);
        value.transfer(cursor);
        *self = is_some.then_some(value);
    }
}

impl<T> Blank for Option<T> {
    const BLANK: Option<T> = None;
}

impl<T: Record, const N: usize> Record for [T; N] {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        self.iter_mut().for_each(|value| value.transfer(cursor));
    }
}

impl<T: Blank, const N: usize> Blank for [T; N] {
    const BLANK: [T; N] = [const { T::BLANK }; N];
}

impl<A: Record, B: Record> Record for (A, B) {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        self.0.transfer(cursor);
        self.1.transfer(cursor);
    }
}

impl<A: Blank, B: Blank> Blank for (A, B) {
    const BLANK: (A, B) = (A::BLANK, B::BLANK);
}

impl<A: Record, B: Record, C: Record> Record for (A, B, C) {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        self.0.transfer(cursor);
        self.1.transfer(cursor);
        self.2.transfer(cursor);
    }
}

impl<A: Blank, B: Blank, C: Blank> Blank for (A, B, C) {
    const BLANK: (A, B, C) = (A::BLANK, B::BLANK, C::BLANK);
}

/// A table, of as many values as the configuration says.
impl<T: Record> Record for Box<[T]> {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        cursor.list();
        let mut len = self.len();
        len.transfer(cursor);
        if len != self.len() {
            return cursor.fault();
        }
        for value in self.iter_mut() {
            value.transfer(cursor);
        }
    }
}

impl<T: Record> Record for Box<T> {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        (**self).transfer(cursor);
    }
}

/// A list or a queue. It has room for all that it may hold since it was made.
macro_rules! list {
    ($($list:ident),+) => {$(
        impl<T: Record + Blank> Record for $list<T> {
            fn transfer(&mut self, cursor: &mut Cursor<'_>) {
                cursor.list();
                let mut len = self.len();
                len.transfer(cursor);
                if cursor.is_loading() {
                    if len > self.capacity() || cursor.has_fault() {
                        return cursor.fault();
                    }
                    self.clear();
                    self.extend((0..len).map(|_| T::BLANK));
                }
                self.iter_mut().for_each(|value| value.transfer(cursor));
                if cursor.counts_most() {
                    let mut blank = T::BLANK;
                    (self.len()..self.capacity()).for_each(|_| blank.transfer(cursor));
                }
            }
        }
    )+};
}
list!(Vec, VecDeque);

tags!(CellMode {
    Slc = 1,
    Mlc = 2,
    Tlc = 3,
    Qlc = 4
});

tags!(OpClass {
    HostRead = 1,
    HostRetry = 2,
    ReadRecovery = 3,
    Calibration = 4,
    MoveRead = 5,
    MergeRead = 6,
    ReadAhead = 7,
    MapRead = 8,
    MapProgram = 9,
    Program = 10,
    MoveProgram = 11,
    Erase = 12,
});

record! {
    of values PageAddr as "page address" {
        die: "die",
        block: "superblock",
        wordline: "wordline of the block",
        page: "page type",
    }
}

record! {
    of values Spare as "spare area" {
        lpn: "logical page that the slot holds a version of",
        sequence: "number of the write that made this version; a copy keeps it",
    }
}
