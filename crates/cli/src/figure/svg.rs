//! A drawing as SVG: shapes and texts.

use super::font::{Font, RAISED, plain};
use super::{Anchor, Colour, Dash, Drawing, PX_PER_INCH, Shape};

/// The text of an SVG file.
pub fn render(drawing: &Drawing) -> String {
    let font = Font::new();
    let (width, height) = drawing.size_px;
    let inches = |px: u32| number(px as f64 / PX_PER_INCH, 3);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}in\" height=\"{}in\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"Roboto, Helvetica, Arial, sans-serif\">\n",
        inches(width),
        inches(height)
    );
    out += &format!("<title>{}</title>\n", escaped(&plain(&drawing.title)));
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

/// A text as text: it can be searched, selected and read aloud. Its length is that of the font by which the figure was laid out,
/// so that another font takes no more room.
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
    let (x, y) = (number(*x, 2), number(*y, 2));
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turn = match upwards {
        true => format!(" transform=\"rotate(-90 {x} {y})\""),
        false => String::new(),
    };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{anchor}{turn} textLength=\"{}\" \
         lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
        number(*size_px, 2),
        hex(*colour),
        number(font.width(text, *size_px), 1),
        spans(text, *size_px),
    )
}

/// `text` of `size_px`, with what is raised in spans.
fn spans(text: &str, size_px: f64) -> String {
    let (size, rise) = (number(size_px * RAISED.0, 2), number(size_px * RAISED.1, 2));
    let mut out = String::new();
    let mut parts = text.split("^{");
    out += &escaped(parts.next().unwrap_or_default());
    for part in parts {
        // A span moves all that follows, so what comes after it is moved back.
        let (raised, rest) = part.split_once('}').unwrap_or((part, ""));
        out += &format!(
            "<tspan dy=\"-{rise}\" font-size=\"{size}\">{}</tspan>",
            escaped(raised)
        );
        if !rest.is_empty() {
            out += &format!("<tspan dy=\"{rise}\">{}</tspan>", escaped(rest));
        }
    }
    out
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
    fn formula_what_is_raised_is_a_span() {
        assert_eq!(spans("a < b", 10.0), "a &lt; b");
        assert_eq!(
            spans("5·10^{−4} x", 10.0),
            "5·10<tspan dy=\"-3.8\" font-size=\"7.2\">−4</tspan><tspan dy=\"3.8\"> x</tspan>"
        );
        assert!(spans("10^{2}", 10.0).ends_with(">2</tspan>"));
    }

    #[test]
    fn golden_numbers() {
        let of = [0.0, -0.001, 1.5, 100.0, 2.0 / 3.0].map(|v| number(v, 2));
        assert_eq!(of, ["0", "0", "1.5", "100", "0.67"]);
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
    }
}
