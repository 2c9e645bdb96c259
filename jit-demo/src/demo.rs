//! Stages of the demo: each kernel is compiled, loaded, launched on its data and checked.

use crate::DemoError;
use crate::kernels::{edges, linear, mandelbrot, module, saxpy};
use crate::picture::Picture;
use crate::report::{Line, with_bar};
use gantry_codegen::builder::BuildError;
use gantry_codegen::ir::{Function, Module};
use gantry_codegen::{CompileOptions, KernelStats, compile};
use gantry_runtime::{Arg, Device, Grid, Kernel, Launch, LaunchStats, Progress};
use gantry_spirv::Options;
use gantry_spirv::wgsl::translate_wgsl;
use std::time::{Duration, Instant};

/// Number of points in a thousand that may differ from the CPU by rounding at the edge of the set.
const MANDELBROT_TOLERANCE: usize = 1;

/// Device that kernels run on, with the options that they are compiled with.
#[derive(Debug)]
pub struct Demo {
    /// Device.
    pub device: Device,
    /// Compiler options.
    pub options: CompileOptions,
    /// True if the device computes. Intel's driver without a GPU accepts launches and does nothing.
    pub computes: bool,
}

/// Kernel that is loaded on the device.
pub(crate) struct LoadedKernel {
    kernel: Kernel,
    stats: KernelStats,
    compile_time: Duration,
}

impl Demo {
    fn prepare(
        &self,
        name: &'static str,
        build: fn() -> Result<Function, BuildError>,
    ) -> Result<LoadedKernel, DemoError> {
        self.compiled(&module(build)?, name)
    }

    /// Compiles a module and loads its kernel.
    pub(crate) fn compiled(&self, m: &Module, name: &str) -> Result<LoadedKernel, DemoError> {
        let start = Instant::now();
        let compiled = compile(m, &self.options)?;
        let compile_time = start.elapsed();
        let stats = compiled
            .kernels
            .first()
            .map(|k| k.stats.clone())
            .unwrap_or_default();
        let kernel = self.device.load(&compiled.zebin)?.kernel(name)?;
        Ok(LoadedKernel {
            kernel,
            stats,
            compile_time,
        })
    }

    pub(crate) fn launch(
        &self,
        ready: &LoadedKernel,
        name: &str,
        grid: Grid,
        args: Vec<Arg>,
    ) -> Result<LaunchStats, DemoError> {
        run(name, ready.kernel.launch(grid).args(args))
    }

    pub(crate) fn line(
        &self,
        kernel: &str,
        ready: LoadedKernel,
        launch: LaunchStats,
        check: String,
    ) -> Line {
        Line {
            kernel: kernel.to_owned(),
            compiled: ready.stats,
            compile_time: ready.compile_time,
            launch,
            check: if self.computes {
                check
            } else {
                "not checked: the device does not compute".to_string()
            },
        }
    }

    /// Runs `saxpy` over `n` elements.
    ///
    /// # Errors
    /// Any step fails, or a result differs from the CPU's in a single bit.
    pub fn saxpy(&self, n: usize) -> Result<Line, DemoError> {
        const NAME: &str = "saxpy";
        let ready = self.prepare(NAME, saxpy::build)?;
        let x: Vec<f32> = (0..n).map(|i| (i as f32 * 0.37).sin()).collect();
        let mut y: Vec<f32> = (0..n).map(|i| i as f32 / 3.0).collect();
        let a = 2.5f32;
        let (dx, dy) = (self.device.buffer_from(&x)?, self.device.buffer_from(&y)?);
        let groups = (n as u32).div_ceil(64);
        let grid = Grid::new([groups * 64, 1, 1]).group([64, 1, 1]);
        let args = vec![(&dx).into(), (&dy).into(), a.into(), (n as i32).into()];
        let stats = self.launch(&ready, NAME, grid, args)?;
        saxpy::reference(a, &x, &mut y);
        let got: Vec<f32> = dy.read()?;
        if self.computes
            && let Some(i) =
                (0..n).find(|&i| got.get(i).map(|v| v.to_bits()) != y.get(i).map(|v| v.to_bits()))
        {
            return Err(DemoError::Wrong {
                kernel: NAME,
                what: format!(
                    "element {i} is {:?} and should be {:?}",
                    got.get(i),
                    y.get(i)
                ),
            });
        }
        Ok(self.line(NAME, ready, stats, format!("{n} elements equal")))
    }

