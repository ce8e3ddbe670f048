//! MQSim's XML: a workload as a job file or a trace, and a device as a drive of this project.
//!
//! What has no counterpart here and would change the load is an error that names the element and its line. What a device has
//! besides (data cache, mapping cache, priorities) is listed in `docs/mqsim.md`.

use std::collections::BTreeSet;
use std::fmt::Write;

use roxmltree::{Document, Node};
use thiserror::Error;

/// Why a file of MQSim cannot be used.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "an error's message says what its values are")]
pub enum MqsimError {
    /// It is no XML.
    #[error("{0}")]
    Xml(roxmltree::Error),
    /// An element is not there. Holds its name and where it should be.
    #[error("line {line}: <{within}> has no <{name}>")]
    Missing {
        line: u32,
        within: String,
        name: &'static str,
    },
    /// The text of an element is not what it should be.
    #[error("line {line}: <{name}> is `{given}`: {why}")]
    Value {
        line: u32,
        name: String,
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// Scenarios are run one by one, each on a drive of its own.
    #[error("it has {0} scenarios, each for a drive of its own: name one, as in {1}#1")]
    Scenarios(usize, String),
    /// There is no such scenario.
    #[error("it has {have} scenarios, and no scenario {wanted}")]
    NoScenario { have: usize, wanted: usize },
    /// A scenario has traces beside other flows.
    #[error("line {0}: a trace beside other flows: each of them is a workload of its own")]
    Mixed(u32),
}

/// A workload of MQSim.
#[derive(Clone, Debug, PartialEq)]
pub enum Scenario {
    /// The text of a fio job file.
    Jobs(String),
    /// A trace.
    Trace {
        /// Its path, from the folder of the file.
        file: String,
        /// Its format here.
        format: &'static str,
    },
}

/// The root of a workload, and that of a device.
const WORKLOAD: &str = "MQSim_IO_Scenarios";
const DEVICE: &str = "Execution_Parameter_Set";

/// Whether `text` begins as a workload of MQSim.
pub fn is_workload(text: &str) -> bool {
    text.trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
        && text.contains(WORKLOAD)
}

/// Whether `text` begins as a device of MQSim.
pub fn is_device(text: &str) -> bool {
    text.trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
        && text.contains(DEVICE)
}

/// An element and what is asked of it.
#[derive(Clone, Copy)]
struct Element<'a, 'input> {
    node: Node<'a, 'input>,
}

fn parsed(text: &str) -> Result<Document<'_>, MqsimError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    Document::parse(text).map_err(MqsimError::Xml)
}

impl<'a, 'input> Element<'a, 'input> {
    fn line(self) -> u32 {
        let place = self.node.document().text_pos_at(self.node.range().start);
        place.row
    }

    fn named(self, name: &str) -> impl Iterator<Item = Element<'a, 'input>> + use<'a, 'input> {
        let name = name.to_owned();
        let all = self.node.descendants();
        all.filter(move |node| node.has_tag_name(name.as_str()))
            .map(|node| Element { node })
    }

    fn find(self, name: &'static str) -> Option<Element<'a, 'input>> {
        self.named(name).next()
    }

    fn get(self, name: &'static str) -> Result<Element<'a, 'input>, MqsimError> {
        self.find(name).ok_or_else(|| MqsimError::Missing {
            line: self.line(),
            within: self.node.tag_name().name().to_owned(),
            name,
        })
    }

