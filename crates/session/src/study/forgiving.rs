//! Values of a study that may be written in several ways: one value or a list, a number or its text.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::Error};

/// A value of a coordinate: text, or a number.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        struct One;
        impl Visitor<'_> for One {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a number")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Text, E> {
                Ok(Text(n.to_string()))
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<Text, E> {
                Ok(Text(n.to_string()))
            }
        }
        from.deserialize_any(One)
    }
}

/// What a text or a number says.
pub(super) fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(
    from: D,
) -> Result<T, D::Error> {
    let Text(text) = Text::deserialize(from)?;
    text.parse().map_err(D::Error::custom)
}

/// Values of a coordinate: a list, or one.
pub(super) fn values<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct OneOrMany;
    impl<'de> Visitor<'de> for OneOrMany {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value or a list of values, each text or a number")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }
        fn visit_i64<E: de::Error>(self, n: i64) -> Result<Vec<String>, E> {
            Ok(vec![n.to_string()])
        }
        fn visit_f64<E: de::Error>(self, n: f64) -> Result<Vec<String>, E> {
            Ok(vec![n.to_string()])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<String>, A::Error> {
            let mut values = Vec::new();
            while let Some(Text(value)) = all.next_element()? {
                values.push(value);
            }
            Ok(values)
        }
    }
    from.deserialize_any(OneOrMany)
}

/// A number for the full study and one for its quick form: `{ full = 5, quick = 2 }`, or a number for both.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// For the full study.
    pub full: u64,
    /// For its quick form.
    pub quick: u64,
}

impl Scale {
    /// That of the quick form, or the full one.
    pub fn of(self, quick: bool) -> u64 {
        if quick { self.quick } else { self.full }
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Scale, D::Error> {
        struct NumberOrBoth;
        impl<'de> Visitor<'de> for NumberOrBoth {
            type Value = Scale;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or { full = N, quick = N }")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Scale, E> {
                let n = u64::try_from(n);
                let n =
                    n.map_err(|_| E::custom("a number of requests or drives is not below 0"))?;
                Ok(Scale { full: n, quick: n })
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<Scale, E> {
                match (0.0..=1e15).contains(&n) && n.fract() == 0.0 {
                    true => self.visit_i64(n as i64),
                    false => Err(E::custom(format!("{n} is no whole number"))),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scale, A::Error> {
                let (mut full, mut quick) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        "full" => full = Some(map.next_value()?),
                        "quick" => quick = Some(map.next_value()?),
                        _ => return Err(A::Error::unknown_field(&key, &["full", "quick"])),
                    }
                }
                match (full, quick) {
                    (Some(full), quick) => Ok(Scale {
                        full,
                        quick: quick.unwrap_or(full),
                    }),
                    (None, _) => Err(A::Error::missing_field("full")),
                }
            }
        }
        from.deserialize_any(NumberOrBoth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Row {
        #[serde(deserialize_with = "values")]
        values: Vec<String>,
        #[serde(deserialize_with = "parsed")]
        parsed: u32,
        scale: Scale,
    }

    fn row(values: &str, parsed: &str, scale: &str) -> Result<Row, String> {
        toml::from_str(&format!(
            "values = {values}\nparsed = {parsed}\nscale = {scale}"
        ))
        .map_err(|e| e.to_string())
    }

    /// All ways of writing the same, and what is not a way of it.
    #[test]
    fn sequence_one_or_many_numbers_or_texts() {
        for (text, expected) in [
            ("\"28h\"", &["28h"][..]),
            ("7", &["7"]),
            ("-7", &["-7"]),
            ("0.5", &["0.5"]),
            ("[\"a\", 3, 1.5]", &["a", "3", "1.5"]),
            ("[]", &[]),
        ] {
            assert_eq!(row(text, "1", "1").unwrap().values, expected, "{text}");
        }
        assert_eq!(row("1", "42", "1").unwrap().parsed, 42);
        assert_eq!(row("1", "\"42\"", "1").unwrap().parsed, 42);
        for (values, parsed, scale, part) in [
            ("true", "1", "1", "a value or a list of values"),
            ("[true]", "1", "1", "text or a number"),
            ("1", "true", "1", "text or a number"),
            ("1", "-1", "1", "invalid digit"),
            ("1", "1", "-1", "is not below 0"),
            ("1", "1", "2.5", "2.5 is no whole number"),
            ("1", "1", "-1.0", "-1 is no whole number"),
            ("1", "1", "2e15", "2000000000000000 is no whole number"),
            ("1", "1", "\"many\"", "{ full = N, quick = N }"),
            ("1", "1", "{ quick = 1 }", "missing field `full`"),
            ("1", "1", "{ full = 1, slow = 2 }", "unknown field `slow`"),
        ] {
            let error = row(values, parsed, scale).err().unwrap();
            assert!(error.contains(part), "{values} {parsed} {scale}: {error}");
        }
    }

    #[test]
    fn formula_a_scale_of_one_number_is_both() {
        for (text, full, quick) in [
            ("5", 5, 5),
            ("1e6", 1_000_000, 1_000_000),
            ("0", 0, 0),
            ("{ full = 5 }", 5, 5),
            ("{ full = 5, quick = 2 }", 5, 2),
        ] {
            let scale = row("1", "1", text).unwrap().scale;
            assert_eq!((scale.of(false), scale.of(true)), (full, quick), "{text}");
        }
    }
}
