//! MQSim beside firstread: the same geometry, latencies and load, written in its terms from the same
//! profile and job.
//!
//! Nothing of MQSim is part of this project: the user gives a binary. Why mean latencies differ, where
//! they do, is in `docs/mqsim.md`, whose table is printed here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use firstread_drive::profile::DriveProfile;
use firstread_nand::profile::ProgramTiming;
use firstread_workload::fio;
use firstread_workload::job::{Extent, JobSpec, Operations};

use super::cases::{Case, LATENCY};
use super::measure::{self, Measured};
use super::rules::{self, Dies, Rules, Times};

/// Part of the requests that a second run asks for: the difference of the two is free of start-up.
const FEW: u64 = 10;

/// Fails where `path` cannot be a program, before anything is measured.
pub fn check(path: &Path) -> Result<(), String> {
    let found = fs::metadata(path).map_err(|e| {
        format!(
            "--mqsim {}: {e}; give the path of an MQSim binary",
            path.display()
        )
    })?;
    if !found.is_file() {
        return Err(format!(
            "--mqsim {}: not a file; give the path of the binary itself",
            path.display()
        ));
    }
    Ok(())
}

/// Results that MQSim reports for a run.
#[derive(Clone, Copy, Debug)]
struct Reported {
    served: f64,
    simulated_s: Option<f64>,
    pages_moved: f64,
    wall_s: f64,
}

/// Runs MQSim for every case of `done` that it can be asked for, and prints it beside ours.
pub fn compare(path: &Path, done: &[(&Case, Measured)], repeat: u32) -> Result<(), String> {
    println!(
        "\n{:<34} {:>9} {:>9} {:>6} {:>8} {:>9} {:>7} {:>6} {:>9}",
        "beside MQSim",
        "firstread",
        "MQSim",
        "ratio",
        "start s",
        "served",
        "WA",
        "MQSim",
        "simulated"
    );
    for (case, ours) in done.iter().filter(|(case, _)| case.mqsim) {
        let load = Load::of(case)?;
        let mut many: Option<Reported> = None;
        let mut few: Option<Reported> = None;
        for _ in 0..repeat.max(1) {
            for (best, requests) in [(&mut many, case.requests), (&mut few, case.requests / FEW)] {
                let run = load.run(path, requests)?;
                let best = best.get_or_insert(run);
                best.wall_s = best.wall_s.min(run.wall_s);
            }
        }
        let (theirs, few) = many.zip(few).expect("at least one repetition");
        let per_s = (theirs.served - few.served) / (theirs.wall_s - few.wall_s).max(1e-9);
        let start_s = (theirs.wall_s - theirs.served / per_s).max(0.0);
        let amplification = |wa: Option<f64>| wa.map_or("-".into(), |wa| format!("{wa:.3}"));
        let written = theirs.served * load.written_pages_per_request();
        let their_wa = (written > 0.0).then(|| 1.0 + theirs.pages_moved / written);
        println!(
            "{:<34} {:>7.0} k {:>7.0} k {:>6.1} {:>8.2} {:>9.0} {:>7} {:>6} {:>9}",
            case.name,
            ours.requests_per_s() / 1e3,
            per_s / 1e3,
            ours.requests_per_s() / per_s,
            start_s,
            theirs.served,
            amplification(ours.write_amplification),
            amplification(their_wa),
            format!(
                "{:.2}/{}",
                ours.simulated_s,
                theirs
                    .simulated_s
                    .map_or("-".into(), |s| format!("{s:.2} s"))
            ),
        );
        if theirs.served < case.requests as f64 {
            println!(
                "  MQSim served {:.0} of {} requests and ended without an error",
                theirs.served, case.requests
            );
        }
    }
    println!(
        "requests per wall second, MQSim's without its start-up (a second run asks for a {FEW}th \
         of the requests); ideal map, write cache off, the best of a few random blocks cleaned at a time \
         where ours cleans superblocks; simulated: ours/MQSim's (of writes in whole seconds, as it gives \
         them)"
    );
    latencies(path)
}