    fn text(self) -> &'a str {
        self.node.text().unwrap_or("").trim()
    }

    /// The same in capitals: MQSim does not tell them apart.
    fn word(self) -> String {
        self.text().to_ascii_uppercase()
    }

    /// A number of sectors, in bytes.
    fn sectors(self, name: &'static str) -> Result<u64, MqsimError> {
        match self.number::<u64>(name)? {
            n @ 1..=0x10_0000 => Ok(n * 512),
            _ => Err(self
                .get(name)?
                .wrong("expected 1 to 1048576 sectors of 512 bytes")),
        }
    }

    fn wrong(self, why: impl Into<String>) -> MqsimError {
        MqsimError::Value {
            line: self.line(),
            name: self.node.tag_name().name().to_owned(),
            given: self.text().to_owned(),
            why: why.into(),
        }
    }

    fn number<T: std::str::FromStr>(self, name: &'static str) -> Result<T, MqsimError> {
        let element = self.get(name)?;
        let number = element.text().parse::<T>();
        number.map_err(|_| element.wrong("expected a number"))
    }

    /// The same, or `default` where the element is not there.
    fn number_or<T: std::str::FromStr>(
        self,
        name: &'static str,
        default: T,
    ) -> Result<T, MqsimError> {
        match self.find(name) {
            Some(_) => self.number(name),
            None => Ok(default),
        }
    }
}

/// Scenario `number` of the workload `text` in the file called `file`, the first being 1; the only one where none is named.
///
/// # Errors
/// [`MqsimError`] where it is none, or something in it has no counterpart.
pub fn workload(text: &str, file: &str, number: Option<usize>) -> Result<Scenario, MqsimError> {
    let document = parsed(text)?;
    let root = Element {
        node: document.root_element(),
    };
    let scenarios: Vec<Element<'_, '_>> = root.named("IO_Scenario").collect();
    let scenario = match (number, &scenarios[..]) {
        (None, [one]) => *one,
        (None, []) => root.get("IO_Scenario")?,
        (None, several) => {
            return Err(MqsimError::Scenarios(several.len(), file.to_owned()));
        }
        (Some(wanted), all) => {
            let found = wanted.checked_sub(1).and_then(|i| all.get(i));
            *found.ok_or(MqsimError::NoScenario {
                have: all.len(),
                wanted,
            })?
        }
    };
    let mut traces = scenario.named("IO_Flow_Parameter_Set_Trace_Based");
    let flows: Vec<Element<'_, '_>> = scenario.named("IO_Flow_Parameter_Set_Synthetic").collect();
    match (traces.next(), traces.next()) {
        (Some(trace), None) if flows.is_empty() => of_trace(trace),
        (Some(trace), _) => Err(MqsimError::Mixed(trace.line())),
        (None, _) if flows.is_empty() => Err(MqsimError::Missing {
            line: scenario.line(),
            within: "IO_Scenario".into(),
            name: "IO_Flow_Parameter_Set_Synthetic",
        }),
        (None, _) => {
            check_shared(&flows)?;
            let mut text = String::from("[global]\nnorandommap\n");
            for (i, flow) in flows.iter().enumerate() {
                text += &of_flow(*flow, i, flows.len())?;
            }
            Ok(Scenario::Jobs(text))
        }
    }
}

fn of_trace(trace: Element<'_, '_>) -> Result<Scenario, MqsimError> {
    for (name, plain, instead) in [
        (
            "Percentage_To_Be_Executed",
            100,
            "expected 100; give a limit of requests instead",
        ),
        ("Relay_Count", 1, "expected 1; a trace is run once"),
    ] {
        if trace.number_or(name, plain)? != plain {
            return Err(trace.get(name)?.wrong(instead));
        }
    }
    // MQSim itself takes any unit for nanoseconds.
    let format = match trace.find("Time_Unit") {
        None => "mqsim",
        Some(unit) => match unit.word().as_str() {
            "NANOSECOND" => "mqsim",
            "MICROSECOND" => "ssdsim-us",
            _ => return Err(unit.wrong("expected NANOSECOND or MICROSECOND")),
        },
    };
    Ok(Scenario::Trace {
        file: trace.get("File_Path")?.text().replace('\\', "/"),
        format,
    })
}

