//! Sampling of cubes: the face that a direction meets, and filters across edges of faces.
//!
//! A surface of type `SURFTYPE_CUBE` has six square faces in the order +x, -x, +y, -y, +z, -z. The
//! face is that of the largest coordinate; the others, divided by it, are the place on the face.
//! Texels beyond an edge are those of the neighbouring face, whatever the addressing mode ("Cube
//! Surface Control Mode": override). Beyond a corner no texel exists: its weight goes to the other
//! three in equal parts.

use super::image::{SimImage, Texel};
use super::sampler::{BELOW_ONE, texel};
use crate::image::{FilterMode, Sampler};

/// Axis in space with its direction.
#[derive(Clone, Copy)]
struct Signed {
    axis: usize,
    negative: bool,
}

const fn plus(axis: usize) -> Signed {
    let negative = false;
    Signed { axis, negative }
}

const fn minus(axis: usize) -> Signed {
    let negative = true;
    Signed { axis, negative }
}

/// Axes along which the columns and the rows of each face go.
const ACROSS: [[Signed; 2]; 6] = [
    [minus(2), minus(1)],
    [plus(2), minus(1)],
    [plus(0), plus(2)],
    [plus(0), minus(2)],
    [plus(0), minus(1)],
    [minus(0), minus(1)],
];

/// Returns the number of the face in the direction of an axis.
const fn face_of(axis: usize, negative: bool) -> usize {
    2 * axis + negative as usize
}

/// Returns the face that a direction meets and the place on it, from 0 to 1.
fn project(direction: [f32; 3]) -> (usize, [f32; 2]) {
    let [x, y, z] = direction.map(f32::abs);
    let axis = if z >= x && z >= y {
        2
    } else if y >= x {
        1
    } else {
        0
    };
    let along = direction[axis];
    let face = face_of(axis, along.is_sign_negative());
    let place = ACROSS[face].map(|a| {
        let c = if a.negative {
            -direction[a.axis]
        } else {
            direction[a.axis]
        };
        0.5 * (c / along.abs()) + 0.5
    });
    (face, place)
}

/// Returns the length in texels of a step along the face that a direction meets: the derivative of
/// the place on the face.
pub(super) fn step(direction: [f32; 3], step: [f32; 3], size: f32) -> f32 {
    let (face, _) = project(direction);
    let axis = face / 2;
    let along = direction[axis];
    let squares = ACROSS[face].map(|a| {
        let place = direction[a.axis] / along;
        let change = (step[a.axis] - place * step[axis]) / along;
        (0.5 * size * change).powi(2)
    });
    squares.into_iter().sum::<f32>().sqrt()
}

/// Returns the column, row and face of the texel that is one beyond an edge of a face. All is in
/// halves of a texel from the cube's middle, so it is exact.
fn beyond(face: usize, place: [i64; 2], size: i64) -> [i64; 3] {
    let mut point = [0; 3];
    let own = Signed {
        axis: face / 2,
        negative: face % 2 == 1,
    };
    // The middle of the texel lies in the neighbour's plane, half a texel inside of this one's.
    let mut to = own;
    for (a, c) in ACROSS[face].into_iter().zip(place) {
        let v = 2 * c + 1 - size;
        let v = if a.negative { -v } else { v };
        if v.abs() > size {
            to = Signed {
                axis: a.axis,
                negative: v < 0,
            };
        } else {
            point[a.axis] = v;
        }
    }
    point[own.axis] = if own.negative { 1 - size } else { size - 1 };
    let face = face_of(to.axis, to.negative);
    let [x, y] = ACROSS[face].map(|a| {
        let v = point[a.axis];
        let v = if a.negative { -v } else { v };
        (v + size - 1) / 2
    });
    [x, y, face as i64]
}

/// Samples a cube, or a cube of an array, in a direction, and compares with a reference if there is
/// one.
pub(super) fn sample(
    image: &SimImage,
    s: &Sampler,
    filter: FilterMode,
    (direction, index): ([f32; 3], f32),
    reference: Option<f32>,
) -> Texel {
    let (face, place) = project(direction);
    let size = i64::from(image.extent[0]);
    let cubes = i64::from(image.extent[2] / 6).max(1);
    let cube = (index.round_ties_even() as i64).clamp(0, cubes - 1);
    let at = |[x, y, face]: [i64; 3]| texel(image, s, [x, y, 6 * cube + face], reference);
    let places = place.map(|c| c * size as f32);
    if filter == FilterMode::Nearest {
        let [x, y] = places.map(|c| (c.floor() as i64).clamp(0, size - 1));
        return at([x, y, face as i64]);
    }
    let axes = places.map(|c| {
        let from = c - 0.5;
        let floor = from.floor();
        (floor as i64, (from - floor).min(BELOW_ONE))
    });
    let mut texels = [([0; 3], 0.0); 4];
    let (mut count, mut missing) = (0, 0.0);
    for corner in 0..4i64 {
        let second = [corner & 1, corner >> 1];
        let mut weight = 1.0;
        let mut place = [0; 2];
        for ((p, (first, w)), second) in place.iter_mut().zip(axes).zip(second) {
            *p = first + second;
            weight *= if second == 1 { w } else { 1.0 - w };
        }
        let inside = place.map(|c| (0..size).contains(&c));
        let found = match inside {
            [true, true] => [place[0], place[1], face as i64],
            [false, false] => {
                missing = weight / 3.0;
                continue;
            }
            _ => beyond(face, place, size),
        };
        texels[count] = (found, weight);
        count += 1;
    }
    let mut sum = [0f32; 4];
    for (place, weight) in texels.into_iter().take(count) {
        let weight = weight + missing;
        if weight != 0.0 {
            for (sum, t) in sum.iter_mut().zip(at(place).map(f32::from_bits)) {
                *sum += t * weight;
            }
        }
    }
    sum.map(f32::to_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Going over an edge and back again ends at the same texel.
    #[test]
    fn edges_fit_together() {
        for size in [1, 2, 5] {
            for face in 0..6 {
                for i in 0..size {
                    let edges = [[-1, i], [size, i], [i, -1], [i, size]];
                    let own = [[0, i], [size - 1, i], [i, 0], [i, size - 1]];
                    for (edge, own) in edges.into_iter().zip(own) {
                        let [x, y, other] = beyond(face, edge, size);
                        let steps = [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]];
                        let out = steps.into_iter().filter(|p| {
                            let inside = |c: &i64| (0..size).contains(c);
                            !p.iter().all(inside)
                        });
                        let mut back = out.map(|p| beyond(other as usize, p, size));
                        assert!(
                            back.any(|b| b == [own[0], own[1], face as i64]),
                            "{face} {edge:?} of {size}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn directions_along_axes_meet_middles() {
        for axis in 0..3 {
            for negative in [false, true] {
                let mut d = [0.0; 3];
                d[axis] = if negative { -2.0 } else { 2.0 };
                assert_eq!(project(d), (face_of(axis, negative), [0.5; 2]));
            }
        }
    }
}
