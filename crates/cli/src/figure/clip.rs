//! What of a line or an area lies in a panel.

/// A rectangle on the page (px).
#[derive(Clone, Copy, Debug)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// Whether a point lies in `r`, its edges included.
pub fn inside([x, y]: [f64; 2], r: Rect) -> bool {
    x >= r.left && x <= r.right && y >= r.top && y <= r.bottom
}

/// The parts of a line that lie in `rect` (Liang and Barsky, 1984). A point that is no number breaks
/// the line.
pub fn clip_line(points: &[[f64; 2]], rect: Rect) -> Vec<Vec<[f64; 2]>> {
    let mut parts: Vec<Vec<[f64; 2]>> = Vec::new();
    let mut open = false;
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let d = [b[0] - a[0], b[1] - a[1]];
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        let mut seen = a.iter().chain(&b).all(|v| v.is_finite());
        for (distance, step) in [
            (a[0] - rect.left, -d[0]),
            (rect.right - a[0], d[0]),
            (a[1] - rect.top, -d[1]),
            (rect.bottom - a[1], d[1]),
        ] {
            if step == 0.0 {
                seen &= distance >= 0.0;
            } else if step < 0.0 {
                from = from.max(distance / step);
            } else {
                to = to.min(distance / step);
            }
        }
        if !seen || from > to {
            open = false;
            continue;
        }
        let at = |t: f64| [a[0] + t * d[0], a[1] + t * d[1]];
        match parts.last_mut() {
            Some(part) if open && from == 0.0 => part.push(at(to)),
            _ => parts.push(vec![at(from), at(to)]),
        }
        open = to == 1.0;
    }
    parts
}

/// The part of an area that lies in `rect` (Sutherland and Hodgman, 1974).
pub fn clip_area(points: &[[f64; 2]], rect: Rect) -> Vec<[f64; 2]> {
    let sides = [
        (0, rect.left, 1.0),
        (0, rect.right, -1.0),
        (1, rect.top, 1.0),
        (1, rect.bottom, -1.0),
    ];
    let mut points: Vec<[f64; 2]> = points
        .iter()
        .copied()
        .filter(|p| p.iter().all(|v| v.is_finite()))
        .collect();
    for (d, bound, sign) in sides {
        let depth = |p: [f64; 2]| (p[d] - bound) * sign;
        let mut kept = Vec::with_capacity(points.len() + 4);
        for (i, &b) in points.iter().enumerate() {
            let a = points[(i + points.len() - 1) % points.len()];
            let (da, db) = (depth(a), depth(b));
            if (da < 0.0) != (db < 0.0) {
                let t = da / (da - db);
                kept.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            }
            if db >= 0.0 {
                kept.push(b);
            }
        }
        points = kept;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECT: Rect = Rect {
        left: 0.0,
        top: 0.0,
        right: 10.0,
        bottom: 10.0,
    };

    #[test]
    fn sequence_a_line_that_leaves_comes_back_as_another() {
        let line = [
            [-5.0, 5.0],
            [5.0, 5.0],
            [5.0, 25.0],
            [8.0, 25.0],
            [8.0, 5.0],
        ];
        assert_eq!(
            clip_line(&line, RECT),
            [
                vec![[0.0, 5.0], [5.0, 5.0], [5.0, 10.0]],
                vec![[8.0, 10.0], [8.0, 5.0]]
            ]
        );
        assert!(clip_line(&[[20.0, 20.0], [30.0, 5.0]], RECT).is_empty());
        let broken = [[1.0, 1.0], [2.0, f64::NAN], [3.0, 1.0], [4.0, 1.0]];
        assert_eq!(clip_line(&broken, RECT), [vec![[3.0, 1.0], [4.0, 1.0]]]);
    }

    #[test]
    fn formula_a_clipped_area_is_what_both_cover() {
        let triangle = [[5.0, -5.0], [15.0, 5.0], [5.0, 5.0]];
        let clipped = clip_area(&triangle, RECT);
        let twice: f64 = (0..clipped.len())
            .map(|i| {
                let (a, b) = (clipped[i], clipped[(i + 1) % clipped.len()]);
                a[0] * b[1] - b[0] * a[1]
            })
            .sum();
        // The right angle's square of 5 by 5 and nothing else lies within.
        assert_eq!(twice.abs() / 2.0, 25.0);
        assert!(clip_area(&[[-3.0, 0.0], [-1.0, 0.0], [-2.0, 9.0]], RECT).is_empty());
    }
}
