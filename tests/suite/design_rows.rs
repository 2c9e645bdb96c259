//! Page of the design's rows: each row names a file and a filetest that shows it act, or says why
//! there is no place for it, or just what is missing.

use std::collections::HashSet;
use std::path::PathBuf;

/// Most words that say what a row is for.
const LONGEST_PURPOSE: usize = 12;
/// Fewest words of a reason, and of what is missing.
const SHORTEST_REASON: usize = 2;
/// Folders that files of the third column are below.
const SOURCES: [&str; 2] = ["", "codegen/src/"];
/// Folder of filetests.
const FILETESTS: [&str; 1] = ["filetests/filetests/"];

/// Text of a file of the tree, by its path; `None` if there is none.
type Tree<'t> = &'t dyn Fn(&str) -> Option<String>;

/// Cells of a row of a table. A bar after a backslash is text.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.trim().trim_matches('|').chars() {
        if c == '|' && !escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
        escaped = c == '\\';
    }
    cells.iter().map(|c| c.trim().to_string()).collect()
}

/// Code spans of a cell.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns true if a code span of a text has the form of a file's path.
fn is_path(span: &str) -> bool {
    let file = span.split("::").next().unwrap_or(span);
    let endings = [".rs", ".isle", ".gir", ".asm", ".wgsl", ".spvasm"];
    endings.iter().any(|e| file.ends_with(e)) && !file.contains(' ')
}

