//! Error and retry models that papers give as formulas or constants. They do not model the physics of cells.
//! They exist beside the physical model under their own names, and a study says which model it used.

/// Raw bit error rate of a page as a sum of powers (Kim, Choi and Min, FAST'19; equation 1 of RARO): `epsilon
/// + alpha c^k + beta c^m t^n + gamma c^p r^q` with cycles `c`, time `t` and reads `r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLawRber {
    /// Constant term.
    pub epsilon: f64,
    /// Wear: factor.
    pub alpha: f64,
    /// Wear: exponent of cycles.
    pub k: f64,
    /// Retention: factor.
    pub beta: f64,
    /// Retention: exponent of cycles.
    pub m: f64,
    /// Retention: exponent of time.
    pub n: f64,
    /// Read disturb: factor.
    pub gamma: f64,
    /// Read disturb: exponent of cycles.
    pub p: f64,
    /// Read disturb: exponent of reads. Valid to about a thousand reads.
    pub q: f64,
    /// Hours in the unit of time of `beta`: 24 for days. The sources disagree between days and
    /// hours; only days leave a 72-layer TLC drive working at its default levels after a year.
    pub time_unit_h: f64,
}

impl PowerLawRber {
    /// 72-layer 3D TLC: coefficients as in the public repository `jwjeong92/MQSim-JW`
    /// (`tools/examples/rber_model_example.py`), time in days.
    pub const TLC_72L: PowerLawRber = PowerLawRber {
        epsilon: 1.48e-3,
        alpha: 3.90e-10,
        k: 2.05,
        beta: 6.28e-5,
        m: 0.14,
        n: 0.54,
        gamma: 3.73e-9,
        p: 0.33,
        q: 1.71,
        time_unit_h: 24.0,
    };

    /// The rate after `pe_cycles` cycles, `retention_h` hours and `reads` reads of the page; at most
    /// one half.
    pub fn rber(&self, pe_cycles: f64, retention_h: f64, reads: f64) -> f64 {
        let c = pe_cycles.max(0.0);
        let t = retention_h.max(0.0) / self.time_unit_h;
        let r = reads.max(0.0);
        let sum = self.epsilon
            + self.alpha * libm::pow(c, self.k)
            + self.beta * libm::pow(c, self.m) * libm::pow(t, self.n)
            + self.gamma * libm::pow(c, self.p) * libm::pow(r, self.q);
        sum.min(0.5)
    }
}

/// Retries from an error rate (equations 2 and 3 of RARO): the least `n` with
/// `alpha * RBER * n_sense * (1 - delta)^n <= limit`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricRetry {
    /// Weight of the error rate. RARO gives no value.
    pub alpha: f64,
    /// Share of errors a retry removes: 0.2 in RARO.
    pub delta: f64,
    /// What the code corrects, as an error rate: 72 bits in 1 KiB.
    pub limit: f64,
}

impl GeometricRetry {
    /// RARO's `delta` and limit, with `alpha = 1` as none is given.
    pub const RARO: GeometricRetry = GeometricRetry {
        alpha: 1.0,
        delta: 0.2,
        limit: 72.0 / 8192.0,
    };

    /// Retries of a page of `n_sense` levels at error rate `rber`.
    pub fn retries(&self, rber: f64, n_sense: u32) -> u32 {
        let load = self.alpha * rber * n_sense as f64;
        if load.is_nan() || load <= self.limit || self.delta <= 0.0 || self.limit <= 0.0 {
            return 0;
        }
        if self.delta >= 1.0 {
            return 1;
        }
        let n = libm::log(self.limit / load) / libm::log1p(-self.delta);
        // A load that is an exact power must not take one more for rounding.
        libm::ceil(n - 1e-9).clamp(0.0, 1e6) as u32
    }
}

/// Life stages that RARO draws its retries of a QLC block from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaroStage {
    /// Up to 333 cycles.
    Young,
    /// Up to 666 cycles.
    Middle,
    /// More than 666 cycles.
    Old,
}

impl RaroStage {
    /// The stage of a QLC block (RARO's table I, of 1,000 rated cycles).
    pub const fn of(pe_cycles: u32) -> RaroStage {
        match pe_cycles {
            0..=333 => RaroStage::Young,
            334..=666 => RaroStage::Middle,
            _ => RaroStage::Old,
        }
    }

    /// Fewest and most retries of a QLC page (read off RARO's figure 6).
    pub const fn qlc_retries(self) -> (u32, u32) {
        match self {
            RaroStage::Young => (1, 10),
            RaroStage::Middle => (5, 13),
            RaroStage::Old => (11, 16),
        }
    }
}

/// Life stages of DWR's drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DwrStage {
    /// Both areas little worn.
    New,
    /// The high-wear area at several hundreds of cycles.
    Middle,
    /// The high-wear area near its limit.
    Old,
}

/// Latency of one DWR read attempt (ns): its table I is `127 us * (1 + retries)` throughout.
pub const DWR_READ_NS: u64 = 127_000;