/// Prints mean latencies of reads by depth, of both simulators and of the small model with either one's
/// rules, as a Markdown table.
fn latencies(path: &Path) -> Result<(), String> {
    const OURS: Rules = Rules {
        data_first: false,
        one_die_a_chip: false,
    };
    const THEIRS: Rules = Rules {
        data_first: true,
        one_die_a_chip: true,
    };
    println!(
        "\nmean latency of 4 KiB random reads (us), by Little's law from the simulated time\n\n\
         | channels × chips × dies | depth | firstread | model | MQSim | model | MQSim / firstread | data first \
         alone | one die a chip alone |\n|---|---|---|---|---|---|---|---|---|"
    );
    let requests = LATENCY.requests;
    for ((channels, chips, dies), depths) in DRIVES {
        let job =
            |depth| format!("[j]\nrw=randread\nbs=4k\niodepth={depth}\nnorandommap\nio_size=8t\n");
        let of = Dies {
            channels: *channels,
            chips_per_channel: *chips,
            dies_per_chip: *dies,
        };
        for &depth in *depths {
            let set = [
                format!("geometry.channels={channels}"),
                format!("geometry.chips_per_channel={chips}"),
                format!("geometry.dies_per_chip={dies}"),
                "geometry.planes=1".into(),
                format!("capacity={} GiB", channels * chips * dies * 7 / 2),
                format!("channel.command={READ_COMMAND_NS} ns"),
                // A page's data and parity take as long as its data alone at 333 MT/s.
                "channel.rate=375 MT/s".into(),
                "chip.timing.io=375 MT/s".into(),
            ];
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let job = job(depth);
            let (ours_s, profile) = measure::simulated_s(&LATENCY, &set, &job)?;
            let workload = fio::parse(LATENCY.name, &job).map_err(|e| e.to_string())?;
            let times = Times::of(&profile);
            let their_times = Times::of_mqsim(&profile);
            let load = Load {
                name: LATENCY.name,
                profile,
                job: workload.jobs[0].clone(),
                dies_per_chip: *dies,
            };
            let theirs_s = load
                .run(path, requests)?
                .simulated_s
                .ok_or("MQSim does not tell how long it simulated")?;
            let mean_us = |s: f64| s * 1e6 * f64::from(depth) / requests as f64;
            let (ours, theirs) = (mean_us(ours_s), mean_us(theirs_s));
            let model =
                |rules, times| rules::mean_latency_ns(rules, times, of, depth, requests) * 1e-3;
            let (as_ours, as_theirs) = (model(OURS, times), model(THEIRS, their_times));
            let data_first = Rules {
                data_first: true,
                ..OURS
            };
            let one_die = Rules {
                one_die_a_chip: true,
                ..OURS
            };
            let off = |model: f64, of: f64| (model / of - 1.0) * 100.0;
            println!(
                "| {channels} × {chips} × {dies} | {depth} | {ours:.2} | {as_ours:.2} ({:+.2} %) | {theirs:.2} | \
                 {as_theirs:.2} ({:+.2} %) | {:.3} | {:.2} | {:.2} |",
                off(as_ours, ours),
                off(as_theirs, theirs),
                theirs / ours,
                model(data_first, times),
                model(one_die, times),
            );
        }
    }
    Ok(())
}

/// Bytes that a page stores for its data: the codes of all drives have rate 8/9. MQSim's pages have no
/// parity.
const STORED: (u64, u64) = (9, 8);

/// Rate (MT/s) at which a channel without parity carries as much data.
fn data_rate(p: &DriveProfile) -> u64 {
    u64::from(p.channel.rate_mt_per_s) * STORED.1 / STORED.0
}

/// Command and address cycles of a read as MQSim counts them for NV-DDR2: 20 + 6 × 25 + 100 + 20 ns.
const READ_COMMAND_NS: u64 = 290;

/// What MQSim's host and link take of a read besides its data: a doorbell, a submission queue entry asked for
/// and fetched, a completion queue entry; packets of 28 bytes more than they carry, over 7 GB/s.
const MQSIM_HOST_NS: u64 = 27;

