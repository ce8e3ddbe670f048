//! Checks JSON by the schemas that are checked in: of JSON Schema what they use.

use serde_json::Value;

/// Checks `value` by the schema called `name`.
#[track_caller]
pub fn check(name: &str, value: &Value) {
    let text = match name {
        "plan" => include_str!("../schemas/plan.schema.json"),
        _ => include_str!("../schemas/point.schema.json"),
    };
    let schema: Value = serde_json::from_str(text).unwrap();
    if let Err(why) = fits(&schema, &schema, value, "") {
        panic!("{name}: {why}\n{value:#}");
    }
}

/// Whether `value`, which stands at `path`, fits `schema`, a part of `whole`.
fn fits(whole: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let fails = |what: &str| Err(format!("`{path}`: {what}: {value}"));
    for (key, of) in schema.as_object().unwrap() {
        let holds = match key.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let name = of.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                fits(whole, &whole["$defs"][name], value, path)?;
                true
            }
            "oneOf" => {
                let all = of.as_array().unwrap().iter();
                let fit = |one: &&Value| fits(whole, one, value, path).is_ok();
                all.filter(fit).count() == 1
            }
            "const" => value == of,
            "enum" => of.as_array().unwrap().contains(value),
            "type" => match of {
                Value::Array(any) => any.iter().any(|one| is(value, one)),
                one => is(value, one),
            },
            "pattern" => {
                assert_eq!(of, "^[0-9a-f]{32}$");
                let text = value.as_str().unwrap_or_default();
                text.len() == 32 && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
            }
            "minimum" => value.as_f64().is_none_or(|n| n >= of.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|n| n <= of.as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|a| a.len() as u64 >= of.as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|a| a.len() as u64 <= of.as_u64().unwrap()),
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    fits(whole, of, item, &format!("{path}[{i}]"))?;
                }
                true
            }
            "properties" => {
                for (name, of) in of.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        fits(whole, of, value, &format!("{path}.{name}"))?;
                    }
                }
                true
            }
            "required" => {
                let mut all = of.as_array().unwrap().iter();
                all.all(|name| {
                    value
                        .as_object()
                        .is_none_or(|map| map.contains_key(name.as_str().unwrap()))
                })
            }
            "additionalProperties" => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                for (name, value) in value.as_object().into_iter().flatten() {
                    match of {
                        Value::Bool(_) if !known(name) => return fails(&format!("has `{name}`")),
                        Value::Bool(_) => {}
                        of => fits(whole, of, value, &format!("{path}.{name}"))?,
                    }
                }
                true
            }
            other => panic!("the schemas use `{other}`, which is not checked"),
        };
        if !holds {
            return fails(key);
        }
    }
    Ok(())
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type `{other}`"),
    }
}
