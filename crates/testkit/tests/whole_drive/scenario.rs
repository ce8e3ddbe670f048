//! A drive of four dies, small enough to follow every step by hand.

use firstread_core::{
    DieId, FlashEvent, FlashKind, FlashOp, HostOp, LevelOffsets, Ns, OpClass, PageType,
};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_drive::{Drive, DriveState, RunStats, tables};
use firstread_testkit::{FOUR_DIES, IDEAL, Scripted, aged, drive, play, profile, sequence};

pub const KIB: u64 = 1 << 10;
pub const READ_4K: u32 = 4 << 10;
/// Bytes of a multi-plane page: four planes of 16 KiB.
pub const ROW: u64 = 64 * KIB;
/// Bytes from a row to the next page type of the same wordline and die: a row of each of 4 dies.
pub const STRIPE: u64 = 4 * ROW;
/// Bytes of a wordline over all dies: four page types.
pub const WORDLINE: u64 = 4 * STRIPE;

/// A drive of four dies whose ports are watched.
pub struct Scenario {
    pub drive: Drive,
    factory: Vec<LevelOffsets>,
}

impl Scenario {
    pub fn new(set: &[&str], state: &DriveState) -> Scenario {
        Scenario::on("ct-qlc", set, state)
    }

    /// The same of the drive `name`.
    pub fn on(name: &str, set: &[&str], state: &DriveState) -> Scenario {
        let set: Vec<&str> = FOUR_DIES.iter().chain(set).copied().collect();
        let profile = profile(name, &set);
        let tables = tables::for_drive(&profile).unwrap();
        let factory = tables.own.factory[..tables.own.factory_len as usize].to_vec();
        let drive = drive(profile, state, 1);
        Scenario { drive, factory }
    }

    /// A drive on the manufacturer's levels, `age_h` hours at 55 °C after its fill.
    pub fn factory(age_h: u64, pe_cycles: u32) -> Scenario {
        Scenario::new(&["schemes.read_levels=factory"], &aged(age_h, pe_cycles))
    }

    /// A drive whose cells never err.
    pub fn ideal() -> Scenario {
        Scenario::new(IDEAL, &aged(0, 0))
    }

    /// A drive 1 ms before a pass of calibration, and the die that its first read will be on.
    pub fn before_a_pass() -> (Scenario, DieId) {
        let set = [
            "cells=ideal",
            "schemes.read_levels=ct-qlc",
            "read_levels.interval=4h",
            // Passes at times that are known beforehand.
            "read_levels.clock=global",
        ];
        let age = Ns(Ns::from_h(4).0 - Ns::from_ms(1).0);
        let state = DriveState {
            age: (age, age),
            ..aged(0, 300)
        };
        // Sampling depends on the seed and the pass alone, so another drive tells which die it is.
        let far = 23 << 30;
        let idle = [
            (0, HostOp::Read, far, READ_4K),
            (1_200, HostOp::Read, far, READ_4K),
        ];
        let (_, probe) = reads(&Scenario::new(&set, &state).play(&idle))
            .into_iter()
            .find(|(_, op)| op.class == OpClass::Calibration)
            .expect("a pass is due");
        (Scenario::new(&set, &state), probe.die)
    }

    /// Array time of a read of `page` (ns).
    pub fn sense_ns(&self, page: PageType) -> u64 {
        let p = self.drive.profile();
        let mode = p.chip.mode(p.mode).unwrap();
        let valleys = mode.pages[page.0 as usize].len() as u64;
        let sense = mode.sense.pre_ns + mode.sense.eval_ns + mode.sense.disch_ns;
        mode.setup_ns + valleys * sense
    }

    /// Entries of the manufacturer's table.
    pub fn table_len(&self) -> usize {
        self.factory.len()
    }

    /// What a run of `script` came to.
    pub fn stats(&mut self, script: &[Scripted]) -> RunStats {
        play(&mut self.drive, script).unwrap()
    }

    /// What passes the ports while `script` runs.
    pub fn play(&mut self, script: &[Scripted]) -> Vec<PortCall> {
        self.drive.log_ports();
        play(&mut self.drive, script).unwrap();
        self.drive.port_calls().to_vec()
    }

    pub fn text(&self, port_calls: &[PortCall]) -> String {
        sequence::render(port_calls, &self.factory, 16)
    }

    /// The first LSB row on die 0 whose read of `bytes` passes as `wanted`: its wordline, counted
    /// over blocks, and what passed.
    pub fn find(
        &mut self,
        bytes: u32,
        wanted: impl Fn(&[PortCall]) -> bool,
    ) -> (u64, Vec<PortCall>) {
        (0..4_000)
            .map(|w| (w, self.play(&[(0, HostOp::Read, w * WORDLINE, bytes)])))
            .find(|(_, port_calls)| wanted(port_calls))
            .expect("some row of thousands reads like that")
    }

    /// The read of one codeword that takes `retries` retries. Where it was found says something of
    /// the cells and nothing of the sequence, so the text does not tell.
    pub fn codeword_read(&mut self, retries: usize) -> String {
        let (wordline, port_calls) = self.find(1 << 10, |c| reads(c).len() == retries + 1);
        self.text(&port_calls)
            .replace(&format!("b{} w{} ", wordline / 1408, wordline % 1408), "")
            .replace(&format!(" {wordline}M+1K"), "")
            .replace(" 0+1K", "")
    }
}

pub fn reads(port_calls: &[PortCall]) -> Vec<(Ns, FlashOp)> {
    let issued = port_calls.iter().filter_map(|c| match c.what {
        PortCallKind::Issued(
            op @ FlashOp {
                kind: FlashKind::Read { .. },
                ..
            },
        ) => Some((c.at, op)),
        _ => None,
    });
    issued.collect()
}

pub fn wanted(op: &FlashOp) -> u64 {
    match op.kind {
        FlashKind::Read { wanted, .. } => wanted,
        _ => 0,
    }
}

/// When each decode ended, and what failed.
pub fn decoded(port_calls: &[PortCall]) -> Vec<(Ns, u64)> {
    let decoded = port_calls.iter().filter_map(|c| match c.what {
        PortCallKind::Event(FlashEvent::Decoded { failed, .. }) => Some((c.at, failed)),
        _ => None,
    });
    decoded.collect()
}
