//! A drawing as PNG: the same shapes and outlines as in SVG, filled with [`zeno`].

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use zeno::{Cap, Command, Join, Mask, Point, Stroke, Style};

use super::font::{Font, Segment};
use super::{Anchor, Colour, Drawing, PX_PER_INCH, Shape};

/// The bytes of a PNG file.
pub fn render(drawing: &Drawing) -> Vec<u8> {
    let font = Font::new();
    let mut canvas = Canvas::new(drawing.size_px);
    for shape in &drawing.shapes {
        match shape {
            Shape::Line {
                points,
                colour,
                width_px,
                dash,
            } => {
                let mut stroke = Stroke::new(*width_px as f32);
                stroke.cap(Cap::Butt).join(Join::Bevel);
                stroke.dash(dash.pattern(), 0.0);
                canvas.draw(&path(points, false), stroke.into(), *colour, 1.0);
            }
            Shape::Area {
                points,
                colour,
                opacity,
            } => canvas.draw(&path(points, true), Style::default(), *colour, *opacity),
            Shape::Text { colour, .. } => {
                canvas.draw(&text(&font, shape), Style::default(), *colour, 1.0);
            }
        }
    }
    canvas.encode()
}

fn path(points: &[[f64; 2]], closed: bool) -> Vec<Command> {
    let mut out: Vec<Command> = points
        .iter()
        .enumerate()
        .map(|(i, p)| match i {
            0 => Command::MoveTo(point(*p)),
            _ => Command::LineTo(point(*p)),
        })
        .collect();
    if closed {
        out.push(Command::Close);
    }
    out
}

fn point([x, y]: [f64; 2]) -> Point {
    Point::new(x as f32, y as f32)
}

/// The outlines of a text where they lie on the page.
fn text(font: &Font, shape: &Shape) -> Vec<Command> {
    let Shape::Text {
        at,
        text,
        size_px,
        anchor,
        upwards,
        ..
    } = shape
    else {
        return Vec::new();
    };
    let (glyphs, width) = font.lay(text, *size_px);
    let start = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * width,
        Anchor::End => -width,
    };
    let mut out = Vec::new();
    for g in glyphs {
        let scale = g.size_px / font.units();
        let to = |[x, y]: [f64; 2]| {
            let (x, y) = (start + g.x + x * scale, g.y + y * scale);
            point(match upwards {
                true => [at[0] + y, at[1] - x],
                false => [at[0] + x, at[1] + y],
            })
        };
        out.extend(font.outline(g.id).into_iter().map(|s| match s {
            Segment::Move(a) => Command::MoveTo(to(a)),
            Segment::Line(a) => Command::LineTo(to(a)),
            Segment::Quad(a, b) => Command::QuadTo(to(a), to(b)),
            Segment::Cubic(a, b, c) => Command::CurveTo(to(a), to(b), to(c)),
            Segment::Close => Command::Close,
        }));
    }
    out
}

struct Canvas {
    width: u32,
    height: u32,
    /// Three bytes a pixel, row by row.
    pixels: Vec<u8>,
}

impl Canvas {
    fn new((width, height): (u32, u32)) -> Canvas {
        let pixels = vec![0xff; width as usize * height as usize * 3];
        Canvas {
            width,
            height,
            pixels,
        }
    }

    /// Lays `path` in `style` over what is there.
    fn draw(&mut self, path: &[Command], style: Style<'_>, colour: Colour, opacity: f64) {
        if path.is_empty() {
            return;
        }
        let (mask, place) = Mask::new(path).style(style).render();
        let colour = [colour.0, colour.1, colour.2];
        let opacity = (opacity.clamp(0.0, 1.0) * 256.0) as u32;
        for row in 0..place.height {
            let y = place.top + row as i32;
            for column in 0..place.width {
                let x = place.left + column as i32;
                let cover = mask[(row * place.width + column) as usize] as u32 * opacity / 256;
                // Most of what a line lies in it does not cover.
                if cover == 0 || x < 0 || y < 0 || x >= self.width as i32 || y >= self.height as i32
                {
                    continue;
                }
                let at = (y as usize * self.width as usize + x as usize) * 3;
                for (to, from) in self.pixels[at..at + 3].iter_mut().zip(colour) {
                    let mixed = *to as u32 * (255 - cover) + from as u32 * cover;
                    *to = ((mixed + 127) / 255) as u8;
                }
            }
        }
    }

