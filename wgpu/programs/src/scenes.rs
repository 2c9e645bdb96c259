//! Scenes of vello.

use crate::network::numbers;
use epaint_default_fonts::UBUNTU_LIGHT;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::error::Error;
use std::sync::Arc;
use vello::kurbo::{Affine, BezPath, Cap, Circle, Ellipse, Join, Point, Rect, RoundedRect, Stroke};
use vello::peniko::color::palette::css;
use vello::peniko::{
    BlendMode, Blob, Color, Compose, Extend, Fill, FontData, Gradient, ImageAlphaType, ImageBrush,
    ImageData, ImageFormat, ImageQuality, Mix,
};
use vello::{Glyph, Scene};

/// Width and height of the pictures.
pub const SIZE: u32 = 256;

const HERE: Affine = Affine::IDENTITY;

/// Scenes by name.
///
/// # Errors
/// The font cannot be read.
pub fn all() -> Result<Vec<(&'static str, Scene)>, Box<dyn Error>> {
    let make = |draw: fn(&mut Scene)| {
        let mut scene = Scene::new();
        draw(&mut scene);
        scene
    };
    let mut words = Scene::new();
    text(&mut words)?;
    Ok(vec![
        ("empty", Scene::new()),
        ("gradients", make(gradients)),
        ("joins", make(joins)),
        ("dashes", make(dashes)),
        ("clips", make(clips)),
        ("blends", make(blends)),
        ("images", make(images)),
        ("text", words),
        ("layers", make(layers)),
        ("far", make(far)),
        ("blurs", make(blurs)),
        ("many", make(many)),
    ])
}

fn tile(n: usize, columns: usize, size: f64) -> Affine {
    Affine::translate(((n % columns) as f64 * size, (n / columns) as f64 * size))
}

fn gradients(scene: &mut Scene) {
    let colors = [
        css::ORANGE_RED,
        css::GOLD,
        css::DARK_CYAN,
        css::REBECCA_PURPLE,
    ];
    let kinds = [
        Gradient::new_linear((20.0, 20.0), (60.0, 50.0)),
        Gradient::new_radial((40.0, 40.0), 25.0),
        Gradient::new_two_point_radial((34.0, 30.0), 6.0, (46.0, 52.0), 27.0),
        Gradient::new_sweep((40.0, 40.0), 0.5, 3.5),
    ];
    let extends = [Extend::Pad, Extend::Repeat, Extend::Reflect];
    for (row, extend) in extends.into_iter().enumerate() {
        for (column, kind) in kinds.iter().enumerate() {
            let brush = kind.clone().with_extend(extend).with_stops(colors);
            let at = Affine::translate((column as f64 * 64.0 - 8.0, row as f64 * 84.0));
            let shape = RoundedRect::new(12.0, 8.0, 68.0, 80.0, 10.0);
            scene.fill(Fill::NonZero, at, &brush, None, &shape);
        }
    }
}

fn zigzag() -> BezPath {
    let mut path = BezPath::new();
    path.move_to((12.0, 60.0));
    path.line_to((30.0, 20.0));
    path.line_to((44.0, 60.0));
    path.curve_to((50.0, 0.0), (70.0, 100.0), (72.0, 24.0));
    path
}

fn joins(scene: &mut Scene) {
    let joins = [Join::Miter, Join::Round, Join::Bevel];
    let caps = [Cap::Butt, Cap::Round, Cap::Square];
    let colors = [css::CRIMSON, css::SEA_GREEN, css::ROYAL_BLUE];
    for n in 0..9 {
        let style = Stroke::new(4.0 + n as f64)
            .with_join(joins[n % 3])
            .with_caps(caps[n / 3]);
        scene.stroke(&style, tile(n, 3, 84.0), colors[n % 3], None, &zigzag());
        scene.stroke(
            &Stroke::new(1.0),
            tile(n, 3, 84.0),
            css::WHITE,
            None,
            &zigzag(),
        );
    }
    // A closed path, a hairline, and a stroke that a transform makes wider on one side.
    let skewed = Affine::new([1.5, 0.4, 0.0, 0.5, 60.0, 60.0]);
    let ring = Ellipse::new((40.0, 80.0), (50.0, 30.0), 0.3);
    scene.stroke(
        &Stroke::new(6.0),
        skewed,
        css::GOLD.with_alpha(0.7),
        None,
        &ring,
    );
    scene.stroke(
        &Stroke::new(0.2),
        HERE,
        css::WHITE,
        None,
        &Rect::new(2.5, 2.5, 253.5, 253.5),
    );
}