/// Says what is wrong with `file` or `file::item`, which is below one of some folders.
fn missing(span: &str, folders: &[&str], tree: Tree) -> Option<String> {
    let (file, item) = span
        .split_once("::")
        .map_or((span, None), |(file, item)| (file, Some(item)));
    let Some(text) = folders.iter().find_map(|f| tree(&format!("{f}{file}"))) else {
        return Some(format!("there is no file `{file}`"));
    };
    let item = item?;
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "mod"];
    let is_defined = kinds.iter().any(|kind| {
        let definition = format!("{kind} {item}");
        text.match_indices(&definition).any(|(at, _)| {
            let next = text[at + definition.len()..].chars().next();
            next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    });
    (!is_defined).then(|| format!("`{file}` has no item `{item}`"))
}

/// Says what is wrong with a row.
fn row(cells: &[String], tree: Tree) -> Vec<String> {
    let [name, purpose, files, state] = cells else {
        return vec![format!("{} cells in place of 4", cells.len())];
    };
    let mut found = Vec::new();
    if name.is_empty() || purpose.is_empty() {
        found.push("no name, or not what it is for".to_string());
    }
    if purpose.split_whitespace().count() > LONGEST_PURPOSE {
        found.push(format!("says what it is for in too many words: {purpose}"));
    }
    let files = spans(files);
    found.extend(files.iter().filter_map(|f| missing(f, &SOURCES, tree)));
    let reason = ["no place: ", "not yet: "]
        .iter()
        .find_map(|prefix| state.strip_prefix(prefix));
    if let Some(reason) = reason {
        if reason.split_whitespace().count() < SHORTEST_REASON {
            found.push("gives no reason".to_string());
        }
        let all = [SOURCES.as_slice(), &FILETESTS].concat();
        let paths = spans(reason).into_iter().filter(|s| is_path(s));
        found.extend(paths.filter_map(|s| missing(s, &all, tree)));
        return found;
    }
    if files.is_empty() {
        found.push("names no file".to_string());
    }
    let tests = spans(state);
    if tests.is_empty() {
        found.push("has no filetest, no `no place:` and no `not yet:`".to_string());
    }
    for test in tests {
        match tree(&format!("{}{test}", FILETESTS[0])) {
            None => found.push(format!("there is no filetest `{test}`")),
            Some(text) if !text.lines().any(|l| l.starts_with("test ")) => {
                found.push(format!("`{test}` has no `test` line"));
            }
            Some(_) => {}
        }
    }
    found
}

/// Says what is wrong with the page.
fn findings(page: &str, tree: Tree) -> Vec<String> {
    let mut found = Vec::new();
    let mut names = HashSet::new();
    let mut unmet = 0;
    for (n, line) in page.lines().enumerate() {
        let is_head = line.starts_with("| row |") || line.starts_with("|---");
        if !line.starts_with('|') || is_head {
            continue;
        }
        let cells = cells(line);
        unmet += usize::from(cells.last().is_some_and(|c| c.starts_with("not yet: ")));
        let name = cells.first().cloned().unwrap_or_default();
        if !names.insert(name.clone()) {
            found.push(format!("{}: a second row `{name}`", n + 1));
        }
        let wrong = row(&cells, tree).into_iter();
        found.extend(wrong.map(|w| format!("{}: {name}: {w}", n + 1)));
    }
    let counts = page.lines().filter_map(|l| {
        let rest = l.strip_prefix("Rows that are not yet met: ")?;
        rest.strip_suffix('.')
    });
    let counts: Vec<&str> = counts.collect();
    if counts != [unmet.to_string()] {
        found.push(format!("{unmet} rows are not yet met, not {counts:?}"));
    }
    found
}

#[test]
fn rows_are_true_of_the_tree() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/design-rows.md")).unwrap();
    let found = findings(&page, &|path| std::fs::read_to_string(root.join(path)).ok());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Each check finds a planted case, and nothing in what is right.
#[test]
fn planted_rows_are_found() {
    let tree = |path: &str| match path {
        "codegen/src/a.rs" => Some("pub(crate) fn f() {}\nstruct Good;\n".to_string()),
        "spirv/src/b.rs" => Some(String::new()),
        "filetests/filetests/opt/a.gir" => Some("; x\ntest opt\n".to_string()),
        "filetests/filetests/opt/none.gir" => Some("; x\n".to_string()),
        _ => None,
    };
    let count = |rows: &str, unmet: usize| {
        let page = format!(
            "Rows that are not yet met: {unmet}.\n\n| row | b | c | d |\n|---|---|---|---|\n{rows}"
        );
        findings(&page, &tree).len()
    };
    let good = "| A | does it | `a.rs::f`, `spirv/src/b.rs` | `opt/a.gir` |\n";
    assert_eq!(count(good, 0), 0);
    assert_eq!(count("| `a \\| b` | or | `a.rs` | `opt/a.gir` |\n", 0), 0);
    assert_eq!(count("| A | b | | no place: it has none |\n", 0), 0);
    assert_eq!(count("| A | b | `a.rs` | not yet: half of it |\n", 1), 0);
    assert_eq!(count("| A | b | `a.rs` | not yet: half of it |\n", 0), 1);
    assert_eq!(count(&good.repeat(2), 0), 1);
    assert_eq!(count("| A | b | `a.rs::Goo` | `opt/a.gir` |\n", 0), 1);
    assert_eq!(count("| A | b | `c.rs` | `opt/a.gir` |\n", 0), 1);
    assert_eq!(count("| A | b | | `opt/a.gir` |\n", 0), 1);
    assert_eq!(count("| A | b | `a.rs` | `opt/b.gir` |\n", 0), 1);
    assert_eq!(count("| A | b | `a.rs` | `opt/none.gir` |\n", 0), 1);
    assert_eq!(count("| A | b | `a.rs` | in part |\n", 0), 1);
    assert_eq!(count("| A | b | `a.rs` | no place: because |\n", 0), 1);
    assert_eq!(count("| A | b | | no place: see `x/c.rs` for it |\n", 0), 1);
    assert_eq!(count("| A | b | `a.rs` |\n", 0), 1);
    let long = format!("| A | {} | `a.rs` | `opt/a.gir` |\n", "w ".repeat(13));
    assert_eq!(count(&long, 0), 1);
}