/// Flows of MQSim share the space of the drive by their chips: the same chips are equal shares, one after the other. Other
/// chips for each of them have no counterpart.
fn check_shared(flows: &[Element<'_, '_>]) -> Result<(), MqsimError> {
    for name in ["Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs"] {
        let ids = |flow: &Element<'_, '_>| {
            let text = flow.find(name)?.text();
            Some(
                text.split(',')
                    .map(|id| id.trim().to_owned())
                    .collect::<BTreeSet<_>>(),
            )
        };
        if let [first, rest @ ..] = flows
            && let Some(other) = rest.iter().find(|flow| ids(flow) != ids(first))
        {
            let element = other.find(name).unwrap_or(*other);
            return Err(element
                .wrong("expected that of the first flow: flows cannot have chips of their own"));
        }
    }
    Ok(())
}

/// A section of a job file: of `count` flows of a scenario that with `index`.
fn of_flow(flow: Element<'_, '_>, index: usize, count: usize) -> Result<String, MqsimError> {
    let reads: u64 = flow.number("Read_Percentage")?;
    if reads > 100 {
        return Err(flow.get("Read_Percentage")?.wrong("expected 0 to 100"));
    }
    let distribution = flow.get("Address_Distribution")?;
    let is_random = match distribution.word().as_str() {
        "STREAMING" => false,
        "RANDOM_UNIFORM" | "RANDOM_HOTCOLD" => true,
        _ => {
            let why = "expected STREAMING, RANDOM_UNIFORM or RANDOM_HOTCOLD";
            return Err(distribution.wrong(why));
        }
    };
    let sizes = flow.get("Request_Size_Distribution")?;
    if sizes.word() != "FIXED" {
        return Err(sizes.wrong("expected FIXED: fio has no such distribution of sizes"));
    }
    let bytes = flow.sectors("Average_Request_Size")?;
    let unit = match flow.find("Generated_Aligned_Addresses") {
        None => bytes,
        Some(aligned) if aligned.word() == "FALSE" => 512,
        Some(_) => flow.sectors("Address_Alignment_Unit")?,
    };
    let rw = match (reads, is_random) {
        (100, false) => "read",
        (0, false) => "write",
        (_, false) => "rw",
        (100, true) => "randread",
        (0, true) => "randwrite",
        (_, true) => "randrw",
    };
    // The next request of a stream begins at the next multiple of the unit.
    let skipped = match is_random {
        true => 0,
        false => bytes.next_multiple_of(unit) - bytes,
    };
    let skip = match skipped {
        0 => String::new(),
        skipped => format!(":{skipped}"),
    };
    let mut text = format!("[flow-{}]\nrw={rw}{skip}\nbs={bytes}\n", index + 1);
    let mut add = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    if is_random && unit != bytes {
        add(format!("blockalign={unit}"));
    }
    if !matches!(reads, 0 | 100) {
        add(format!("rwmixread={reads}"));
    }
    if distribution.word() == "RANDOM_HOTCOLD" {
        let hot: u64 = flow.number("Percentage_of_Hot_Region")?;
        if !(1..=99).contains(&hot) {
            return Err(flow
                .get("Percentage_of_Hot_Region")?
                .wrong("expected 1 to 99"));
        }
        // So many percent of the requests go to the rest: MQSim's rule.
        add(format!(
            "random_distribution=zoned:{}/{hot}:{hot}/{}",
            100 - hot,
            100 - hot
        ));
    }
    // What is outside of 1 to 100 is 100 in MQSim too.
    let share = match flow.number_or("Working_Set_Percentage", 100u64)? {
        share @ 1..=100 => share,
        _ => 100,
    };
    // Percentages of a job file are whole. That of a size is of what lies behind the offset.
    let begin = |i: usize| (100 * i / count) as u64;
    let (from, to) = (begin(index), begin(index + 1));
    if from > 0 {
        add(format!("offset={from}%"));
    }
    let size = share * (to - from) / (100 - from);
    if size == 0 {
        let why = format!(
            "{share} % of the {} % of the drive that flow {} of {count} has are less than 1 %, and a job file has whole percentages: \
             take a larger share or fewer flows",
            to - from,
            index + 1
        );
        return Err(match flow.find("Working_Set_Percentage") {
            Some(element) => element.wrong(&why),
            None => flow.wrong(&why),
        });
    }
    add(format!("size={size}%"));
    text += &pace(flow, reads, bytes)?;
    text += &format!("randseed={}\n", flow.number_or("Seed", 0u64)?);
    text += &end(flow)?;
    Ok(text)
}

