//! A characterization as tables and as JSON.

use firstread_core::Ns;
use firstread_drive::profile::{LoadedChip, Override};
use firstread_session::results::{COMMIT, VERSION};
use serde_json::{Map, Value, json};

use super::characterization::{AtLevels, Characterization, Share};
use crate::output::format::{Side, rare, table};

/// An age with a unit, whatever it is: `0 h`, `28 h`.
pub fn age(age: Ns) -> String {
    match age {
        Ns::ZERO => "0 h".into(),
        age => crate::output::format::age(age),
    }
}

/// A count with its thousands apart.
pub fn count(n: u32) -> String {
    crate::output::format::count(n as u64)
}

/// The conditions in a line.
pub fn conditions(c: &Characterization) -> String {
    let c = &c.conditions;
    let mut line = format!(
        "{} mode, {} °C, {} P/E",
        c.mode.name().to_uppercase(),
        c.temperature_c,
        count(c.pe_cycles)
    );
    if c.reads > 0.0 {
        line += &format!(", {} reads of the block", count(c.reads as u32));
    }
    line
}

/// A share that was measured, in one unit: `2.5 % (1.9 … 3.4)`, `1.8e-3 (8.5e-4 … 3.6e-3)`.
fn measured(share: Share) -> String {
    let (low, high) = share.interval();
    let percent = |s: f64| format!("{:.1}", s * 100.0);
    match share.value() {
        _ if share.n == 0 => format!("0 (below {})", rare(high)),
        _ if share.n == share.of => format!("100 % (above {})", percent(low)),
        s if s >= 0.01 => format!("{} % ({} … {})", percent(s), percent(low), percent(high)),
        s => format!("{} ({} … {})", rare(s), rare(low), rare(high)),
    }
}

fn minus(value: f64) -> String {
    let rounded = format!("{value:+.0}");
    if rounded == "-0" || rounded == "+0" {
        "0".into()
    } else {
        rounded
    }
}

pub fn human(loaded: &LoadedChip, c: &Characterization) -> String {
    let mode = c.conditions.mode;
    let f = loaded.chip.factory_default;
    let mut text = format!(
        "{}: {}\n  {}\n  factory levels are the optimum at {} h, {} °C, {} P/E; a step is {} mV\n",
        c.name,
        loaded.summary,
        conditions(c),
        f.retention_h,
        f.temperature_c,
        f.pe_cycles,
        c.dac_step_mv,
    );
    text += &format!(
        "  {}; {} pages of each type drawn, each in a die and a block of its own; seed {}\n",
        c.conditions.code.name(),
        count(c.conditions.pages),
        c.conditions.seed,
    );
    text += &format!(
        "\nstates of the nominal page: mean ± standard deviation (mV)\n{}",
        states(c)
    );
    text += &format!(
        "\nlevels of the nominal page (mV): factory, and the optimum with its distance\n{}",
        levels(c)
    );
    text += &format!(
        "\ncells that a valley of the nominal page misreads, as a share of all\n{}",
        misread(c)
    );
    text += &format!(
        "\nRBER of the nominal page and of the pages drawn, each at factory levels and at its own best\n\
         ones; pages drawn that fail, with a 95 % interval\n{}",
        rber(c)
    );
    text += &format!(
        "\npages of all types that an entry of the factory retry table fails, with a 95 % interval\n\
         (shift: of the level of valley {}, in mV)\n{}",
        mode.valleys(),
        entries(c)
    );
    text += &format!("\nreads that walk this table from entry 0\n{}", walk(c));
    text
}

/// A heading of `first` and the ages.
fn heading(c: &Characterization, first: &[&str]) -> Vec<String> {
    let first = first.iter().map(|s| s.to_string());
    first.chain(c.ages.iter().map(|a| age(a.age))).collect()
}

fn states(c: &Characterization) -> String {
    let mut rows = vec![heading(c, &["state"])];
    for s in 0..c.conditions.mode.states() {
        let mut row = vec![s.to_string()];
        row.extend(c.ages.iter().map(|a| {
            let d = a.states[s];
            format!("{:.1} ± {:>5.1}", d.mean_mv, d.sigma_mv)
        }));
        rows.push(row);
    }
    table("  ", &vec![Side::Right; c.ages.len() + 1], &rows)
}

