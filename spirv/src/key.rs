//! Keys of a compile cache: from the source, so that a lookup does not parse it.

use crate::SpecValue;
use crate::options::Options;
use crate::options::Simd;
use gantry_codegen::{CacheKey, CompileOptions};

/// Version of the front end: that of the package, and a fingerprint of its sources.
const VERSION: &str = concat!(
    "spirv ",
    env!("CARGO_PKG_VERSION"),
    "+",
    env!("GANTRY_SPIRV_SOURCES")
);

/// Key of a SPIR-V module with options of the front end and of the compiler. `options.target` is
/// ignored in favor of `target`.
pub fn cache_key(words: &[u32], options: &Options, target: &CompileOptions) -> CacheKey {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    CacheKey::of_source(VERSION, &[b"spirv", &written(options), &bytes], target)
}

/// Key of a WGSL text with options of the front end and of the compiler. `options.target` is
/// ignored in favor of `target`.
#[cfg(feature = "wgsl")]
pub fn wgsl_cache_key(text: &str, options: &Options, target: &CompileOptions) -> CacheKey {
    let parts: [&[u8]; 3] = [b"wgsl", &written(options), text.as_bytes()];
    CacheKey::of_source(VERSION, &parts, target)
}

/// Serializes options: fields in order, strings and lists after their lengths.
fn written(options: &Options) -> Vec<u8> {
    // Destructured, so that a new field does not compile until it is handled here.
    let Options {
        simd,
        target: _,
        kernel,
        spec_constants,
        constants,
        robust,
        binding_arrays,
        may_alias,
        exact_division,
        exact_sums,
        source_name,
        inline,
    } = options;
    let mut out = Vec::new();
    let width = match simd {
        Simd::Auto => 0,
        Simd::Width(n) => *n,
    };
    out.extend(width.to_le_bytes());
    out.push(u8::from(kernel.is_some()));
    text(&mut out, kernel.as_deref().unwrap_or(""));
    length(&mut out, spec_constants.len());
    for (id, bits) in spec_constants {
        out.extend(id.to_le_bytes());
        out.extend(bits.to_le_bytes());
    }
    length(&mut out, constants.len());
    for (name, value) in constants {
        text(&mut out, name);
        match value {
            SpecValue::Bool(b) => out.extend([0, u8::from(*b)]),
            SpecValue::Int(i) => {
                out.push(1);
                out.extend(i.to_le_bytes());
            }
            SpecValue::Float(f) => {
                out.push(2);
                out.extend(f.to_bits().to_le_bytes());
            }
        }
    }
    out.push(robust.map_or(2, u8::from));
    length(&mut out, binding_arrays.len());
    for ((set, binding), count) in binding_arrays {
        out.extend(
            [*set, *binding, *count]
                .map(u32::to_le_bytes)
                .as_flattened(),
        );
    }
    out.push(u8::from(*may_alias));
    out.push(u8::from(*exact_division));
    out.push(u8::from(*exact_sums));
    out.push(u8::from(source_name.is_some()));
    text(&mut out, source_name.as_deref().unwrap_or(""));
    text(&mut out, inline.name());
    out
}

fn length(out: &mut Vec<u8>, n: usize) {
    out.extend((n as u64).to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    length(out, text.len());
    out.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_asked_for_counts() {
        let target = CompileOptions::for_target("skl").unwrap();
        let plain = Options::default();
        let mut all = vec![
            cache_key(&[1, 2], &plain, &target),
            cache_key(&[1, 3], &plain, &target),
            cache_key(&[1, 2], &plain, &CompileOptions::for_target("dg2").unwrap()),
        ];
        let mut with = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            all.push(cache_key(&[1, 2], &options, &target));
        };
        with(|o| o.simd = Simd::Width(16));
        with(|o| o.kernel = Some(String::new()));
        with(|o| o.kernel = Some("k".to_owned()));
        with(|o| o.spec_constants = [(1, 2)].into());
        with(|o| o.constants = [("1".to_owned(), SpecValue::Int(2))].into());
        with(|o| o.constants = [("1".to_owned(), SpecValue::Float(2.0))].into());
        with(|o| o.robust = Some(false));
        with(|o| o.robust = Some(true));
        with(|o| o.binding_arrays = [((0, 1), 2)].into());
        with(|o| o.binding_arrays = [((1, 0), 2)].into());
        with(|o| o.may_alias = true);
        with(|o| o.exact_division = true);
        with(|o| o.exact_sums = true);
        with(|o| o.source_name = Some("k.wgsl".to_owned()));
        with(|o| o.inline = gantry_codegen::Inline::Never);
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        let mut of_target = plain.clone();
        of_target.target = Some(target.clone());
        let same = cache_key(&[1, 2], &of_target, &target);
        assert_eq!(same, cache_key(&[1, 2], &plain, &target));
    }
}
