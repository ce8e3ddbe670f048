//! The font of all figures: Roboto Regular, embedded, as outlines.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

static ROBOTO: &[u8] = include_bytes!("font/Roboto-Regular.ttf");

/// Size and rise of what is raised, against the text.
const RAISED: (f64, f64) = (0.72, 0.38);

/// The font.
pub struct Font {
    face: Face<'static>,
}

/// A glyph of a laid text: where its origin lies (px, from the start of the text's base line,
/// upwards negative) and how large it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Glyph {
    pub id: u16,
    pub x: f64,
    pub y: f64,
    pub size_px: f64,
}

/// One step of an outline, in font units, downwards positive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Segment {
    Move([f64; 2]),
    Line([f64; 2]),
    Quad([f64; 2], [f64; 2]),
    Cubic([f64; 2], [f64; 2], [f64; 2]),
    Close,
}

impl Font {
    /// The embedded font.
    pub fn new() -> Font {
        let face = Face::parse(ROBOTO, 0).expect("the embedded font is well formed");
        Font { face }
    }

    /// Units of its em square.
    pub fn units(&self) -> f64 {
        self.face.units_per_em() as f64
    }

    /// The glyphs of `text`, and its width (px). What is in `^{}` is raised.
    pub fn lay(&self, text: &str, size_px: f64) -> (Vec<Glyph>, f64) {
        let mut glyphs = Vec::new();
        let mut x = 0.0;
        let (mut size, mut y) = (size_px, 0.0);
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(raised) = rest.strip_prefix("^{") {
                (size, y) = (size_px * RAISED.0, -size_px * RAISED.1);
                rest = raised;
                continue;
            }
            rest = &rest[c.len_utf8()..];
            if c == '}' && y != 0.0 {
                (size, y) = (size_px, 0.0);
                continue;
            }
            // A character that the font lacks shows as its glyph for that.
            let id = self.face.glyph_index(c).unwrap_or(GlyphId(0));
            glyphs.push(Glyph {
                id: id.0,
                x,
                y,
                size_px: size,
            });
            let advance = self.face.glyph_hor_advance(id).unwrap_or(0);
            x += advance as f64 / self.units() * size;
        }
        (glyphs, x)
    }

    /// Width of `text` (px).
    pub fn width(&self, text: &str, size_px: f64) -> f64 {
        self.lay(text, size_px).1
    }

    /// Outline of a glyph; a space has none.
    pub fn outline(&self, id: u16) -> Vec<Segment> {
        let mut pen = Pen::default();
        self.face.outline_glyph(GlyphId(id), &mut pen);
        pen.0
    }
}

/// `text` without the marks of what is raised.
pub fn plain(text: &str) -> String {
    text.replace("^{", "^").replace('}', "")
}

#[derive(Default)]
struct Pen(Vec<Segment>);

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.push(Segment::Move(point(x, y)));
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0.push(Segment::Line(point(x, y)));
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.push(Segment::Quad(point(x1, y1), point(x, y)));
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0
            .push(Segment::Cubic(point(x1, y1), point(x2, y2), point(x, y)));
    }
    fn close(&mut self) {
        self.0.push(Segment::Close);
    }
}

fn point(x: f32, y: f32) -> [f64; 2] {
    [x as f64, -y as f64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_the_font_have_what_figures_write() {
        let font = Font::new();
        for c in "Threshold (mV) % 0123456789.,:;=+/±−×·µσΔ°…–≤≥".chars() {
            assert!(font.face.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn what_is_raised_is_smaller() {
        let font = Font::new();
        let (glyphs, width) = font.lay("10^{−4} x", 20.0);
        assert_eq!(glyphs.len(), 6);
        assert!(glyphs[2].y < 0.0 && glyphs[2].size_px < 20.0);
        assert!(glyphs[4].y == 0.0 && glyphs[4].size_px == 20.0);
        assert!(width < font.width("10−4 x", 20.0));
        // A brace that closes nothing is a brace.
        assert_eq!(font.lay("a}", 20.0).0.len(), 2);
    }
}
