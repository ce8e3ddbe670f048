//! The font of all figures: Roboto Regular, embedded. Its widths lay out texts, and its outlines are those of PNG.

use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::outline::{DrawSettings, OutlineGlyphCollection, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};

static ROBOTO: &[u8] = include_bytes!("font/Roboto-Regular.ttf");

/// Size and rise of what is raised, against the text.
pub const RAISED: (f64, f64) = (0.72, 0.38);

/// The font, in its own units.
pub struct Font {
    characters: Charmap<'static>,
    metrics: GlyphMetrics<'static>,
    outlines: OutlineGlyphCollection<'static>,
    units: f64,
}

/// A glyph of a laid text: where its origin lies (px, from the start of the text's base line,
/// upwards negative) and how large it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Glyph {
    pub id: u32,
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
    pub fn new() -> Font {
        let font = FontRef::new(ROBOTO).expect("the embedded font is well formed");
        let (size, location) = (Size::unscaled(), LocationRef::default());
        Font {
            characters: font.charmap(),
            metrics: font.glyph_metrics(size, location),
            outlines: font.outline_glyphs(),
            units: f64::from(font.metrics(size, location).units_per_em),
        }
    }

    /// Units of its em square.
    pub fn units(&self) -> f64 {
        self.units
    }

    /// `text` in lines up to `width` pixels, broken at spaces. A word that is wider has a line of its own.
    pub fn lines(&self, text: &str, size_px: f64, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            if let Some(last) = lines.last_mut() {
                let longer = format!("{last} {word}");
                if self.width(&longer, size_px) <= width {
                    *last = longer;
                    continue;
                }
            }
            lines.push(word.to_owned());
        }
        lines
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
            let id = self.characters.map(c).unwrap_or(GlyphId::NOTDEF);
            glyphs.push(Glyph {
                id: id.to_u32(),
                x,
                y,
                size_px: size,
            });
            let advance = self.metrics.advance_width(id).unwrap_or(0.0);
            x += f64::from(advance) / self.units * size;
        }
        (glyphs, x)
    }

    /// Width of `text` (px).
    pub fn width(&self, text: &str, size_px: f64) -> f64 {
        self.lay(text, size_px).1
    }

    /// Outline of a glyph; a space has none.
    pub fn outline(&self, id: u32) -> Vec<Segment> {
        let mut pen = Pen::default();
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
        if let Some(glyph) = self.outlines.get(GlyphId::new(id)) {
            glyph
                .draw(settings, &mut pen)
                .expect("the embedded font is well formed");
        }
        pen.0
    }
}

/// `text` without the marks of what is raised.
pub fn plain(text: &str) -> String {
    text.replace("^{", "^").replace('}', "")
}

#[derive(Default)]
struct Pen(Vec<Segment>);

impl OutlinePen for Pen {
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
            assert!(font.characters.map(c).is_some(), "{c}");
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