/// How fast requests of `bytes` come, so many percent of them reads.
fn pace(flow: Element<'_, '_>, reads: u64, bytes: u64) -> Result<String, MqsimError> {
    let generator = flow.get("Synthetic_Generator_Type")?;
    match generator.word().as_str() {
        "QUEUE_DEPTH" => {
            let depth: u64 = flow.number("Average_No_of_Reqs_in_Queue")?;
            if depth == 0 {
                let element = flow.get("Average_No_of_Reqs_in_Queue")?;
                return Err(element.wrong("expected 1 or more"));
            }
            Ok(format!("iodepth={depth}\n"))
        }
        "BANDWIDTH" => {
            // Bytes a second of reads and writes together.
            let rate: u64 = flow.number("Bandwidth")?;
            if rate < bytes {
                return Err(flow
                    .get("Bandwidth")?
                    .wrong("expected at least a request a second, in bytes"));
            }
            let of = |percent: u64| (u128::from(rate) * u128::from(percent) / 100).max(1);
            let rates = match reads {
                0 | 100 => rate.to_string(),
                _ => format!("{},{}", of(reads), of(100 - reads)),
            };
            Ok(format!(
                "rate={rates}\nrate_process=poisson\niodepth=1024\n"
            ))
        }
        _ => Err(generator.wrong("expected QUEUE_DEPTH or BANDWIDTH")),
    }
}

/// When a flow ends: a time decides alone where both are given.
fn end(flow: Element<'_, '_>) -> Result<String, MqsimError> {
    let stop_ns: u64 = flow.number_or("Stop_Time", 0)?;
    let requests: u64 = flow.number_or("Total_Requests_To_Generate", 0)?;
    match (stop_ns, requests) {
        (0, 0) => {
            let why = "expected a time above 0, or Total_Requests_To_Generate above 0";
            Err(flow.get("Stop_Time")?.wrong(why))
        }
        (0, n) => Ok(format!("number_ios={n}\nloops=1000000\n")),
        (ns, _) => Ok(format!("time_based\nruntime={}us\n", (ns / 1_000).max(1))),
    }
}

/// A device as profiles of this project.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Name of the chip's profile.
    pub chip_name: String,
    pub chip: String,
    pub drive: String,
}

