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
                if x < 0 || y < 0 || x >= self.width as i32 || y >= self.height as i32 {
                    continue;
                }
                let cover = mask[(row * place.width + column) as usize] as u32 * opacity / 256;
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