/// Mean retries of a read (DWR's table I), in the low-wear area or outside it.
pub const fn dwr_retries(stage: DwrStage, low_wear_area: bool) -> u32 {
    match (stage, low_wear_area) {
        (DwrStage::New, _) => 0,
        (DwrStage::Middle, true) => 5,
        (DwrStage::Middle, false) => 11,
        (DwrStage::Old, true) => 7,
        (DwrStage::Old, false) => 23,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_power_law_in_days_and_hours() {
        let days = PowerLawRber::TLC_72L;
        let hours = PowerLawRber {
            time_unit_h: 1.0,
            ..days
        };
        // Worked by hand from the coefficients at 1,000 cycles after 90 days and a year.
        for (model, h, expected) in [
            (days, 90.0 * 24.0, 3.9e-3),
            (days, 365.0 * 24.0, 6.0e-3),
            (hours, 90.0 * 24.0, 1.25e-2),
            (hours, 365.0 * 24.0, 2.4e-2),
        ] {
            let got = model.rber(1000.0, h, 0.0);
            assert!(
                (got / expected - 1.0).abs() < 0.05,
                "{got:e} against {expected:e}"
            );
        }
        assert_eq!(days.rber(1e9, 1e9, 1e9), 0.5);
    }

    #[test]
    fn formula_retries_are_the_least_that_suffice() {
        let r = GeometricRetry::RARO;
        for (i, load) in [0.001, 0.0088, 0.01, 0.082, 0.160, 0.312]
            .into_iter()
            .enumerate()
        {
            let n = r.retries(load / 4.0, 4);
            let after = |n: u32| load * libm::pow(0.8, n as f64);
            assert!(after(n) <= r.limit * (1.0 + 1e-9), "{i}");
            assert!(n == 0 || after(n - 1) > r.limit, "{i}");
        }
        assert_eq!(r.retries(0.082 / 4.0, 4), 11);
        assert_eq!(r.retries(0.0, 4), 0);
        assert_eq!(r.retries(f64::NAN, 4), 0);
    }

    #[test]
    fn formula_dwr_latencies_are_those_of_its_table() {
        let us = |s, low| DWR_READ_NS * (1 + dwr_retries(s, low) as u64) / 1000;
        assert_eq!(us(DwrStage::New, true), 127);
        assert_eq!(us(DwrStage::Middle, true), 762);
        assert_eq!(us(DwrStage::Middle, false), 1524);
        assert_eq!(us(DwrStage::Old, true), 1016);
        assert_eq!(us(DwrStage::Old, false), 3048);
    }

    /// Each term alone, as a power with numbers that can be taken by hand.
    #[test]
    fn formula_a_power_law_is_the_sum_of_its_terms() {
        let none = PowerLawRber {
            epsilon: 0.0,
            alpha: 0.0,
            k: 2.0,
            beta: 0.0,
            m: 1.0,
            n: 0.5,
            gamma: 0.0,
            p: 0.5,
            q: 2.0,
            time_unit_h: 24.0,
        };
        let of = |law: PowerLawRber| law.rber(100.0, 16.0 * 24.0, 30.0);
        let near = |is: f64, expected: f64| assert!((is / expected - 1.0).abs() < 1e-12, "{is:e}");
        near(
            of(PowerLawRber {
                epsilon: 0.25,
                ..none
            }),
            0.25,
        );
        near(
            of(PowerLawRber {
                alpha: 1e-6,
                ..none
            }),
            1e-6 * 100.0 * 100.0,
        );
        near(of(PowerLawRber { beta: 1e-4, ..none }), 1e-4 * 100.0 * 4.0);
        near(
            of(PowerLawRber {
                gamma: 1e-6,
                ..none
            }),
            1e-6 * 10.0 * 900.0,
        );
        let all = PowerLawRber {
            epsilon: 0.1,
            alpha: 1e-6,
            beta: 1e-4,
            gamma: 1e-6,
            ..none
        };
        near(of(all), 0.1 + 0.01 + 0.04 + 0.009);
        near(all.rber(-5.0, -5.0, -5.0), 0.1);
        near(
            PowerLawRber { beta: 1.0, ..none }.rber(100.0, 24.0, 0.0),
            0.5,
        );
    }

    #[test]
    fn formula_stages_of_life_are_those_of_the_papers() {
        let stages = [0, 333, 334, 666, 667, 5000].map(|pe| RaroStage::of(pe).qlc_retries());
        assert_eq!(
            stages,
            [(1, 10), (1, 10), (5, 13), (5, 13), (11, 16), (11, 16)]
        );
        assert_eq!(
            [true, false].map(|low| dwr_retries(DwrStage::New, low)),
            [0, 0]
        );
    }

    #[test]
    fn formula_retries_have_their_limits() {
        let r = GeometricRetry {
            alpha: 2.0,
            delta: 0.5,
            limit: 0.01,
        };
        // 0.04 of twice the rate of 0.005 at four levels: two halvings.
        assert_eq!(r.retries(0.005, 4), 2);
        assert_eq!((r.retries(0.00125, 4), r.retries(0.00126, 4)), (0, 1));
        let with = |delta, limit| GeometricRetry { delta, limit, ..r }.retries(0.3, 4);
        assert_eq!(
            (
                with(1.0, 0.01),
                with(0.0, 0.01),
                with(-1.0, 0.01),
                with(0.5, 0.0)
            ),
            (1, 0, 0, 0)
        );
        // 2.4, halved down to 2^-1022.
        assert_eq!(with(0.5, f64::MIN_POSITIVE), 1024);
        assert_eq!(with(1e-9, 0.01), 1_000_000);
    }
}