/// The device in `text`, whose file is called `file`: a drive of constant latencies.
///
/// # Errors
/// [`MqsimError`] where it is none, or something in it has no counterpart.
pub fn device(text: &str, file: &str) -> Result<Device, MqsimError> {
    let document = parsed(text)?;
    let root = Element {
        node: document.root_element(),
    };
    let stem = std::path::Path::new(file).file_stem();
    let stem = stem.map_or("mqsim".into(), |stem| {
        stem.to_string_lossy().replace('"', "_")
    });
    let named = |of: &str| format!("{stem}.xml, {of}");
    let flash = root.get("Flash_Parameter_Set")?;
    let types: &[(&'static str, &'static str)] =
        match flash.get("Flash_Technology")?.word().as_str() {
            "SLC" => &[("Page_Read_Latency_LSB", "Page_Program_Latency_LSB")],
            "MLC" => &[
                ("Page_Read_Latency_LSB", "Page_Program_Latency_LSB"),
                ("Page_Read_Latency_MSB", "Page_Program_Latency_MSB"),
            ],
            "TLC" => &[
                ("Page_Read_Latency_LSB", "Page_Program_Latency_LSB"),
                ("Page_Read_Latency_CSB", "Page_Program_Latency_CSB"),
                ("Page_Read_Latency_MSB", "Page_Program_Latency_MSB"),
            ],
            _ => {
                return Err(flash
                    .get("Flash_Technology")?
                    .wrong("expected SLC, MLC or TLC"));
            }
        };
    // A drive of constant latencies has one of each: the mean over page types.
    let mean = |of: fn(&(&'static str, &'static str)) -> &'static str| -> Result<u64, MqsimError> {
        let each = types.iter().map(|row| flash.number::<u64>(of(row)));
        let sum = each.sum::<Result<u64, MqsimError>>()?;
        Ok(sum / types.len() as u64)
    };
    let (read_ns, program_ns) = (mean(|row| row.0)?, mean(|row| row.1)?);
    let third = read_ns / 3;
    let pages: u64 = flash.number("Page_No_Per_Block")?;
    // Transfers of so many bytes.
    let rate: u64 = root.number("Channel_Transfer_Rate")?;
    let rate = rate.saturating_mul(root.number_or("Flash_Channel_Width", 1)?);
    let chip_name = format!("{stem}-chip");
    let latencies = named("mean of the page types' latencies");
    let chip = format!(
        "based_on = \"constant-256p\"\nname = \"{chip_name}\"\nsummary = \"Constant latencies, from {stem}.xml of MQSim\"\n\
         [array]\nlayers = {{ value = {pages}, source = \"{}\" }}\n\
         [timing]\nio = {{ value = \"{rate} MT/s\", source = \"{}\" }}\n\
         [modes.slc]\nendurance = {{ value = \"{} P/E\", source = \"{}\" }}\n\
         program = {{ value = [\"{program_ns} ns\"], source = \"{latencies}\" }}\n\
         erase = {{ value = \"{} ns\", source = \"{}\" }}\n\
         [modes.slc.sense]\npre = {{ value = \"{} ns\", source = \"{latencies}: a third\" }}\n\
         eval = {{ value = \"{third} ns\", source = \"as pre\" }}\ndisch = {{ value = \"{third} ns\", source = \"as pre\" }}\n",
        named("Page_No_Per_Block"),
        named("Channel_Transfer_Rate"),
        flash.number_or("Block_PE_Cycles_Limit", 10_000u64)?,
        named("Block_PE_Cycles_Limit"),
        flash.number::<u64>("Block_Erase_Latency")?,
        named("Block_Erase_Latency"),
        read_ns - 2 * third,
    );
    let geometry = [
        ("channels", "Flash_Channel_Count", root),
        ("chips_per_channel", "Chip_No_Per_Channel", root),
        ("dies_per_chip", "Die_No_Per_Chip", flash),
        ("planes", "Plane_No_Per_Die", flash),
        ("blocks_per_plane", "Block_No_Per_Plane", flash),
    ];
    let page: u64 = flash.number("Page_Capacity")?;
    let mut bytes = page.saturating_mul(pages);
    let mut rows = String::new();
    for (key, name, within) in geometry {
        let n: u64 = within.number(name)?;
        bytes = bytes.saturating_mul(n);
        let _ = writeln!(
            rows,
            "{key} = {{ value = {n}, source = \"{}\" }}",
            named(name)
        );
    }
    let spare = root.get("Overprovisioning_Ratio")?;
    let ratio: f64 = root.number("Overprovisioning_Ratio")?;
    if !(0.0..1.0).contains(&ratio) {
        return Err(spare.wrong("expected a share from 0 to below 1"));
    }
    // Whole mapping units of 4 KiB.
    let capacity = (bytes as f64 * (1.0 - ratio)) as u64 / 4096 * 4096;
    let scheme = |name: &'static str, rows: &[(&str, &'static str)]| match root.find(name) {
        None => Ok(None),
        Some(element) => {
            let row = rows.iter().find(|row| row.0 == element.word());
            let known: Vec<&str> = rows.iter().map(|row| row.0).collect();
            let row = row.ok_or_else(|| element.wrong(format!("expected {}", known.join(", "))));
            row.map(|row| Some(row.1))
        }
    };
    let victim = scheme(
        "GC_Block_Selection_Policy",
        &[
            ("GREEDY", "greedy"),
            ("RGA", "d-choices"),
            ("RANDOM", "random"),
            ("RANDOM_P", "random"),
            ("RANDOM_PP", "random"),
            ("FIFO", "fifo"),
        ],
    )?;
    let suspend = scheme(
        "CMD_Suspension_Support",
        &[
            ("NONE", "none"),
            ("ERASE", "erase"),
            ("PROGRAM", "program"),
            ("PROGRAM_ERASE", "program-erase"),
        ],
    )?;
    let wear = scheme(
        "Static_Wearleveling_Enabled",
        &[("TRUE", "static"), ("FALSE", "none")],
    )?;
    let schemes = [
        ("gc_victim", victim, "GC_Block_Selection_Policy"),
        ("suspend", suspend, "CMD_Suspension_Support"),
        ("wear", wear, "Static_Wearleveling_Enabled"),
    ];
    let mut chosen = String::new();
    for (axis, scheme, name) in schemes {
        if let Some(scheme) = scheme {
            let source = named(name);
            let _ = writeln!(
                chosen,
                "{axis} = {{ value = \"{scheme}\", source = \"{source}\" }}"
            );
        }
    }
    let drive = format!(
        "based_on = \"bench-512g\"\nname = \"{stem}\"\nsummary = \"Constant latencies, from {stem}.xml of MQSim\"\n\
         chip = \"{chip_name}\"\ncapacity = {{ value = \"{capacity} B\", source = \"{}\" }}\n\
         [geometry]\n{rows}page = {{ value = \"{page} B\", source = \"{}\" }}\n\
         [channel]\nrate = {{ value = \"{rate} MT/s\", source = \"{}\" }}\n\
         [schemes]\n{chosen}",
        named("Overprovisioning_Ratio"),
        named("Page_Capacity"),
        named("Channel_Transfer_Rate"),
    );
    Ok(Device {
        chip_name,
        chip,
        drive,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow in MQSim's terms.
    fn flow(more: &[(&str, &str)]) -> String {
        let mut all = vec![
            ("Working_Set_Percentage", "50"),
            ("Synthetic_Generator_Type", "QUEUE_DEPTH"),
            ("Read_Percentage", "70"),
            ("Address_Distribution", "RANDOM_UNIFORM"),
            ("Percentage_of_Hot_Region", "0"),
            ("Request_Size_Distribution", "FIXED"),
            ("Average_Request_Size", "8"),
            ("Seed", "798"),
            ("Average_No_of_Reqs_in_Queue", "16"),
            ("Stop_Time", "10000000"),
            ("Total_Requests_To_Generate", "0"),
        ];
        for (name, value) in more {
            all.retain(|(other, _)| other != name);
            all.push((name, value));
        }
        let rows: Vec<String> = all
            .iter()
            .map(|(n, v)| format!("<{n}>{v}</{n}>\n"))
            .collect();
        format!(
            "<IO_Flow_Parameter_Set_Synthetic>\n{}</IO_Flow_Parameter_Set_Synthetic>",
            rows.concat()
        )
    }

    fn file(scenarios: &[String]) -> String {
        let each = scenarios
            .iter()
            .map(|s| format!("<IO_Scenario>{s}</IO_Scenario>"));
        format!(
            "<?xml version=\"1.0\"?>\n<MQSim_IO_Scenarios>{}</MQSim_IO_Scenarios>",
            each.collect::<String>()
        )
    }

    #[test]
    fn golden_workloads_as_jobs() {
        let two = file(&[flow(&[])
            + &flow(&[
                ("Read_Percentage", "100"),
                ("Stop_Time", "0"),
                ("Total_Requests_To_Generate", "500"),
            ])]);
        assert!(is_workload(&two) && !is_device(&two));
        let Scenario::Jobs(text) = workload(&two, "w.xml", None).unwrap() else {
            panic!("no job");
        };
        assert_eq!(
            text,
            "[global]\nnorandommap\n[flow-1]\nrw=randrw\nbs=4096\nrwmixread=70\nsize=25%\niodepth=16\nrandseed=798\n\
             time_based\nruntime=10000us\n[flow-2]\nrw=randread\nbs=4096\noffset=50%\nsize=50%\niodepth=16\n\
             randseed=798\nnumber_ios=500\nloops=1000000\n"
        );
        firstread_workload::fio::parse("w", &text).unwrap();
        let hot = file(&[flow(&[
            ("Address_Distribution", "RANDOM_HOTCOLD"),
            ("Percentage_of_Hot_Region", "20"),
        ])]);
        let Scenario::Jobs(text) = workload(&hot, "w.xml", None).unwrap() else {
            panic!("no job");
        };
        assert!(
            text.contains("random_distribution=zoned:80/20:20/80\n"),
            "{text}"
        );
        firstread_workload::fio::parse("w", &text).unwrap();
        let trace = "<IO_Flow_Parameter_Set_Trace_Based><File_Path>traces\\a.trace</File_Path>\
                     <Percentage_To_Be_Executed>100</Percentage_To_Be_Executed><Relay_Count>1</Relay_Count>\
                     <Time_Unit>NANOSECOND</Time_Unit></IO_Flow_Parameter_Set_Trace_Based>";
        let both = file(&[flow(&[]), trace.to_owned()]);
        let of = Scenario::Trace {
            file: "traces/a.trace".into(),
            format: "mqsim",
        };
        assert_eq!(workload(&both, "w.xml", Some(2)).unwrap(), of);
        for (text, number, message) in [
            (
                both.clone(),
                None,
                "it has 2 scenarios, each for a drive of its own: name one, as in w.xml#1",
            ),
            (
                both.clone(),
                Some(3),
                "it has 2 scenarios, and no scenario 3",
            ),
            (
                file(&[flow(&[("Read_Percentage", "x")])]),
                None,
                "line 13: <Read_Percentage> is `x`: expected a number",
            ),
            (
                file(&[flow(&[("Request_Size_Distribution", "NORMAL")])]),
                None,
                "line 13: <Request_Size_Distribution> is `NORMAL`: expected FIXED: fio has no such distribution of sizes",
            ),
            (
                file(&[trace.replace(">1<", ">2<")]),
                None,
                "line 2: <Relay_Count> is `2`: expected 1; a trace is run once",
            ),
            (
                file(&[]),
                None,
                "line 2: <MQSim_IO_Scenarios> has no <IO_Scenario>",
            ),
        ] {
            assert_eq!(
                workload(&text, "w.xml", number).unwrap_err().to_string(),
                message
            );
        }
        assert!(matches!(
            workload("<MQSim_IO_Scenarios>", "w", None),
            Err(MqsimError::Xml(_))
        ));
    }

    /// The job of the only flow of a scenario.
    fn job(more: &[(&str, &str)]) -> Result<String, String> {
        match workload(&file(&[flow(more)]), "w.xml", None) {
            Ok(Scenario::Jobs(text)) => {
                firstread_workload::fio::parse("w", &text).map_err(|e| e.to_string())?;
                Ok(text)
            }
            Ok(Scenario::Trace { .. }) => Err("a trace".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Units and rules are those of MQSim: sectors of 512 bytes, bytes a second of reads and writes together, a time that
    /// decides alone, addresses that are multiples of a unit, words in any case.
    #[test]
    fn golden_flow_parameters_mean_what_they_mean_in_mqsim() {
        for (more, lines) in [
            (
                vec![
                    ("Synthetic_Generator_Type", "bandwidth"),
                    ("Bandwidth", "262144000"),
                ],
                "rate=183500800,78643200\nrate_process=poisson",
            ),
            (
                vec![("Stop_Time", "5000"), ("Total_Requests_To_Generate", "9")],
                "time_based\nruntime=5us\n",
            ),
            (
                vec![
                    ("Generated_Aligned_Addresses", "true"),
                    ("Address_Alignment_Unit", "16"),
                ],
                "rw=randrw\nbs=4096\nblockalign=8192\n",
            ),
            (
                vec![("Generated_Aligned_Addresses", "false")],
                "bs=4096\nblockalign=512\n",
            ),
            (
                vec![
                    ("Address_Distribution", "streaming"),
                    ("Read_Percentage", "0"),
                    ("Generated_Aligned_Addresses", "true"),
                    ("Address_Alignment_Unit", "16"),
                ],
                "rw=write:4096\nbs=4096\n",
            ),
            (vec![("Working_Set_Percentage", "0")], "size=100%\n"),
        ] {
            let text = job(&more).unwrap();
            assert!(text.contains(lines), "{more:?}: {text}");
        }
    }

    #[test]
    fn golden_flow_parameters_that_are_refused() {
        for (more, message) in [
            (
                vec![("Read_Percentage", "101")],
                "<Read_Percentage> is `101`: expected 0 to 100",
            ),
            (
                vec![("Average_Request_Size", "0")],
                "<Average_Request_Size> is `0`: expected 1 to 1048576 sectors of 512 bytes",
            ),
            (
                vec![("Average_No_of_Reqs_in_Queue", "0")],
                "<Average_No_of_Reqs_in_Queue> is `0`: expected 1 or more",
            ),
            (
                vec![
                    ("Synthetic_Generator_Type", "BANDWIDTH"),
                    ("Bandwidth", "4095"),
                ],
                "<Bandwidth> is `4095`: expected at least a request a second, in bytes",
            ),
            (
                vec![("Stop_Time", "0")],
                "<Stop_Time> is `0`: expected a time above 0, or Total_Requests_To_Generate above 0",
            ),
            (
                vec![("Address_Distribution", "UNIFORM_RANDOM")],
                "<Address_Distribution> is `UNIFORM_RANDOM`: expected STREAMING, RANDOM_UNIFORM or RANDOM_HOTCOLD",
            ),
        ] {
            let error = job(&more).unwrap_err();
            assert!(error.ends_with(message), "{error}");
        }
        // Flows with chips of their own, and flows that share all of them.
        let of = |ids| flow(&[("Channel_IDs", ids)]);
        assert!(workload(&file(&[of("0,1") + &of("1, 0")]), "w", None).is_ok());
        let error = workload(&file(&[of("0,1") + &of("2,3")]), "w", None).unwrap_err();
        assert!(
            error.to_string().ends_with(
                "<Channel_IDs> is `2,3`: expected that of the first flow: flows cannot have chips of their own"
            ),
            "{error}"
        );
    }

    /// Percentages of a job file are whole: a flow with less than one of them is refused, by what it has.
    #[test]
    fn golden_a_flow_with_less_than_a_percent_is_refused() {
        let flows: String = (0..8)
            .map(|_| flow(&[("Working_Set_Percentage", "5")]))
            .collect();
        let error = workload(&file(&[flows]), "w", None).unwrap_err();
        let why = "5 % of the 12 % of the drive that flow 1 of 8 has are less than 1 %";
        assert!(error.to_string().contains(why), "{error}");
    }

    /// Three flows have a third of the space each, and none reaches into the next one.
    #[test]
    fn formula_flows_share_the_space() {
        for (count, share) in [(1, 100), (2, 50), (3, 100), (3, 85), (7, 33), (8, 100)] {
            let all: String = (0..count)
                .map(|_| flow(&[("Working_Set_Percentage", &share.to_string())]))
                .collect();
            let Scenario::Jobs(text) = workload(&file(&[all]), "w", None).unwrap() else {
                panic!("no job");
            };
            let value = |section: &str, key: &str| -> f64 {
                let line = section.lines().find_map(|line| line.strip_prefix(key));
                line.map_or(0.0, |v| v.trim_end_matches('%').parse().unwrap())
            };
            let mut end = 0.0;
            for section in text.split("[flow-").skip(1) {
                let offset = value(section, "offset=");
                let size = value(section, "size=") / 100.0 * (100.0 - offset);
                assert!(offset >= end, "{text}");
                // Whole percentages: one less of what lies behind the offset, and one less of the drive.
                let exact = f64::from(share) / f64::from(count);
                assert!(
                    size <= exact + 1.0 && size > exact - 2.1,
                    "{size} of {exact}: {text}"
                );
                end = offset + size;
            }
            assert!(end <= 100.0, "{text}");
        }
    }
}