    /// PNG, of one image-data chunk with rows filtered upwards: charts repeat from row to row.
    fn encode(&self) -> Vec<u8> {
        let row = self.width as usize * 3;
        let mut filtered = Vec::with_capacity((row + 1) * self.height as usize);
        for (y, line) in self.pixels.chunks_exact(row).enumerate() {
            filtered.push(2);
            for (x, v) in line.iter().enumerate() {
                let above = if y == 0 {
                    0
                } else {
                    self.pixels[(y - 1) * row + x]
                };
                filtered.push(v.wrapping_sub(above));
            }
        }
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        let data = zlib.write_all(&filtered).and_then(|()| zlib.finish());
        let data = data.expect("writing to memory succeeds");
        let per_metre = ((PX_PER_INCH / 0.0254 + 0.5) as u32).to_be_bytes();
        let mut header = Vec::new();
        header.extend(self.width.to_be_bytes());
        header.extend(self.height.to_be_bytes());
        // Eight bits, red green blue, deflate, the five filters, not interlaced.
        header.extend([8, 2, 0, 0, 0]);
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut out, b"IHDR", &header);
        chunk(
            &mut out,
            b"pHYs",
            &[&per_metre[..], &per_metre, &[1]].concat(),
        );
        chunk(&mut out, b"IDAT", &data);
        chunk(&mut out, b"IEND", &[]);
        out
    }
}

