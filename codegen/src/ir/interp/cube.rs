//! Cubes of the interpreter: the face of a direction, and filters over the edges of faces.
//!
//! Faces and their axes are those of Vulkan ("Cube Map Face Selection"). A texel beyond an edge is
//! the one of the neighbouring face there. Beyond a corner there is none: its weight goes to the
//! other three in equal parts.

/// Axes of a face: those of its columns, of its rows, and its own, with their signs. Axes are 0 to
/// 2 for x, y and z.
const FACES: [[(usize, f64); 3]; 6] = [
    [(2, -1.0), (1, -1.0), (0, 1.0)],
    [(2, 1.0), (1, -1.0), (0, -1.0)],
    [(0, 1.0), (2, 1.0), (1, 1.0)],
    [(0, 1.0), (2, -1.0), (1, -1.0)],
    [(0, 1.0), (1, -1.0), (2, 1.0)],
    [(0, -1.0), (1, -1.0), (2, -1.0)],
];

/// Texel of a cube: its column, row and face.
pub(super) type CubeTexel = [i64; 3];

/// Returns the face of a direction, and the place on it, from 0 to 1.
fn face(direction: [f32; 3]) -> (usize, [f32; 2]) {
    let [x, y, z] = direction.map(f32::abs);
    // Ties go to z, then to y.
    let axis = match () {
        () if z >= x && z >= y => 2,
        () if y >= x => 1,
        () => 0,
    };
    let along = direction[axis];
    let face = 2 * axis + usize::from(along.is_sign_negative());
    let [s, t, _] = FACES[face].map(|(axis, sign)| direction[axis] * sign as f32);
    (face, [s, t].map(|c| 0.5 * (c / along.abs()) + 0.5))
}

/// Returns the texel beyond one edge of a face, as that of the neighbouring face.
fn neighbour(face: usize, [x, y]: [i64; 2], size: i64) -> CubeTexel {
    let n = size as f64;
    let mut point = [0.0; 3];
    let [s, t] = [x, y].map(|c| (2.0 * c as f64 + 1.0) / n - 1.0);
    for ((axis, sign), v) in FACES[face].into_iter().zip([s, t, 1.0]) {
        point[axis] = sign * v;
    }
    let largest = |a: usize| point.iter().all(|p| p.abs() <= point[a].abs());
    let axis = (0..3).find(|a| largest(*a)).unwrap_or(2);
    let face = 2 * axis + usize::from(point[axis] < 0.0);
    let place = |n: usize| {
        let (of, sign) = FACES[face][n];
        let c = point[of] * sign / point[axis].abs();
        (((c + 1.0) * 0.5 * size as f64).floor() as i64).clamp(0, size - 1)
    };
    [place(0), place(1), face as i64]
}

/// Returns the texels that a direction selects, with their weights.
pub(super) fn texels(direction: [f32; 3], size: u32, linear: bool) -> Vec<(CubeTexel, f32)> {
    let (face, place) = face(direction);
    let (n, of) = (i64::from(size), size as f32);
    if !linear {
        let [x, y] = place.map(|c| ((c * of).floor() as i64).clamp(0, n - 1));
        return vec![([x, y, face as i64], 1.0)];
    }
    let [(x, wx), (y, wy)] = place.map(|c| {
        let from = c * of - 0.5;
        (from.floor() as i64, from - from.floor())
    });
    let mut out = Vec::new();
    let mut missing = 0.0;
    for corner in 0..4i64 {
        let (right, down) = (corner & 1, corner >> 1);
        let weight = |w: f32, second: i64| if second == 1 { w } else { 1.0 - w };
        let weight = weight(wx, right) * weight(wy, down);
        let at = [x + right, y + down];
        match at.map(|c| (0..n).contains(&c)) {
            [false, false] => missing = weight,
            [true, true] => out.push(([at[0], at[1], face as i64], weight)),
            _ => out.push((neighbour(face, at, n), weight)),
        }
    }
    for (_, w) in &mut out {
        *w += missing / 3.0;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_an_edge() {
        for size in [1, 2, 3, 7] {
            for face in 0..6 {
                for i in 0..size {
                    for at in [[-1, i], [size, i], [i, -1], [i, size]] {
                        let [x, y, other] = neighbour(face, at, size);
                        assert_ne!(face / 2, other as usize / 2);
                        // It lies at the edge towards the first face.
                        let edges = [x, y].map(|c| c == 0 || c == size - 1);
                        assert!(edges[0] || edges[1], "{face} {at:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn axes_are_middles_of_faces() {
        for axis in 0..3 {
            for (n, sign) in [1.0, -1.0].into_iter().enumerate() {
                let mut d = [0.0; 3];
                d[axis] = 3.0 * sign;
                assert_eq!(face(d), (2 * axis + n, [0.5; 2]));
            }
        }
    }
}