fn levels(c: &Characterization) -> String {
    let mut rows = vec![heading(c, &["valley", "page", "factory"])];
    for (k, factory) in c.factory_mv.iter().enumerate() {
        let page = c.page_of(k + 1);
        let sentinel = c.tables.sentinel[page.0 as usize] as usize == k + 1;
        let mut row = vec![
            (k + 1).to_string(),
            format!(
                "{}{}",
                page.name(c.conditions.mode),
                if sentinel { " sentinel" } else { "" }
            ),
            format!("{factory:.1}"),
        ];
        row.extend(c.ages.iter().map(|a| {
            let at = a.valleys[k].optimum_mv;
            format!("{at:.1} ({})", minus(at - factory))
        }));
        rows.push(row);
    }
    let mut sides = vec![Side::Right; c.ages.len() + 3];
    sides[1] = Side::Left;
    table("  ", &sides, &rows)
}

fn misread(c: &Characterization) -> String {
    let mut head = heading(c, &["valley"]);
    for (cell, _) in head.iter_mut().skip(1).zip(&c.ages) {
        *cell = format!("{cell}: factory");
    }
    let mut rows = vec![Vec::new()];
    rows[0].push(head[0].clone());
    for cell in &head[1..] {
        rows[0].extend([cell.clone(), "optimum".into()]);
    }
    for k in 0..c.factory_mv.len() {
        let mut row = vec![(k + 1).to_string()];
        for a in &c.ages {
            let v = &a.valleys[k];
            row.extend([rare(v.misread_factory), rare(v.misread_optimum)]);
        }
        rows.push(row);
    }
    table("  ", &vec![Side::Right; 2 * c.ages.len() + 1], &rows)
}