    /// Draws the Mandelbrot set.
    ///
    /// # Errors
    /// Any step fails, or more than one point in a thousand differs from the CPU's.
    pub fn mandelbrot(&self, width: u32, height: u32) -> Result<(Line, Picture), DemoError> {
        const NAME: &str = "mandelbrot";
        let ready = self.prepare(NAME, mandelbrot::build)?;
        let view = mandelbrot::View {
            left: -2.2,
            top: -1.2,
            step: 3.2 / width as f32,
            limit: 256,
        };
        let pixels = (width * height) as usize;
        let out = self.device.buffer(pixels * 4)?;
        let across = width.next_multiple_of(mandelbrot::SIMD);
        let grid = Grid::new([across, height, 1]).group([mandelbrot::SIMD, 1, 1]);
        let args = vec![
            (&out).into(),
            (width as i32).into(),
            view.limit.into(),
            view.left.into(),
            view.top.into(),
            view.step.into(),
        ];
        let stats = self.launch(&ready, NAME, grid, args)?;
        let got: Vec<i32> = out.read()?;
        let got = got.get(..pixels).unwrap_or(&got);
        let want = mandelbrot::reference(&view, width, height);
        let differ = got.iter().zip(&want).filter(|(a, b)| a != b).count();
        if self.computes && differ * 1000 > pixels * MANDELBROT_TOLERANCE {
            return Err(DemoError::Wrong {
                kernel: NAME,
                what: format!("{differ} of {pixels} points have another count than on the CPU"),
            });
        }
        let picture = Picture::from_iterations(got, width as usize, height as usize, view.limit);
        let check = format!("{} of {pixels} points equal", pixels - differ);
        Ok((self.line(NAME, ready, stats, check), picture))
    }

    /// Runs the linear filter over a picture.
    ///
    /// # Errors
    /// Any step fails, or a byte differs from the CPU's.
    pub fn linear(&self, picture: &Picture) -> Result<(Line, Picture), DemoError> {
        const NAME: &str = "linear";
        let ready = self.prepare(NAME, linear::build)?;
        let source =
            picture.bordered([linear::TILE_WIDTH, linear::TILE_HEIGHT].map(|n| n as usize));
        let [across, down] = source.tiles;
        let pitch = across * linear::TILE_WIDTH * 3;
        let src = self.device.buffer_from(&source.bytes)?;
        let dst = self
            .device
            .buffer((pitch * down * linear::TILE_HEIGHT) as usize)?;
        let grid = Grid::new([across, down, 1]).group([1, 1, 1]);
        let args = vec![
            (&src).into(),
            (&dst).into(),
            (source.pitch as i32).into(),
            (pitch as i32).into(),
        ];
        let stats = self.launch(&ready, NAME, grid, args)?;
        let (width, height) = (picture.width, picture.height);
        let bytes: Vec<u8> = dst.read()?;
        let got = Picture::cropped(&bytes, pitch as usize, width, height);
        let want = linear::reference(&source.bytes, source.pitch, width, height);
        let check = self.equal(NAME, &got, &want)?;
        Ok((self.line(NAME, ready, stats, check), got))
    }

    /// Checks that a picture has the expected bytes, if the device computes.
    fn equal(&self, kernel: &'static str, got: &Picture, want: &[u8]) -> Result<String, DemoError> {
        if self.computes
            && let Some(i) = (0..want.len()).find(|&i| got.rgb.get(i) != want.get(i))
        {
            let (x, y) = (i / 3 % got.width, i / 3 / got.width);
            return Err(DemoError::Wrong {
                kernel,
                what: format!(
                    "pixel ({x}, {y}) is {:?} and should be {:?}",
                    got.rgb.get(i),
                    want.get(i)
                ),
            });
        }
        Ok(format!("{} bytes equal", want.len()))
    }

    /// Finds the edges of a picture with a kernel of WGSL.
    ///
    /// # Errors
    /// Any step fails, or a byte differs from the CPU's.
    pub fn edges(&self, picture: &Picture) -> Result<(Line, Picture), DemoError> {
        const NAME: &str = edges::NAME;
        let start = Instant::now();
        let translated = translate_wgsl(edges::TEXT, &Options::default())?;
        let from_text = start.elapsed();
        let mut ready = self.compiled(&translated.module, NAME)?;
        // The time counts from the text on.
        ready.compile_time += from_text;
        let (width, height) = (picture.width, picture.height);
        let pixels: Vec<u32> = picture
            .rgb
            .chunks_exact(3)
            .map(|p| p.iter().rev().fold(0, |w, b| w << 8 | u32::from(*b)))
            .collect();
        let size = self.device.buffer_from(&[width as u32, height as u32])?;
        let (src, dst) = (
            self.device.buffer_from(&pixels)?,
            self.device.buffer(4 * pixels.len())?,
        );
        // The zebin has the bindings and the group size.
        let [x, y, _] = ready.kernel.group_size().unwrap_or([1; 3]);
        let groups = [
            (width as u32).div_ceil(x.max(1)),
            (height as u32).div_ceil(y.max(1)),
            1,
        ];
        let launch = ready.kernel.dispatch(groups).bind(0, 0, &size);
        let stats = run(NAME, launch.bind(0, 1, &src).bind(0, 2, &dst))?;
        let got: Vec<u32> = dst.read()?;
        let rgb: Vec<u8> = got
            .iter()
            .flat_map(|w| w.to_le_bytes().into_iter().take(3))
            .collect();
        let got = Picture { width, height, rgb };
        let want = edges::reference(picture);
        let check = self.equal(NAME, &got, &want)?;
        Ok((self.line(NAME, ready, stats, check), got))
    }
}

/// Runs a launch under a progress bar with a kernel's name.
fn run(name: &str, launch: Launch<'_>) -> Result<LaunchStats, DemoError> {
    let progress = Progress::new();
    let launch = launch.progress(&progress);
    Ok(with_bar(name, &progress, || launch.run())?)
}
