//! A small network of burn: it tells stripes that lie from stripes that stand.

use crate::Gpu;
use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{Device, Tensor, TensorData};
use std::error::Error;

/// Opens burn's device on the simulator of a target.
///
/// # Errors
/// There is no such target, or burn refuses the device.
pub fn device(target: &str) -> Result<Device, Box<dyn Error>> {
    device_of(Gpu::open(target)?)
}

/// Makes burn's device of one of wgpu.
///
/// # Errors
/// burn refuses the device.
pub fn device_of(gpu: Gpu) -> Result<Device, Box<dyn Error>> {
    let setup = WgpuSetup {
        backend: gpu.adapter.get_info().backend,
        instance: gpu.instance,
        adapter: gpu.adapter,
        device: gpu.device,
        queue: gpu.queue,
    };
    Ok(Device::wgpu_options().setup(setup).init()?)
}

/// Returns numbers between -1 and 1 that follow from a seed.
pub fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Convolution and two layers: two scores for a picture of 8 by 8.
#[derive(Module, Debug)]
pub struct Network {
    edges: Conv2d,
    hidden: Linear,
    scores: Linear,
}

impl Network {
    /// Creates the network with weights of burn's own initializers.
    pub fn new(device: &Device) -> Network {
        device.seed(7);
        Network {
            edges: Conv2dConfig::new([1, 4], [3, 3]).init(device),
            hidden: LinearConfig::new(4 * 6 * 6, 16).init(device),
            scores: LinearConfig::new(16, 2).init(device),
        }
    }

    /// Returns the logarithm of the chance of each class.
    pub fn forward(&self, pictures: Tensor<4>) -> Tensor<2> {
        let edges = relu(self.edges.forward(pictures));
        let hidden = relu(self.hidden.forward(edges.flatten(1, 3)));
        log_softmax(self.scores.forward(hidden), 1)
    }

    /// Returns all weights, one after the other.
    pub fn weights(&self) -> Vec<f32> {
        struct All(Vec<f32>);
        impl ModuleVisitor for All {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                self.0.extend(param.val().into_data().iter::<f32>());
            }
        }
        let mut all = All(Vec::new());
        self.visit(&mut all);
        all.0
    }
}

/// Number of pictures that a step is trained with.
pub const PICTURES: usize = 32;

/// Returns noisy stripes, every second picture's standing, and the class of each as 0 or 1.
fn stripes(device: &Device) -> (Tensor<4>, Tensor<2>) {
    let mut pixels = numbers(3, PICTURES * 64);
    let mut classes = Vec::new();
    for (n, picture) in pixels.chunks_mut(64).enumerate() {
        for (i, pixel) in picture.iter_mut().enumerate() {
            let (x, y) = (i % 8, i / 8);
            let along = if n % 2 == 0 { y } else { x };
            *pixel = 0.3 * *pixel + f32::from((along + n / 2) % 4 < 2);
        }
        classes.extend(if n % 2 == 0 { [1.0, 0.0] } else { [0.0, 1.0] });
    }
    let pictures = TensorData::new(pixels, [PICTURES, 1, 8, 8]);
    let classes = TensorData::new::<f32, _>(classes, [PICTURES, 2]);
    (
        Tensor::from_data(pictures, device),
        Tensor::from_data(classes, device),
    )
}

/// Trains a network for some steps. Tells the loss of each.
pub fn train(mut network: Network, device: &Device, steps: usize) -> (Network, Vec<f32>) {
    let mut optimizer = SgdConfig::new().init();
    let (pictures, classes) = stripes(device);
    let mut losses = Vec::new();
    for _ in 0..steps {
        let scores = network.forward(pictures.clone());
        let loss = (scores * classes.clone()).sum() / -(PICTURES as f32);
        losses.push(loss.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        network = optimizer.step(0.5, network, gradients);
    }
    (network, losses)
}