/// Channels, chips of each and dies of each chip; and the depths asked for.
type Drive = ((u32, u32, u32), &'static [u32]);

/// 64 dies, each a chip or two a chip; and a die a channel, where nothing meets.
const DRIVES: &[Drive] = &[
    ((8, 8, 1), &[1, 4, 16, 64, 128, 512]),
    ((8, 4, 2), &[1, 16, 128]),
    ((8, 1, 1), &[1, 16, 128]),
];

impl Times {
    /// Those of a drive of ours.
    fn of(p: &DriveProfile) -> Times {
        let mode = p.chip.mode(p.mode).expect("the drive's mode is its chip's");
        let bytes = u64::from(p.geometry.slot_bytes);
        Times {
            command: READ_COMMAND_NS,
            sense: mode.setup_ns + mode.sense.pre_ns + mode.sense.eval_ns + mode.sense.disch_ns,
            transfer: p.channel.transfer_ns(bytes * STORED.0 / STORED.1),
            link: bytes * 1_000_000_000 / p.link.bytes_per_s,
            host: 0,
        }
    }

    /// The same as MQSim counts them: whole nanoseconds a byte, packets of 128 bytes on the link.
    fn of_mqsim(p: &DriveProfile) -> Times {
        let bytes = u64::from(p.geometry.slot_bytes);
        let packets = bytes.div_ceil(128) * (128 + 28);
        Times {
            transfer: bytes * (1_000 / data_rate(p)),
            link: packets * 1_000_000_000 / p.link.bytes_per_s,
            host: MQSIM_HOST_NS,
            ..Times::of(p)
        }
    }
}

/// A case in MQSim's terms.
struct Load {
    name: &'static str,
    profile: DriveProfile,
    job: JobSpec,
    /// Dies of a chip in MQSim's terms. It uses one of them at a time where ours are independent: a drive of
    /// equal dies has one.
    dies_per_chip: u32,
}

impl Load {
    fn of(case: &Case) -> Result<Load, String> {
        let job = case
            .job
            .ok_or_else(|| format!("{}: no job to ask for", case.name))?;
        let mut workload = fio::parse(case.name, job).map_err(|e| e.to_string())?;
        if workload.jobs.len() != 1 {
            return Err(format!("{}: one job can be asked for", case.name));
        }
        Ok(Load {
            name: case.name,
            profile: measure::profile(case)?,
            job: workload.jobs.remove(0),
            dies_per_chip: 1,
        })
    }

    /// From the end of a read's command to its data.
    fn sense_ns(&self) -> u64 {
        Times::of(&self.profile).sense
    }

    fn read_percent(&self) -> u8 {
        match self.job.operations {
            Operations::Read => 100,
            Operations::Mixed => self.job.read_percent,
            _ => 0,
        }
    }

    fn request_bytes(&self) -> u32 {
        self.job.sizes[0].min()
    }

    fn written_pages_per_request(&self) -> f64 {
        let writes = f64::from(100 - self.read_percent()) / 100.0;
        writes
            * f64::from(
                self.request_bytes()
                    .div_ceil(self.profile.geometry.page_bytes),
            )
    }

    fn run(&self, path: &Path, requests: u64) -> Result<Reported, String> {
        let folder = Folder::new()?;
        let (device, load) = (folder.0.join("device.xml"), folder.0.join("load.xml"));
        let write = |to: &Path, text: String| {
            fs::write(to, text).map_err(|e| format!("writing {}: {e}", to.display()))
        };
        write(&device, self.device())?;
        write(&load, self.flow(requests))?;
        let start = Instant::now();
        let output = Command::new(path)
            .arg("-i")
            .arg(&device)
            .arg("-w")
            .arg(&load)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("running {}: {e}", path.display()))?;
        let wall_s = start.elapsed().as_secs_f64();
        let printed = String::from_utf8_lossy(&output.stdout);
        let failed = |why: String| {
            let last: Vec<&str> = printed.lines().rev().take(3).collect();
            format!(
                "MQSim, `{}`: {why}; the last it said: {}",
                self.name,
                last.into_iter().rev().collect::<Vec<_>>().join(" / ")
            )
        };
        if !output.status.success() {
            return Err(failed(output.status.to_string()));
        }
        let results = folder.0.join("load_scenario_1.xml");
        let text = fs::read(&results).map_err(|e| failed(format!("no results: {e}")))?;
        let text = String::from_utf8_lossy(&text);
        let number = |key: &str| {
            number_after(&text, key).ok_or_else(|| failed(format!("its results have no `{key}`")))
        };
        let generated = number("<Request_Count>")?;
        let served = number_after(&printed, "total requests serviced:")
            .ok_or_else(|| failed("it does not say how many requests it served".into()))?;
        if served == 0.0 {
            return Err(failed(format!("it served none of {requests} requests")));
        }
        // It gives rates by whole seconds. The share of time in which each chip senses is exact: where there
        // are only reads, and one die of a chip at a time, their sum tells the time.
        let sensing: f64 = numbers_after(&text, "Fraction_of_Time_in_Execution=\"").sum();
        let simulated_s = if self.read_percent() == 100 {
            let reads = number("Issued_Flash_Read_CMD=\"")?
                + number("Issued_Flash_Multiplane_Read_CMD=\"")?;
            Some(reads * self.sense_ns() as f64 * 1e-9 / sensing)
        } else {
            let iops = number_after(&text, "<IOPS>").filter(|n| n.is_finite() && *n > 0.0);
            iops.map(|iops| generated / iops)
        };
        // Where nothing was moved the mean is not a number.
        let moved = |runs: &str, mean: &str| -> Result<f64, String> {
            let (runs, mean) = (number(runs)?, number_after(&text, mean).unwrap_or(f64::NAN));
            Ok(if runs > 0.0 { runs * mean } else { 0.0 })
        };
        Ok(Reported {
            served,
            simulated_s,
            pages_moved: moved("Total_GC_Executions=\"", "Average_Page_Movement_For_GC=\"")?
                + moved("Total_WL_Executions=\"", "Average_Page_Movement_For_WL=\"")?,
            wall_s,
        })
    }

    /// Chips of a channel in MQSim's terms.
    fn chips_per_channel(&self) -> u32 {
        let g = &self.profile.geometry;
        u32::from(g.chips_per_channel) * u32::from(g.dies_per_chip) / self.dies_per_chip
    }

    /// The drive.
    fn device(&self) -> String {
        let (p, g) = (&self.profile, &self.profile.geometry);
        let mode = p
            .chip
            .mode(p.mode)
            .expect("the drive's mode is one of its chip's");
        let read_ns = self.sense_ns();
        let program_ns = match mode.program {
            ProgramTiming::OneShot { wordline_ns } => wordline_ns,
            ProgramTiming::TwoStep {
                first_ns,
                second_ns,
            } => first_ns + second_ns,
        };
        let raw = g.slots_per_superblock(p.mode) as u64
            * u64::from(g.slot_bytes)
            * u64::from(g.blocks_per_plane);
        let overprovisioning = 1.0 - p.capacity_bytes as f64 / raw as f64;
        let lanes = 4.0;
        let flash = element(
            "Flash_Parameter_Set",
            &[
                ("Flash_Technology", "MLC".into()),
                ("CMD_Suspension_Support", "ERASE".into()),
                ("Page_Read_Latency_LSB", read_ns.to_string()),
                ("Page_Read_Latency_CSB", read_ns.to_string()),
                ("Page_Read_Latency_MSB", read_ns.to_string()),
                ("Page_Program_Latency_LSB", program_ns.to_string()),
                ("Page_Program_Latency_CSB", program_ns.to_string()),
                ("Page_Program_Latency_MSB", program_ns.to_string()),
                ("Block_Erase_Latency", mode.erase_ns.to_string()),
                (
                    "Block_PE_Cycles_Limit",
                    mode.endurance_pe_cycles.to_string(),
                ),
                ("Die_No_Per_Chip", self.dies_per_chip.to_string()),
                ("Plane_No_Per_Die", g.planes.to_string()),
                ("Block_No_Per_Plane", g.blocks_per_plane.to_string()),
                ("Page_No_Per_Block", g.wordlines_per_block.to_string()),
                ("Page_Capacity", g.page_bytes.to_string()),
            ],
            "",
        );
        let device = element(
            "Device_Parameter_Set",
            &[
                ("Enabled_Preconditioning", "false".into()),
                ("Memory_Type", "FLASH".into()),
                ("HostInterface_Type", "NVME".into()),
                ("Caching_Mechanism", "ADVANCED".into()),
                ("Address_Mapping", "PAGE_LEVEL".into()),
                ("Ideal_Mapping_Table", "true".into()),
                ("Plane_Allocation_Scheme", "CWDP".into()),
                (
                    "Transaction_Scheduling_Policy",
                    "PRIORITY_OUT_OF_ORDER".into(),
                ),
                ("Overprovisioning_Ratio", format!("{overprovisioning:.4}")),
                ("GC_Block_Selection_Policy", "RGA".into()),
                ("Flash_Channel_Count", g.channels.to_string()),
                ("Flash_Channel_Width", "1".into()),
                ("Channel_Transfer_Rate", data_rate(p).to_string()),
                ("Chip_No_Per_Channel", self.chips_per_channel().to_string()),
                ("Flash_Comm_Protocol", "NVDDR2".into()),
            ],
            &flash,
        );
        let host = element(
            "Host_Parameter_Set",
            &[
                (
                    "PCIe_Lane_Bandwidth",
                    format!("{:.5}", p.link.bytes_per_s as f64 / lanes / 1e9),
                ),
                ("PCIe_Lane_Count", format!("{lanes:.0}")),
            ],
            "",
        );
        element("Execution_Parameter_Set", &[], &(host + &device))
    }

    /// The load: as many requests in flight as the job allows, uniform over its region.
    fn flow(&self, requests: u64) -> String {
        let g = &self.profile.geometry;
        let all = |n: u64| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let sectors = self.request_bytes() / 512;
        let percent = match self.job.size {
            Some(Extent::Percent(percent)) => percent,
            _ => 100,
        };
        let flow = element(
            "IO_Flow_Parameter_Set_Synthetic",
            &[
                ("Priority_Class", "HIGH".into()),
                ("Device_Level_Data_Caching_Mode", "TURNED_OFF".into()),
                ("Channel_IDs", all(g.channels.into())),
                ("Chip_IDs", all(self.chips_per_channel().into())),
                ("Die_IDs", all(self.dies_per_chip.into())),
                ("Plane_IDs", all(g.planes.into())),
                ("Initial_Occupancy_Percentage", "0".into()),
                ("Working_Set_Percentage", percent.to_string()),
                ("Synthetic_Generator_Type", "QUEUE_DEPTH".into()),
                ("Read_Percentage", self.read_percent().to_string()),
                ("Address_Distribution", "RANDOM_UNIFORM".into()),
                ("Percentage_of_Hot_Region", "0".into()),
                ("Generated_Aligned_Addresses", "true".into()),
                ("Address_Alignment_Unit", sectors.to_string()),
                ("Request_Size_Distribution", "FIXED".into()),
                ("Average_Request_Size", sectors.to_string()),
                ("Variance_Request_Size", "0".into()),
                ("Seed", "798".into()),
                ("Average_No_of_Reqs_in_Queue", self.job.iodepth.to_string()),
                ("Stop_Time", "0".into()),
                ("Total_Requests_To_Generate", requests.to_string()),
            ],
            "",
        );
        element(
            "MQSim_IO_Scenarios",
            &[],
            &element("IO_Scenario", &[], &flow),
        )
    }
}

/// An XML element with a child for each value, and further children.
fn element(name: &str, values: &[(&str, String)], more: &str) -> String {
    let values: String = values
        .iter()
        .map(|(tag, value)| format!("<{tag}>{value}</{tag}>\n"))
        .collect();
    format!("<{name}>\n{values}{more}</{name}>\n")
}

/// The number that follows `key` in `text`.
fn number_after(text: &str, key: &str) -> Option<f64> {
    let rest = text[text.find(key)? + key.len()..].trim_start();
    let end = rest.find(['<', '"', '\n', ' ']).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Every number that follows `key` in `text`.
fn numbers_after<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = f64> + 'a {
    text.match_indices(key)
        .filter_map(move |(at, _)| number_after(&text[at..], key))
}

/// A folder for one run, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("firstread-mqsim-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| format!("making {}: {e}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is a few kilobytes of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
