//! Arguments that promise that nothing else reaches what is written through them.

use super::{Shader, WORDS, WORDS_DECORATIONS};

const COPY: &str = "
%from = OpAccessChain %p_uint %b0 %0 %i
%v = OpLoad %uint %from
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %v
";

/// By argument.
fn promised(decorations: &str, body: &'static str) -> Vec<bool> {
    let shader = Shader {
        decorations: format!("{WORDS_DECORATIONS}{decorations}"),
        types: format!("{WORDS}%72 = OpConstant %uint 72\n"),
        body,
        ..Shader::default()
    };
    let module = shader.translate(16).unwrap().module;
    let func = module.functions.values().next_back().unwrap();
    let buffers = func.sig.params.iter().filter(|p| p.kind.name().is_some());
    buffers.map(|p| p.noalias).collect()
}

#[test]
fn buffers_have_nothing_in_common_unless_they_say_so() {
    assert_eq!(promised("", COPY), [true, true]);
    assert_eq!(promised("OpDecorate %b0 Aliased\n", COPY), [false, true]);
    assert_eq!(promised("OpDecorate %b1 Restrict\n", COPY), [true, true]);
}

#[test]
fn nothing_is_promised_where_work_items_of_a_thread_see_what_others_wrote() {
    // Scopes: 2 a work-group, 3 a sub-group; 0x48: acquired and released, of buffers.
    let order = |scope: &str, semantics: &str| -> &'static str {
        let barrier = format!("OpControlBarrier %{scope} %{scope} %{semantics}\n");
        (barrier + COPY).leak()
    };
    assert_eq!(promised("", order("3", "72")), [false, false]);
    assert_eq!(promised("", order("2", "72")), [true, true]);
    assert_eq!(promised("", order("3", "0")), [true, true]);
}