fn dashes(scene: &mut Scene) {
    let patterns: [&[f64]; 4] = [&[12.0, 6.0], &[1.0, 9.0], &[20.0, 4.0, 2.0, 4.0], &[0.5]];
    for (n, pattern) in patterns.iter().enumerate() {
        for (m, cap) in [Cap::Butt, Cap::Round].into_iter().enumerate() {
            let style = Stroke::new(5.0)
                .with_caps(cap)
                .with_dashes(n as f64 * 3.0, *pattern);
            let at = Affine::translate((m as f64 * 128.0, n as f64 * 62.0));
            scene.stroke(&style, at, css::DEEP_SKY_BLUE, None, &zigzag());
            let ring = Circle::new((96.0, 36.0), 22.0);
            scene.stroke(&style, at, css::SANDY_BROWN, None, &ring);
        }
    }
}

fn star(center: Point, radius: f64) -> BezPath {
    let mut path = BezPath::new();
    for n in 0..5 {
        let (sin, cos) = (f64::from(n) * 4.0 * std::f64::consts::PI / 5.0).sin_cos();
        let to = Point::new(center.x + radius * sin, center.y - radius * cos);
        match n {
            0 => path.move_to(to),
            _ => path.line_to(to),
        }
    }
    path.close_path();
    path
}

fn clips(scene: &mut Scene) {
    let middle = Point::new(128.0, 128.0);
    scene.push_clip_layer(Fill::NonZero, HERE, &Circle::new(middle, 120.0));
    scene.push_clip_layer(Fill::EvenOdd, HERE, &star(middle, 126.0));
    for n in 0..32 {
        let color = if n % 2 == 0 { css::TOMATO } else { css::KHAKI };
        let stripe = Rect::new(f64::from(n) * 8.0, 0.0, f64::from(n) * 8.0 + 8.0, 256.0);
        scene.fill(Fill::NonZero, Affine::skew(0.1, 0.0), color, None, &stripe);
    }
    scene.pop_layer();
    let ring = Stroke::new(14.0);
    scene.push_clip_layer(&ring, HERE, &Circle::new(middle, 60.0));
    scene.fill(
        Fill::NonZero,
        HERE,
        css::MEDIUM_ORCHID,
        None,
        &Rect::new(0.0, 100.0, 256.0, 256.0),
    );
    scene.pop_layer();
    // Nothing is left of what is clipped to nothing.
    scene.push_clip_layer(Fill::NonZero, HERE, &Rect::new(9.0, 9.0, 9.0, 9.0));
    scene.fill(
        Fill::NonZero,
        HERE,
        css::WHITE,
        None,
        &Rect::new(0.0, 0.0, 256.0, 256.0),
    );
    scene.pop_layer();
    scene.pop_layer();
}

fn blends(scene: &mut Scene) {
    let mixes = [
        Mix::Normal,
        Mix::Multiply,
        Mix::Screen,
        Mix::Overlay,
        Mix::Darken,
        Mix::Lighten,
        Mix::ColorDodge,
        Mix::ColorBurn,
        Mix::HardLight,
        Mix::SoftLight,
        Mix::Difference,
        Mix::Exclusion,
        Mix::Hue,
        Mix::Saturation,
        Mix::Color,
        Mix::Luminosity,
    ];
    let composes = [
        Compose::Copy,
        Compose::SrcIn,
        Compose::SrcOut,
        Compose::SrcAtop,
        Compose::DestOver,
        Compose::DestOut,
        Compose::Xor,
        Compose::Plus,
        Compose::PlusLighter,
    ];
    let mixed = mixes.map(BlendMode::from);
    let composed = composes.map(BlendMode::from);
    for (n, blend) in mixed.into_iter().chain(composed).enumerate() {
        let at = tile(n, 5, 51.0);
        let all = Rect::new(0.0, 0.0, 51.0, 51.0);
        scene.push_layer(Fill::NonZero, Mix::Normal, 1.0, at, &all);
        let under = Gradient::new_linear((4.0, 0.0), (44.0, 0.0)).with_stops([
            css::DARK_RED,
            css::GREEN_YELLOW,
            css::MIDNIGHT_BLUE,
        ]);
        scene.fill(
            Fill::NonZero,
            at,
            &under,
            None,
            &Rect::new(4.0, 4.0, 44.0, 34.0),
        );
        scene.push_layer(Fill::NonZero, blend, 0.9, at, &all);
        let over = Gradient::new_linear((0.0, 14.0), (0.0, 46.0)).with_stops([
            css::WHITE,
            css::TEAL,
            css::BLACK,
        ]);
        scene.fill(
            Fill::NonZero,
            at,
            &over,
            None,
            &Rect::new(14.0, 14.0, 48.0, 46.0),
        );
        scene.pop_layer();
        scene.pop_layer();
    }
}

