//! Grids of launches: numbers of work-items, and their grouping.

use crate::error::Error;
use crate::module::Kernel;
use gantry_isa_gen::diag::Count;

/// Number of work-items of a launch, and their grouping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    size: GridSize,
    group: Option<[u32; 3]>,
    offset: [u32; 3],
}

/// Size of a grid along x, y and z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum GridSize {
    Items([u32; 3]),
    Groups([u32; 3]),
}

impl Grid {
    /// Creates a grid of work-items along x, y and z.
    pub const fn new(global: [u32; 3]) -> Grid {
        Grid::of(GridSize::Items(global))
    }

    /// Creates a grid of work-groups along x, y and z, as shaders are dispatched.
    pub const fn groups(groups: [u32; 3]) -> Grid {
        Grid::of(GridSize::Groups(groups))
    }

    const fn of(size: GridSize) -> Grid {
        Grid {
            size,
            group: None,
            offset: [0; 3],
        }
    }

    /// Sets the work-items of a group. The default is what the kernel requires, or one thread's
    /// channels along x.
    pub const fn group(mut self, group: [u32; 3]) -> Grid {
        self.group = Some(group);
        self
    }

    /// Sets the global id of the first work-item.
    pub const fn offset(mut self, offset: [u32; 3]) -> Grid {
        self.offset = offset;
        self
    }
}

/// Grid that a kernel can be launched with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedGrid {
    /// Work-items of the grid.
    pub(crate) global: [u32; 3],
    /// Work-items of a full group.
    pub(crate) local: [u32; 3],
    /// True if neither the host nor the kernel has chosen them.
    pub(crate) any_local: bool,
    /// Global id of the first work-item.
    pub(crate) offset: [u32; 3],
    /// Number of dimensions, 1 to 3.
    pub(crate) dimensions: u32,
}

impl Grid {
    /// Returns the grid with another number of groups.
    pub(crate) fn of_groups(self, groups: [u32; 3]) -> Grid {
        Grid {
            size: GridSize::Groups(groups),
            ..self
        }
    }

    /// Checks that a kernel can be launched with this grid.
    pub(crate) fn check(&self, kernel: &Kernel) -> Result<CheckedGrid, Error> {
        let Some(info) = kernel.info() else {
            return Err(kernel.missing());
        };
        let grid_error = |message: String| Error::Grid {
            kernel: info.name.clone(),
            message,
        };
        let required = info.env.required_work_group_size;
        let local = match (self.group, required) {
            (Some(l), Some(r)) if l != r => {
                return Err(grid_error(format!(
                    "a group of {l:?} work-items was asked for, the kernel requires {r:?}"
                )));
            }
            (Some(l), _) => l,
            (None, Some(r)) => r,
            (None, None) => [info.env.simd_size, 1, 1],
        };
        let global = match self.size {
            GridSize::Items(items) => items,
            GridSize::Groups(groups) => {
                let mut items = [0; 3];
                for ((items, groups), local) in items.iter_mut().zip(groups).zip(local) {
                    *items = groups.checked_mul(local).ok_or_else(|| {
                        grid_error(format!(
                            "{groups} groups of {local} work-items are more than 32 bits count"
                        ))
                    })?;
                }
                items
            }
        };
        if local.contains(&0) {
            return Err(grid_error(format!(
                "a group of {local:?} work-items is empty"
            )));
        }
        let items = local.iter().map(|&n| u64::from(n)).product::<u64>();
        let platform = kernel.module.zebin().platform;
        let most_threads = kernel.module.device().inner.gpu(platform).group_threads;
        let most = u64::from(most_threads) * u64::from(info.env.simd_size);
        if local.iter().any(|&n| n > 1024) || items > most {
            return Err(grid_error(format!(
                "a group of {local:?} work-items is too large: at most {most_threads} threads of {}",
                Count(info.env.simd_size, "channel")
            )));
        }
        let offset = self.offset;
        if global
            .iter()
            .zip(offset)
            .any(|(g, o)| g.checked_add(o).is_none())
        {
            return Err(grid_error(format!(
                "the grid {global:?} from {offset:?} on has global ids of more than 32 bits"
            )));
        }
        let whole = global.iter().zip(local).all(|(g, l)| g % l == 0);
        if !whole && kernel.module.zebin().requires_uniform_groups() {
            return Err(grid_error(format!(
                "the grid {global:?} is not a multiple of the group {local:?}, and the kernel was compiled for whole groups"
            )));
        }
        let threads = global
            .iter()
            .zip(local)
            .map(|(&g, l)| u64::from(g.div_ceil(l)))
            .try_fold(1u64, u64::checked_mul)
            .filter(|&n| n <= 1 << 40);
        if threads.is_none() {
            return Err(grid_error(format!("the grid {global:?} is too large")));
        }
        let dimensions = if global[2] > 1 || local[2] > 1 {
            3
        } else if global[1] > 1 || local[1] > 1 {
            2
        } else {
            1
        };
        Ok(CheckedGrid {
            global,
            local,
            any_local: self.group.is_none() && required.is_none(),
            offset,
            dimensions,
        })
    }
}