fn rber(c: &Characterization) -> String {
    let head = [
        "age",
        "page",
        "levels",
        "nominal",
        "drawn: mean",
        "99 % below",
        "pages that fail",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for a in &c.ages {
        for (page, e) in c.page_types().zip(&a.pages) {
            let name = page.name(c.conditions.mode).to_owned();
            rows.push(vec![
                age(a.age),
                name,
                "factory".into(),
                rare(e.nominal.factory),
                rare(e.mean.factory),
                rare(e.p99.factory),
                measured(e.failing.factory),
            ]);
            rows.push(vec![
                String::new(),
                String::new(),
                "optimal".into(),
                rare(e.nominal.optimum),
                rare(e.mean.optimum),
                rare(e.p99.optimum),
                measured(e.failing.optimum),
            ]);
        }
    }
    use Side::{Left, Right};
    table("  ", &[Left, Left, Left, Right, Right, Right, Left], &rows)
}

fn entries(c: &Characterization) -> String {
    let mut rows = vec![heading(c, &["entry", "shift"])];
    let top = c.factory_mv.len() - 1;
    let mut useless = 0;
    for (k, offsets) in c.entries().iter().enumerate() {
        let all = c.ages.iter().all(|a| {
            let share = a.entries[k].all();
            share.n == share.of
        });
        if all {
            useless += 1;
            continue;
        }
        let shift = minus(offsets[top] as f64 * c.dac_step_mv);
        let mut row = vec![k.to_string(), shift];
        row.extend(c.ages.iter().map(|a| measured(a.entries[k].all())));
        rows.push(row);
    }
    let mut sides = vec![Side::Left; c.ages.len() + 2];
    sides[0] = Side::Right;
    sides[1] = Side::Right;
    let mut text = table("  ", &sides, &rows);
    if useless > 0 {
        text += &format!("  the other {useless} entries fail every page at every age\n");
    }
    text
}

fn walk(c: &Characterization) -> String {
    let head = ["age", "first try", "mean retries", "most", "no entry reads"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for a in &c.ages {
        let w = &a.walk;
        rows.push(vec![
            age(a.age),
            measured(w.first_try()),
            w.mean().map_or("-".into(), |m| format!("{m:.2}")),
            w.most().map_or("-".into(), |k| k.to_string()),
            measured(w.none),
        ]);
    }
    use Side::{Left, Right};
    table("  ", &[Left, Left, Right, Right, Left], &rows)
}

/// Everything, with units in the keys.
pub fn json(loaded: &LoadedChip, sets: &[Override], c: &Characterization) -> Value {
    let f = loaded.chip.factory_default;
    let mode = c.conditions.mode;
    let valleys = mode.valleys();
    let resolved: Map<String, Value> = loaded
        .resolved
        .iter()
        .map(|e| {
            let value = json!({ "value": e.value, "unit": e.unit, "source": e.source });
            (e.path.clone(), value)
        })
        .collect();
    json!({
        "firstread": {
            "version": VERSION,
            "commit": COMMIT,
            "seed": c.conditions.seed,
            "config": {
                "chip": c.name,
                "mode": mode.name(),
                "temperature_c": c.conditions.temperature_c,
                "pe_cycles": c.conditions.pe_cycles,
                "reads": c.conditions.reads,
                "age_h": c.ages.iter().map(|a| hours(a.age)).collect::<Vec<_>>(),
                "code": c.conditions.code.name(),
                "pages_of_each_type": c.conditions.pages,
                "set": sets.iter().map(|o| format!("{}={}", o.path, o.value)).collect::<Vec<_>>(),
                "profile": resolved,
            },
        },
        "dac_step_mv": c.dac_step_mv,
        "factory_default": {
            "retention_h": f.retention_h,
            "temperature_c": f.temperature_c,
            "pe_cycles": f.pe_cycles,
        },
        "valleys": (0..valleys).map(|k| {
            let page = c.page_of(k + 1);
            json!({
                "valley": k + 1,
                "page": page.name(mode),
                "sentinel": c.tables.sentinel[page.0 as usize] as usize == k + 1,
                "factory_mv": c.factory_mv[k],
            })
        }).collect::<Vec<_>>(),
        "factory_entries": c.entries().iter().map(|o| o[..valleys].to_vec()).collect::<Vec<_>>(),
        "ages": c.ages.iter().map(|a| json!({
            "age_h": hours(a.age),
            "states": a.states.iter().enumerate().map(|(s, d)| json!({
                "state": s, "mean_mv": d.mean_mv, "sigma_mv": d.sigma_mv,
            })).collect::<Vec<_>>(),
            "valleys": a.valleys.iter().enumerate().map(|(k, v)| json!({
                "valley": k + 1,
                "optimum_mv": v.optimum_mv,
                "shift_mv": v.optimum_mv - c.factory_mv[k],
                "misread_share": { "factory": v.misread_factory, "optimum": v.misread_optimum },
            })).collect::<Vec<_>>(),
            "pages": c.page_types().zip(&a.pages).map(|(page, e)| json!({
                "page": page.name(mode),
                "rber_nominal": at_levels(&e.nominal),
                "rber_mean": at_levels(&e.mean),
                "rber_p99": at_levels(&e.p99),
                "failing": {
                    "factory": share(e.failing.factory),
                    "nominal_optimum": share(e.failing_nominal),
                    "optimum": share(e.failing.optimum),
                },
            })).collect::<Vec<_>>(),
            "entries": a.entries.iter().enumerate().map(|(k, e)| {
                let mut entry = json!({ "entry": k, "failing": share(e.all()) });
                for (page, s) in c.page_types().zip(&e.failing) {
                    entry["failing_by_page"][page.name(mode)] = share(*s);
                }
                entry
            }).collect::<Vec<_>>(),
            "walk": {
                "first_try": share(a.walk.first_try()),
                "retries_mean": a.walk.mean(),
                "retries_histogram": a.walk.retries,
                "no_entry": share(a.walk.none),
            },
        })).collect::<Vec<_>>(),
    })
}

fn hours(age: Ns) -> f64 {
    age.0 as f64 / 3.6e12
}

fn at_levels(at: &AtLevels<f64>) -> Value {
    json!({ "factory": at.factory, "optimum": at.optimum })
}

/// A share of sampled pages with its 95 % interval.
fn share(share: Share) -> Value {
    let (low, high) = share.interval();
    json!({
        "pages": share.n, "of": share.of, "share": share.value(), "interval_95": [low, high],
    })
}
