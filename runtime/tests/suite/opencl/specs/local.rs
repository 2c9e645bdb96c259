//! Shared local memory, barriers and work-group functions.

use super::super::case::{Case, Memory, any, within, zero};

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("local", kernel);
    let groups = [
        ("of 8", 8),
        ("of 32", 32),
        ("of 64", 64),
        ("of 128", 128),
        ("of 256", 256),
    ];
    let sums = groups.map(|(label, n)| {
        case("block_sum")
            .label(label)
            .line(5 * n, n)
            .buffer::<f32>(5 * n as usize, within(-1.0, 1.0))
            .buffer::<f32>(5, zero)
            .local::<f32>(n as usize)
    });
    let sizes = [
        ("of a tile", [16, 16], [16, 16]),
        ("of tiles", [32, 48], [32, 48]),
        ("with edges", [48, 32], [40, 30]),
    ];
    let transposes = sizes.map(|(label, [x, y], [w, h]): (_, [u32; 2], [i32; 2])| {
        case("transpose")
            .label(label)
            .grid([x, y, 1], [16, 16, 1])
            .buffer::<f32>((w * h) as usize, zero)
            .buffer::<f32>((w * h) as usize, within(0.0, 1.0))
            .scalar(w)
            .scalar(h)
    });
    let others = vec![
        case("scan_hillis")
            .line(384, 128)
            .buffer::<u32>(384, any)
            .buffer::<u32>(384, zero)
            .local::<u32>(128)
            .local::<u32>(128),
        case("exchange")
            .line(192, 64)
            .buffer::<i32>(192, any)
            .scalar(9),
        case("bitonic")
            .line(512, 256)
            .buffer::<u32>(512, any)
            .local::<u32>(256),
        case("group_functions")
            .line(256, 64)
            .buffer::<i32>(256, zero)
            .buffer::<i32>(256, within(-1000.0, 1000.0))
            .expect(group_functions),
        case("local_small_types")
            .line(192, 64)
            .buffer::<u8>(192, zero)
            .buffer::<u16>(192, any)
            .local::<u8>(64)
            .local::<u16>(64)
            .local::<u64>(64),
        case("local_vectors")
            .line(128, 64)
            .buffer::<f32>(512, zero)
            .buffer::<f32>(512, within(-1.0, 1.0))
            .local::<f32>(256),
    ];
    sums.into_iter().chain(transposes).chain(others).collect()
}

fn group_functions(m: &mut Memory, _: u32) {
    let x: Vec<i32> = m.get(1);
    m.fill(0, |i| {
        let (group, l) = (&x[i / 64 * 64..][..64], i % 64);
        let sum = group.iter().sum::<i32>() + group[..l].iter().sum::<i32>();
        let most = group[..=l].iter().max().unwrap();
        let all = i32::from(group.iter().all(|v| *v > 0));
        let any = i32::from(group.iter().any(|v| *v < 0));
        sum + most + group[3] + all + 2 * any
    });
}