/// Returns a picture of 24 by 16 whose left half fades.
fn picture() -> ImageData {
    let texel = |i: u32| {
        let (x, y) = (i % 24, i / 24);
        let alpha = if x < 12 { x * 21 } else { 255 };
        [
            x * 10,
            y * 16,
            if (x / 4 + y / 4) % 2 == 0 { 200 } else { 40 },
            alpha,
        ]
        .map(|c| c as u8)
    };
    let bytes: Vec<u8> = (0..24 * 16).flat_map(texel).collect();
    ImageData {
        data: Blob::new(Arc::new(bytes)),
        format: ImageFormat::Rgba8,
        alpha_type: ImageAlphaType::Alpha,
        width: 24,
        height: 16,
    }
}

fn images(scene: &mut Scene) {
    let qualities = [ImageQuality::Low, ImageQuality::Medium];
    for (n, quality) in qualities.into_iter().enumerate() {
        let brush = ImageBrush::new(picture()).with_quality(quality);
        let left = n as f64 * 128.0;
        let at = Affine::translate((left + 6.0, 6.0)) * Affine::scale(4.7);
        scene.draw_image(&brush, at);
        let turned = Affine::translate((left + 60.0, 84.0)) * Affine::rotate(0.6);
        scene.draw_image(&brush.clone().with_alpha(0.6), turned * Affine::scale(2.3));
        let tiles = brush.clone().with_x_extend(Extend::Repeat);
        let tiles = tiles.with_y_extend(Extend::Reflect);
        let shape = RoundedRect::new(left + 6.0, 160.0, left + 122.0, 250.0, 18.0);
        let small = Affine::translate((left + 17.0, 171.0)) * Affine::scale(1.3);
        scene.fill(Fill::NonZero, HERE, &tiles, Some(small), &shape);
    }
}

fn text(scene: &mut Scene) -> Result<(), Box<dyn Error>> {
    let data = FontData::new(Blob::new(Arc::new(UBUNTU_LIGHT)), 0);
    let font = FontRef::new(UBUNTU_LIGHT)?;
    let lines = [
        ("Gen code", 44.0),
        ("draws paths,", 30.0),
        ("and text is paths: @&%8g", 16.0),
    ];
    let mut y = 8.0;
    for (n, (line, size)) in lines.into_iter().enumerate() {
        y += size * 1.3;
        let metrics = font.glyph_metrics(Size::new(size), LocationRef::default());
        let mut x = 10.0;
        let glyphs: Vec<Glyph> = line
            .chars()
            .map(|c| {
                let id = font.charmap().map(c).unwrap_or_default();
                let glyph = Glyph {
                    id: id.to_u32(),
                    x,
                    y,
                };
                x += metrics.advance_width(id).unwrap_or_default();
                glyph
            })
            .collect();
        scene
            .draw_glyphs(&data)
            .font_size(size)
            .transform(Affine::skew(0.1 * n as f64, 0.0))
            .brush(css::WHITE_SMOKE)
            .draw(Fill::NonZero, glyphs.clone().into_iter());
        let lower = Affine::translate((0.0, 120.0));
        scene
            .draw_glyphs(&data)
            .font_size(size)
            .transform(lower)
            .brush(css::CORAL)
            .draw(&Stroke::new(1.2), glyphs.into_iter());
    }
    Ok(())
}