fn chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(name);
    crc.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(name);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::{Dash, tests::decode};
    use super::*;

    const WIDTH: usize = 60;

    /// The pixels of `shapes` on a page of 60 by 50.
    fn pixels(shapes: Vec<Shape>) -> Vec<[u8; 3]> {
        let png = render(&Drawing {
            size_px: (WIDTH as u32, 50),
            title: String::new(),
            shapes,
        });
        let (width, pixels) = decode(&png);
        assert_eq!((width, pixels.len()), (WIDTH, WIDTH * 50));
        pixels
    }

    fn area(left: f64, top: f64, right: f64, bottom: f64, colour: Colour, opacity: f64) -> Shape {
        Shape::Area {
            points: vec![[left, top], [right, top], [right, bottom], [left, bottom]],
            colour,
            opacity,
        }
    }

    /// Every pixel of areas along the edges of pixels, opaque ones and ones of a half, which reach over each side of the
    /// page.
    #[test]
    fn formula_areas_cover_their_pixels_and_mix_by_opacity() {
        const RED: Colour = Colour(200, 40, 0);
        const BLUE: Colour = Colour(0, 80, 240);
        let got = pixels(vec![
            area(2.0, 1.0, 5.0, 3.0, RED, 1.0),
            area(4.0, 2.0, 8.0, 6.0, BLUE, 0.5),
            area(-7.0, 20.0, 2.0, 22.0, RED, 1.0),
            area(57.0, -5.0, 90.0, 4.0, RED, 1.0),
            area(30.0, 48.0, 32.0, 77.0, RED, 1.0),
            // Not drawn: of no opacity.
            area(40.0, 20.0, 44.0, 22.0, RED, 0.0),
        ]);
        let within = |x: usize, y: usize, [l, t, r, b]: [usize; 4]| {
            (l..r).contains(&x) && (t..b).contains(&y)
        };
        // 127 parts of 255 of the upper colour, 128 of the lower one, rounded.
        let mix = |below: [u8; 3]| {
            let above = [0.0, 80.0, 240.0];
            [0, 1, 2].map(|i| {
                let parts = f64::from(below[i]) * 128.0 + above[i] * 127.0;
                (parts / 255.0).round() as u8
            })
        };
        for (i, pixel) in got.iter().enumerate() {
            let (x, y) = (i % WIDTH, i / WIDTH);
            let reds = [
                [2, 1, 5, 3],
                [0, 20, 2, 22],
                [57, 0, 60, 4],
                [30, 48, 32, 50],
            ];
            let below = match reds.iter().any(|r| within(x, y, *r)) {
                true => [200, 40, 0],
                false => [255; 3],
            };
            let expected = match within(x, y, [4, 2, 8, 6]) {
                true => mix(below),
                false => below,
            };
            assert_eq!(*pixel, expected, "{x} {y}");
        }
    }

    /// A line of two pixels' width is dark for 11 pixels and not for 6.
    #[test]
    fn formula_a_dashed_line_has_the_dashes_of_its_pattern() {
        let got = pixels(vec![Shape::Line {
            points: vec![[5.0, 10.0], [50.0, 10.0]],
            colour: Colour(0, 0, 0),
            width_px: 2.0,
            dash: Dash::Dashed,
        }]);
        for (i, pixel) in got.iter().enumerate() {
            let (x, y) = (i % WIDTH, i / WIDTH);
            let dark = (9..11).contains(&y) && (5..50).contains(&x) && (x - 5) % 17 < 11;
            let expected = if dark { [0; 3] } else { [255; 3] };
            assert_eq!(*pixel, expected, "{x} {y}");
        }
    }

    /// Left, top, right and bottom of the dark pixels of the letter L at (30, 25).
    fn letter(anchor: Anchor, upwards: bool) -> [i32; 4] {
        let got = pixels(vec![Shape::Text {
            at: [30.0, 25.0],
            text: "L".into(),
            size_px: 20.0,
            anchor,
            upwards,
            colour: Colour(0, 0, 0),
        }]);
        let dark = (0..got.len()).filter(|i| got[*i][0] < 128);
        dark.map(|i| ((i % WIDTH) as i32, (i / WIDTH) as i32))
            .fold([99, 99, -1, -1], |[l, t, r, b], (x, y)| {
                [l.min(x), t.min(y), r.max(x), b.max(y)]
            })
    }

    /// An L stands on its base line, as high as capital letters of the font are (0.711 em). Turned upwards its height is
    /// its width, to the left of its base line; its anchor moves it along the base line by its width.
    #[test]
    fn model_texts_stand_where_their_anchor_says() {
        let near = |a: i32, b: f64| (f64::from(a) - b).abs() <= 1.0;
        let width = Font::new().width("L", 20.0);
        let [left, top, right, bottom] = letter(Anchor::Start, false);
        assert!(
            left >= 30 && near(right, 30.0 + width - 1.0),
            "{left} {right}"
        );
        assert_eq!(bottom, 24);
        assert!(near(bottom - top + 1, 0.711 * 20.0), "{top}");
        for (anchor, shift) in [(Anchor::Middle, 0.5 * width), (Anchor::End, width)] {
            let moved = letter(anchor, false);
            assert!(near(moved[0], f64::from(left) - shift), "{moved:?}");
            assert!(near(moved[2], f64::from(right) - shift), "{moved:?}");
            assert_eq!((moved[1], moved[3]), (top, bottom));
        }
        // What is d to the right of (30, 25) is d above it, and what is d above is d to the left.
        let turned = letter(Anchor::Start, true);
        let expected = [30 - (25 - top), 25 - (right - 30) - 1, 29, 24 - (left - 30)];
        for (a, b) in turned.into_iter().zip(expected) {
            assert!(near(a, f64::from(b)), "{turned:?} {expected:?}");
        }
    }

    /// A header says width, height and eight bits of three colours; 223 pixels an inch are 8,780 a metre.
    #[test]
    fn formula_the_header_says_size_and_resolution() {
        let png = Canvas::new((300, 2)).encode();
        assert_eq!(&png[16..29], [0, 0, 1, 44, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
        let at = png.windows(4).position(|w| w == b"pHYs").unwrap() + 4;
        let metre = 8_780_u32.to_be_bytes();
        assert_eq!(png[at..at + 4], metre);
        assert_eq!(png[at + 4..at + 8], metre);
        assert_eq!(png[at + 8], 1);
    }
}
