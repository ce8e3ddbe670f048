//! `firstread study NAME --tension`: which rows hold together, as tables and as a picture.

use std::path::Path;

use anyhow::Result;
use firstread_session::files::Page;
use firstread_session::study::plan::Inputs;
use firstread_session::study::tension::draw::Draw;
use firstread_session::study::tension::run::{self, Outcome, Progress, Terms};
use firstread_session::study::tension::table::{self, Best, OfDraw, Status, Table};
use firstread_session::study::tension::{find, spec::Plan};
use firstread_session::study::{Named, spec::Study};
use firstread_session::{Error, Watch, results};
use indicatif::ProgressBar;

use super::args::StudyArgs;
use super::watch::ended;
use crate::args::{Form, Interrupted, Usage};
use crate::figure::{
    Axis, Colour, Figure, Mark, Marker, PALETTE, Panel, Row, Series, TWO_COLUMNS_PX, Ticks,
};
use crate::interrupt;
use crate::output::format::{Side, table as text_table};
use crate::progress::{Bars, Simulations};
use crate::runs::kept;
use crate::streams::{data, tell};

/// Runs the plan of `named`, and writes what came of it into `folder`.
pub fn run(args: &StudyArgs, named: &Named, folder: &Path) -> Result<()> {
    let plan = find(named)?;
    let Named { name, study, .. } = named;
    let inputs = Inputs::open(study, args.traces.as_deref())?;
    let store = kept::store(Some(folder), "tension", name, Form::Human, false)?;
    let terms = Terms {
        quick: args.quick,
        draws: args.draws.map(u64::from),
        seed: 1,
        threads: args.threads,
        folder: Some(folder.to_owned()),
        interrupt: interrupt::handled(),
    };
    let shown = Shown::new();
    let outcome = run::run(&plan, study, &inputs, &store, &terms, &shown);
    drop(shown);
    let outcome = match outcome {
        Err(error) if matches!(error.cause(), Error::Interrupted) => {
            let text = format!(
                ": what had ended is in {}; the same command goes on from there",
                folder.display()
            );
            return Err(Interrupted(text).into());
        }
        outcome => outcome?,
    };
    let table = table::table(&outcome);
    store.write(&pages(&outcome, &table, name))?;
    data(&summary(&plan, study, &table))?;
    tell(&format!(
        "{} simulations, {} of them there already, {:.0} s on one core; {}",
        outcome.simulations,
        outcome.were_there,
        outcome.wall_s,
        folder.join("tension.svg").display()
    ));
    Ok(())
}

/// What cannot be given beside `--tension`.
pub fn check(args: &StudyArgs) -> Result<()> {
    let other = [
        ("--only", !args.only.is_empty()),
        ("--drives", args.drives.is_some()),
    ];
    match (args.tension, args.draws) {
        (true, _) => match other.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                let text =
                    format!("{name} does not go with --tension, whose plan says what is run");
                Err(Usage(text).into())
            }
            None => Ok(()),
        },
        (false, Some(_)) => Err(Usage("--draws goes with --tension".into()).into()),
        (false, None) => Ok(()),
    }
}

/// Progress on the standard error.
struct Shown {
    cells: ProgressBar,
    drives: std::sync::OnceLock<Simulations>,
}

impl Shown {
    fn new() -> Shown {
        let cells = Bars::default().whole(0).with_prefix("cells");
        Shown {
            cells,
            drives: std::sync::OnceLock::new(),
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.cells.finish_and_clear();
    }
}

impl Progress for Shown {
    fn screened(&self, all: u64) {
        self.cells.set_length(all);
        self.cells.inc(1);
    }

    fn simulates(&self, draw: &Draw, nth: usize, all: usize, simulations: usize) -> &dyn Watch {
        self.cells.finish_and_clear();
        tell(&format!(
            "draw {} ({} of {all}): {simulations} simulations",
            draw.number,
            nth + 1
        ));
        let drives = self.drives.get_or_init(|| Simulations::new(0, ended));
        drives.add(simulations as u64);
        drives
    }
}

fn pages(outcome: &Outcome<'_>, table: &Table, name: &str) -> Vec<Page> {
    let json = results::text(&table.json(outcome, name));
    let figure = draw(outcome, table, name);
    vec![
        ("tension.json".into(), json.into_bytes()),
        ("tension.csv".into(), csv(outcome, table)),
        ("tension.svg".into(), figure.svg()),
        ("tension.png".into(), figure.png()),
    ]
}

/// What became of a row, as a word.
fn word(status: Status) -> &'static str {
    match status {
        Status::Holds => "holds",
        Status::HoldsBySpread => "holds-by-spread",
        Status::Misses => "misses",
        Status::RuledOut => "ruled-out",
        Status::Open => "open",
    }
}

