//! burn on Gantry's device beside burn's own backend of the CPU.

use burn::module::Module;
use burn::tensor::activation::softmax;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor, TensorData};
use gantry_wgpu_programs::network::{Network, device, numbers, train};
use gantry_wgpu_programs::targets;

/// Checks that two lists are the same within a tolerance, relative where numbers are above one.
fn assert_near(got: &[f32], want: &[f32], tolerance: f32, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let far = (g - w).abs() / w.abs().max(1.0);
        assert!(far <= tolerance, "{what}: {g}, not {w}, at {i}");
    }
}

fn tensor<const D: usize>(seed: u32, shape: [usize; D], device: &Device) -> Tensor<D> {
    let all = numbers(seed, shape.iter().product());
    Tensor::from_data(TensorData::new(all, shape), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// Runs a computation on each target and on the CPU.
fn assert_like_cpu(what: &str, tolerance: f32, run: impl Fn(&Device) -> Vec<f32>) {
    let want = run(&Device::flex().autodiff());
    assert!(want.iter().any(|w| *w != 0.0), "{what}");
    for target in targets() {
        let device = device(&target).unwrap().autodiff();
        let got = run(&device);
        assert_near(&got, &want, tolerance, &format!("{what} on {target}"));
    }
}

#[test]
fn matmul() {
    for [rows, inner, columns] in [[64, 48, 32], [1, 300, 7], [33, 65, 129]] {
        assert_like_cpu("matmul", 1e-4, |device| {
            let a = tensor(1, [rows, inner], device);
            let b = tensor(2, [inner, columns], device);
            values(a.matmul(b))
        });
    }
}

#[test]
fn batched_matmul_with_gradients() {
    assert_like_cpu("batched matmul", 1e-4, |device| {
        let a = tensor(1, [3, 17, 24], device).require_grad();
        let b = tensor(2, [3, 24, 9], device).require_grad();
        let product = a.clone().matmul(b.clone());
        let gradients = product.clone().powi_scalar(2).sum().backward();
        let [a, b] = [a, b].map(|t| values(t.grad(&gradients).unwrap()));
        [values(product), a, b].concat()
    });
}

#[test]
fn softmax_of_rows() {
    assert_like_cpu("softmax", 1e-5, |device| {
        let rows = tensor(5, [40, 100], device) * 8.0;
        [values(softmax(rows.clone(), 1)), values(softmax(rows, 0))].concat()
    });
}

#[test]
fn convolution_with_gradients() {
    let simple = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
    let strided = ConvOptions::new([2, 1], [0, 2], [1, 2], 2);
    for (options, inputs) in [(simple, 4), (strided, 2)] {
        assert_like_cpu("convolution", 1e-3, |device| {
            let x = tensor(1, [2, 4, 12, 10], device).require_grad();
            let weight = tensor(2, [6, inputs, 3, 3], device).require_grad();
            let bias = tensor(3, [6], device).require_grad();
            let all = (x.clone(), weight.clone(), Some(bias.clone()));
            let result = conv2d(all.0, all.1, all.2, options.clone());
            let gradients = result.clone().powi_scalar(2).sum().backward();
            let x = values(x.grad(&gradients).unwrap());
            let weight = values(weight.grad(&gradients).unwrap());
            let bias = values(bias.grad(&gradients).unwrap());
            [values(result), x, weight, bias].concat()
        });
    }
}

/// Twelve steps of a network: the loss falls, and the weights become those of the CPU.
#[test]
fn training_steps() {
    let cpu = Device::flex().autodiff();
    let network = Network::new(&cpu);
    let (on_cpu, want) = train(network.clone(), &cpu, 12);
    let (before, after) = (network.weights(), on_cpu.weights());
    let moved = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
    assert!(moved.fold(0.0, f32::max) > 0.02, "training changes weights");
    for target in targets() {
        let device = device(&target).unwrap().autodiff();
        let (trained, losses) = train(network.clone().fork(&device), &device, 12);
        assert!(losses[11] < 0.5 * losses[0], "{target}: {losses:?}");
        assert_near(&losses, &want, 1e-4, &format!("losses on {target}"));
        assert_near(
            &trained.weights(),
            &after,
            1e-4,
            &format!("weights on {target}"),
        );
    }
}
