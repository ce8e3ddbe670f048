//! A drawing as SVG: shapes, and texts made of outlines that are defined once.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::font::{Font, Segment, plain};
use super::{Anchor, Colour, Dash, Drawing, PX_PER_INCH, Shape};

/// The text of an SVG file.
pub fn render(drawing: &Drawing) -> String {
    let font = Font::new();
    let (width, height) = drawing.size_px;
    let inches = |px: u32| number(px as f64 / PX_PER_INCH, 3);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}in\" height=\"{}in\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n",
        inches(width),
        inches(height)
    );
    out += &format!("<title>{}</title>\n", escaped(&plain(&drawing.title)));
    out += &glyphs(&font, drawing);
    out += &format!("<path fill=\"#fff\" d=\"M0 0H{width}V{height}H0Z\"/>\n");
    for shape in &drawing.shapes {
        match shape {
            Shape::Line {
                points,
                colour,
                width_px,
                dash,
            } => {
                let dash = dashes(*dash);
                out += &format!(
                    "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash} d=\"{}\"/>\n",
                    hex(*colour),
                    number(*width_px, 2),
                    path(points)
                );
            }
            Shape::Area {
                points,
                colour,
                opacity,
            } => {
                let opacity = match *opacity {
                    1.0 => String::new(),
                    o => format!(" fill-opacity=\"{}\"", number(o, 3)),
                };
                out += &format!(
                    "<path fill=\"{}\"{opacity} d=\"{}Z\"/>\n",
                    hex(*colour),
                    path(points)
                );
            }
            Shape::Text { .. } => out += &text(&font, shape),
        }
    }
    out + "</svg>\n"
}

/// Outlines of all glyphs that the drawing's texts have.
fn glyphs(font: &Font, drawing: &Drawing) -> String {
    let mut used = BTreeSet::new();
    for shape in &drawing.shapes {
        if let Shape::Text { text, size_px, .. } = shape {
            used.extend(font.lay(text, *size_px).0.iter().map(|g| g.id));
        }
    }
    let mut out = String::from("<defs>\n");
    for id in used {
        let outline = font.outline(id);
        if !outline.is_empty() {
            let d: String = outline.iter().map(segment).collect();
            out += &format!("<path id=\"g{id}\" d=\"{d}\"/>\n");
        }
    }
    out + "</defs>\n"
}

fn segment(segment: &Segment) -> String {
    let p = |[x, y]: [f64; 2]| format!("{} {}", number(x, 1), number(y, 1));
    match *segment {
        Segment::Move(a) => format!("M{}", p(a)),
        Segment::Line(a) => format!("L{}", p(a)),
        Segment::Quad(a, b) => format!("Q{} {}", p(a), p(b)),
        Segment::Cubic(a, b, c) => format!("C{} {} {}", p(a), p(b), p(c)),
        Segment::Close => "Z".into(),
    }
}

fn text(font: &Font, shape: &Shape) -> String {
    let Shape::Text {
        at: [x, y],
        text,
        size_px,
        anchor,
        upwards,
        colour,
    } = shape
    else {
        return String::new();
    };
    let (glyphs, width) = font.lay(text, *size_px);
    let turn = if *upwards { " rotate(-90)" } else { "" };
    let start = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * width,
        Anchor::End => -width,
    };
    let mut out = format!(
        "<g aria-label=\"{}\" fill=\"{}\" transform=\"translate({} {}){turn}\">",
        escaped(&plain(text)),
        hex(*colour),
        number(*x, 2),
        number(*y, 2),
    );
    for g in glyphs {
        if font.outline(g.id).is_empty() {
            continue;
        }
        write!(
            out,
            "<use href=\"#g{}\" transform=\"translate({} {}) scale({})\"/>",
            g.id,
            number(start + g.x, 2),
            number(g.y, 2),
            number(g.size_px / font.units(), 6)
        )
        .expect("writing to a string succeeds");
    }
    out + "</g>\n"
}

fn path(points: &[[f64; 2]]) -> String {
    let mut out = String::new();
    for (i, [x, y]) in points.iter().enumerate() {
        out.push(if i == 0 { 'M' } else { 'L' });
        out += &number(*x, 2);
        out.push(' ');
        out += &number(*y, 2);
    }
    out
}

fn dashes(dash: Dash) -> String {
    let lengths: Vec<String> = dash.pattern().iter().map(|l| l.to_string()).collect();
    match lengths.is_empty() {
        true => String::new(),
        false => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
    }
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A number with at most so many decimals, and no noughts at its end.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_numbers() {
        let of = [0.0, -0.001, 1.5, 100.0, 2.0 / 3.0].map(|v| number(v, 2));
        assert_eq!(of, ["0", "0", "1.5", "100", "0.67"]);
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