/// A line a draw: the values of the knobs, then for each row what became of it and the number of its best case.
fn csv(outcome: &Outcome<'_>, table: &Table) -> Vec<u8> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut head = vec!["draw".to_owned(), "simulated".to_owned()];
    for knob in &outcome.plan.knobs {
        let name = format!("{} ({})", knob.id, knob.unit());
        head.push(name.trim_end_matches(" ()").to_owned());
    }
    for row in &table.rows {
        head.push(row.id.clone());
        head.push(format!("{} number", row.id));
    }
    let mut lines = vec![head];
    for draw in &table.draws {
        let mut line = vec![draw.draw.to_string(), draw.simulated.to_string()];
        line.extend(draw.values.iter().map(f64::to_string));
        for cell in &draw.cells {
            line.push(word(cell.status).to_owned());
            let best = cell.best.as_ref();
            line.push(best.map_or(String::new(), |b| format!("{:.6}", b.mean)));
        }
        lines.push(line);
    }
    for line in lines {
        // A `Vec` takes all that is written to it.
        let _ = out.write_record(line);
    }
    out.into_inner().unwrap_or_default()
}

/// A number with three digits or so.
fn short(value: f64) -> String {
    match value.abs() {
        big if big >= 100.0 => format!("{value:.0}"),
        mid if mid >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn case(best: &Best) -> String {
    let at = if best.at.is_empty() { "–" } else { &best.at };
    format!(
        "{} ({} … {}) for {} … {} at {at}, {}",
        short(best.mean),
        short(best.new_drive[0]),
        short(best.new_drive[1]),
        short(best.band[0]),
        short(best.band[1]),
        best.setting
    )
}

fn summary(plan: &Plan, study: &Study, table: &Table) -> String {
    let drawn = table.draws.iter().filter(|d| d.simulated).count() - 1;
    let mut text = format!(
        "{}: rows that hold together\n\n{} draws of {}, {drawn} of them simulated on {} drives, and the chip as shipped\n\n",
        study.title,
        table.draws.len() - 1,
        plan.chip.get_ref(),
        plan.drives
    );
    let head = [
        "row",
        "part",
        "possible",
        "holds",
        "by its mean",
        "as shipped",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (i, row) in table.rows.iter().enumerate() {
        let shipped = table.draws.first().map_or("", |d| word(d.cells[i].status));
        rows.push(vec![
            row.id.clone(),
            row.part.to_owned(),
            row.possible.to_string(),
            row.holds.to_string(),
            row.holds_by_mean.to_string(),
            shipped.to_owned(),
        ]);
    }
    let sides = [
        Side::Left,
        Side::Left,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Left,
    ];
    text += &text_table("  ", &sides, &rows);
    text += "\nMost rows at once, by draw\n";
    let mut simulated: Vec<&OfDraw> = table.draws.iter().filter(|d| d.simulated).collect();
    let of = |d: &OfDraw| d.together.as_ref().map_or((0, 0), |t| (t.fit, t.check));
    simulated.sort_by_key(|d| (std::cmp::Reverse(of(d)), d.draw));
    for draw in simulated.iter().take(5) {
        let Some(together) = &draw.together else {
            continue;
        };
        let knobs = plan.knobs.iter().zip(&draw.values);
        let knobs: Vec<String> = knobs
            .map(|(k, v)| format!("{} {v} {}", k.id, k.unit()))
            .collect();
        text += &format!(
            "  draw {}: {} of the fit, {} of the check, {}; {}\n    {}\n",
            draw.draw,
            together.fit,
            together.check,
            together.setting,
            together.at.join("; "),
            knobs.join(", ")
        );
    }
    text += "\nRows that hold in no draw\n";
    for row in &table.rows {
        if let Some((draw, best)) = &row.nearest {
            text += &format!("  {}: nearest in draw {draw}, {}\n", row.id, case(best));
        }
    }
    text += "\nPairs that never hold together\n";
    for pair in &table.never_together {
        text += &format!(
            "  {} and {}: nearest in draw {}, {:.2} halves of a band off\n    {}\n    {}\n",
            pair.rows[0],
            pair.rows[1],
            pair.draw,
            pair.miss,
            case(&pair.best[0]),
            case(&pair.best[1])
        );
    }
    text += "\nSwitches that flip a row, of pairs of cases that differ in nothing else\n";
    for flip in table.flips.iter().filter(|f| f.gained + f.lost > 0) {
        text += &format!(
            "  {} by {}: gained in {}, lost in {} of {}\n",
            flip.row, flip.alternative, flip.gained, flip.lost, flip.pairs
        );
    }
    text + &format!(
        "\nOf {} cases that the cells had ruled out and that were simulated, {} hold\n",
        table.audited, table.audit_held
    )
}

/// Width of a mark of a simulated draw, and of one of another (px).
const WIDE_PX: f64 = 26.0;
const NARROW_PX: f64 = 4.0;

/// Draws along the horizontal axis, rows along the vertical one. Above those that were simulated, below what the cells say of all.
fn draw(outcome: &Outcome<'_>, table: &Table, name: &str) -> Figure {
    let simulated: Vec<usize> = outcome.drawn.iter().map(|d| d.draw).collect();
    let all: Vec<usize> = (0..table.draws.len()).collect();
    let height = |row: usize| (table.rows.len() - 1 - row) as f64;
    let rows = table.rows.iter().enumerate();
    let names: Vec<(f64, String)> = rows
        .map(|(i, row)| {
            let short = row
                .id
                .split_once('.')
                .map_or(row.id.as_str(), |(_, rest)| rest);
            let mark = if row.part == "fit" { "" } else { " (check)" };
            (height(i), format!("{short}{mark}"))
        })
        .collect();
    let panel = |title: String,
                 draws: &[usize],
                 px: f64,
                 ticks: Vec<(f64, String)>,
                 of: &dyn Fn(usize, usize) -> Option<Status>| {
        let marks = |status: Status, colour: Colour| {
            let mut points = Vec::new();
            for (x, &draw) in draws.iter().enumerate() {
                for row in 0..table.rows.len() {
                    if of(draw, row) == Some(status) {
                        points.push([x as f64, height(row)]);
                    }
                }
            }
            Series {
                name: match points.is_empty() {
                    true => String::new(),
                    false => word(status).replace('-', " "),
                },
                colour,
                mark: Mark::Markers {
                    points,
                    marker: Marker::Square,
                    size_px: px,
                },
            }
        };
        Panel {
            title,
            weight: 1.0,
            x: Axis {
                ticks: Ticks::Named(ticks),
                ..Axis::linear("Draw").between(-1.0, draws.len() as f64)
            },
            y: Axis {
                ticks: Ticks::Named(names.clone()),
                ..Axis::linear("").between(-0.8, table.rows.len() as f64 - 0.2)
            },
            series: vec![
                marks(Status::Holds, PALETTE[2]),
                marks(Status::HoldsBySpread, PALETTE[5]),
                marks(Status::Misses, PALETTE[1]),
                marks(Status::RuledOut, Colour(0x9a, 0x9a, 0x9a)),
                marks(Status::Open, PALETTE[0]),
            ],
        }
    };
    let status = |draw: usize, row: usize| Some(table.draws[draw].cells[row].status);
    let by_cells = |draw: usize, row: usize| {
        let status = table.draws[draw].cells[row].status;
        Some(match status {
            Status::RuledOut => Status::RuledOut,
            _ => Status::Open,
        })
    };
    let numbers = |draws: &[usize], every: usize| -> Vec<(f64, String)> {
        let numbered = draws.iter().enumerate().step_by(every);
        numbered
            .map(|(x, draw)| match table.draws[*draw].draw {
                0 => (x as f64, "shipped".to_owned()),
                n => (x as f64, n.to_string()),
            })
            .collect()
    };
    let row = |panel| Row {
        weight: 1.0,
        panels: vec![panel],
    };
    let of_drives = format!(
        "(a) Draws that were simulated, on {} drives each",
        outcome.plan.drives
    );
    let of_cells = "(b) All draws: what the cells leave open".to_owned();
    Figure {
        title: format!("{name}: which published rows hold on one chip"),
        size_px: (TWO_COLUMNS_PX, 1400),
        rows: vec![
            row(panel(
                of_drives,
                &simulated,
                WIDE_PX,
                numbers(&simulated, 1),
                &status,
            )),
            row(panel(
                of_cells,
                &all,
                NARROW_PX,
                numbers(&all, (all.len() / 8).max(1)),
                &by_cells,
            )),
        ],
    }
}