fn layers(scene: &mut Scene) {
    // Ten layers in each other, half of which have a group's opacity.
    for n in 0..10 {
        let inset = f64::from(n) * 12.0;
        let shape = RoundedRect::new(inset, inset, 256.0 - inset, 256.0 - inset, 20.0);
        let alpha = if n % 2 == 0 { 0.8 } else { 1.0 };
        scene.push_layer(Fill::NonZero, Mix::Normal, alpha, HERE, &shape);
        let color = Color::from_rgb8(40 + 20 * n as u8, 220 - 18 * n as u8, 128);
        let turned = Affine::rotate_about(0.1 * f64::from(n), (128.0, 128.0));
        let bar = Rect::new(0.0, inset, 256.0, 240.0 - inset);
        scene.fill(Fill::NonZero, turned, color, None, &bar);
    }
    for _ in 0..10 {
        scene.pop_layer();
    }
    // The brightness of a ring is the alpha of a square.
    let all = Rect::new(90.0, 90.0, 250.0, 250.0);
    scene.push_layer(Fill::NonZero, Mix::Normal, 1.0, HERE, &all);
    scene.fill(Fill::NonZero, HERE, css::NAVY, None, &all);
    scene.push_luminance_mask_layer(Fill::NonZero, 1.0, HERE, &all);
    let light = Gradient::new_radial((170.0, 170.0), 70.0).with_stops([css::WHITE, css::BLACK]);
    scene.fill(
        Fill::NonZero,
        HERE,
        &light,
        None,
        &Circle::new((170.0, 170.0), 70.0),
    );
    scene.pop_layer();
    scene.pop_layer();
}

fn far(scene: &mut Scene) {
    let all = Rect::new(-1e6, -1e6, 1e6, 1e6);
    scene.fill(Fill::NonZero, HERE, css::DARK_SLATE_GRAY, None, &all);
    let ring = Circle::new((90_128.0, 128.0), 90_000.0);
    scene.stroke(&Stroke::new(30.0), HERE, css::ORANGE, None, &ring);
    // Tiny numbers, which a transform makes large.
    let scale = Affine::translate((60.0, 60.0)) * Affine::scale(4e4);
    let tiny = Rect::new(0.0, 0.0, 0.002, 0.003);
    scene.fill(Fill::NonZero, scale, css::AQUAMARINE, None, &tiny);
    let mut path = BezPath::new();
    path.move_to((-5e4, 200.0));
    path.curve_to((5e4, -8e4), (-5e4, 8e4), (5e4, 40.0));
    scene.stroke(&Stroke::new(5.0), HERE, css::HOT_PINK, None, &path);
    // None of this is seen.
    scene.fill(
        Fill::NonZero,
        HERE,
        css::RED,
        None,
        &Circle::new((4e5, 4e5), 1e3),
    );
    scene.fill(
        Fill::NonZero,
        HERE,
        css::RED,
        None,
        &Rect::new(-2e5, 0.0, -1e5, 256.0),
    );
}

fn blurs(scene: &mut Scene) {
    for n in 0..9 {
        let at = tile(n, 3, 84.0);
        let deviation = 0.5 + n as f64 * 1.5;
        let color = Color::from_rgb8(255 - 25 * n as u8, 90, 60 + 20 * n as u8);
        let shape = Rect::new(20.0, 24.0, 66.0, 60.0);
        scene.draw_blurred_rounded_rect(at, shape, color, n as f64 * 2.0, deviation);
    }
}

fn many(scene: &mut Scene) {
    let random = numbers(11, 400 * 8);
    for (n, r) in random.chunks(8).enumerate() {
        let [x, y] = [r[0], r[1]].map(|v| 128.0 + 120.0 * f64::from(v));
        let color = Color::new([r[2], r[3], r[4], r[5]].map(|v| v * 0.5 + 0.5));
        let size = 4.0 + 12.0 * f64::from(r[6]).abs();
        match n % 3 {
            0 => scene.fill(Fill::NonZero, HERE, color, None, &Circle::new((x, y), size)),
            1 => scene.fill(
                Fill::EvenOdd,
                HERE,
                color,
                None,
                &star(Point::new(x, y), size),
            ),
            _ => {
                let line = vello::kurbo::Line::new((x, y), (x + 3.0 * size, y - size));
                scene.stroke(&Stroke::new(1.0 + size / 6.0), HERE, color, None, &line);
            }
        }
    }
}
