//! Support of each capability, execution mode and decoration of SPIR-V's registry, as listed in
//! `docs/spirv-capabilities.md`.
//!
//! Permissions and promises are accepted and ignored. A capability is also accepted if only its
//! instructions, types or built-ins are unsupported. Those are rejected where they are used. A
//! declaration that changes the meaning of anything else is rejected, with the reason.

use spirv::{Capability, Decoration, ExecutionMode};

/// Support of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Support {
    /// It has its effect.
    Supported,
    /// It has no effect, and needs none, for the reason given.
    Ignored(&'static str),
    /// It may be declared. Uses of the feature are rejected.
    InUse(&'static str),
    /// A module with it is rejected, for the reason given.
    Refused(&'static str),
}

use Support::{Ignored, InUse, Refused, Supported};

/// Support of a capability.
pub(crate) fn capability(c: Capability) -> Support {
    use Capability::*;
    match c {
        Matrix
        | Shader
        | Addresses
        | Linkage
        | Kernel
        | Vector16
        | Float16Buffer
        | Float16
        | Float64
        | Int64
        | Int64Atomics
        | ImageBasic
        | ImageReadWrite
        | ImageMipmap
        | Groups
        | LiteralSampler
        | Int16
        | UniformBufferArrayDynamicIndexing
        | SampledImageArrayDynamicIndexing
        | StorageBufferArrayDynamicIndexing
        | StorageImageArrayDynamicIndexing
        | GenericPointer
        | Int8
        | Sampled1D
        | Image1D
        | SampledBuffer
        | ImageBuffer
        | ImageCubeArray
        | SampledCubeArray
        | StorageImageExtendedFormats
        | ImageQuery
        | StorageImageReadWithoutFormat
        | StorageImageWriteWithoutFormat
        | SubgroupDispatch
        | NamedBarrier
        | GroupNonUniform
        | GroupNonUniformVote
        | GroupNonUniformArithmetic
        | GroupNonUniformBallot
        | GroupNonUniformShuffle
        | GroupNonUniformShuffleRelative
        | GroupNonUniformClustered
        | GroupNonUniformQuad
        | UniformDecoration
        | SubgroupBallotKHR
        | WorkgroupMemoryExplicitLayoutKHR
        | WorkgroupMemoryExplicitLayout8BitAccessKHR
        | WorkgroupMemoryExplicitLayout16BitAccessKHR
        | SubgroupVoteKHR
        | StorageBuffer16BitAccess
        | UniformAndStorageBuffer16BitAccess
        | StoragePushConstant16
        | VariablePointersStorageBuffer
        | CacheControlsINTEL
        | SplitBarrierINTEL
        | VariablePointers
        | StorageBuffer8BitAccess
        | UniformAndStorageBuffer8BitAccess
        | StoragePushConstant8
        | DenormPreserve
        | DenormFlushToZero
        | SignedZeroInfNanPreserve
        | RoundingModeRTE
        | RoundingModeRTZ
        | ShaderNonUniform
        | RuntimeDescriptorArray
        | UniformBufferArrayNonUniformIndexing
        | SampledImageArrayNonUniformIndexing
        | StorageBufferArrayNonUniformIndexing
        | StorageImageArrayNonUniformIndexing
        | VulkanMemoryModel
        | VulkanMemoryModelDeviceScope
        | PhysicalStorageBufferAddresses
        | SubgroupShuffleINTEL
        | SubgroupBufferBlockIOINTEL
        | SubgroupImageBlockIOINTEL
        | SubgroupImageMediaBlockIOINTEL
        | AtomicFloat32MinMaxEXT
        | AtomicFloat64MinMaxEXT
        | AtomicFloat16MinMaxEXT
        | ExpectAssumeKHR
        | FPFastMathModeINTEL
        | DotProductInputAll
        | DotProductInput4x8Bit
        | DotProductInput4x8BitPacked
        | DotProduct
        | BitInstructions
        | GroupNonUniformRotateKHR
        | FloatControls2
        | AtomicFloat32AddEXT
        | AtomicFloat64AddEXT
        | AtomicFloat16AddEXT
        | BFloat16ConversionINTEL
        | Subgroup2DBlockIOINTEL
        | Subgroup2DBlockTransformINTEL
        | Subgroup2DBlockTransposeINTEL
        | FMAKHR
        | GroupUniformArithmeticKHR => Supported,
        Geometry
        | Tessellation
        | TessellationPointSize
        | GeometryPointSize
        | ClipDistance
        | CullDistance
        | SampleRateShading
        | InputAttachment
        | DerivativeControl
        | InterpolationFunction
        | TransformFeedback
        | GeometryStreams
        | MultiViewport
        | ShaderLayer
        | ShaderViewportIndex
        | TileImageColorReadAccessEXT
        | TileImageDepthReadAccessEXT
        | TileImageStencilReadAccessEXT
        | FragmentShadingRateKHR
        | DrawParameters
        | StorageInputOutput16
        | MultiView
        | SampleMaskPostDepthCoverage
        | TileShadingQCOM
        | FragmentMaskAMD
        | StencilExportEXT
        | QuadControlKHR
        | SampleMaskOverrideCoverageNV
        | GeometryShaderPassthroughNV
        | ShaderViewportIndexLayerEXT
        | ShaderViewportMaskNV
        | ShaderStereoViewNV
        | PerViewAttributesNV
        | FragmentFullyCoveredEXT
        | MeshShadingNV
        | MeshShadingEXT
        | FragmentBarycentricKHR
        | FragmentDensityEXT
        | InputAttachmentArrayDynamicIndexing
        | InputAttachmentArrayNonUniformIndexing
        | FragmentShaderSampleInterlockEXT
        | FragmentShaderShadingRateInterlockEXT
        | FragmentShaderPixelInterlockEXT
        | DemoteToHelperInvocation => Ignored("of other stages than compute"),
        OptNoneEXT => Ignored("how much is optimized is the caller's to say"),
        MemoryAccessAliasingINTEL => Ignored("what does not alias may be taken to"),
        UnstructuredLoopControlsINTEL => Ignored("loops are unrolled by what they cost"),
        KernelAttributesINTEL => Ignored("what is said of launches is not relied on"),
        FPGAMemoryAttributesALTERA
        | FPGALoopControlsALTERA
        | FPGAKernelAttributesINTEL
        | FPGAMemoryAccessesALTERA
        | FPGAClusterAttributesALTERA
        | LoopFuseALTERA
        | FPGADSPControlALTERA
        | FPGAInvocationPipeliningAttributesALTERA
        | FPGABufferLocationALTERA
        | RuntimeAlignedAttributeALTERA
        | FPGAClusterAttributesV2ALTERA
        | FPGAKernelAttributesv2INTEL
        | FPGALatencyControlALTERA
        | FPGAArgumentInterfacesALTERA
        | GlobalVariableFPGADecorationsALTERA => Ignored("of FPGAs"),
        DebugInfoModuleINTEL => Ignored("debug information"),
        FPMaxErrorINTEL => Ignored("results are within the smaller errors of OpenCL"),
        GlobalVariableHostAccessINTEL => Ignored("how the host finds a variable"),
        RegisterLimitsINTEL => Ignored("the GRF mode is the caller's to say"),
        DeviceGroup => Ignored("of launches on several devices"),
        Pipes | PipeStorage | IOPipesALTERA | BlockingPipesALTERA => InUse("pipes"),
        DeviceEnqueue => InUse("enqueues of kernels by kernels"),
        AtomicStorage | AtomicStorageOps => InUse("atomic counters"),
        ImageGatherExtended => InUse("offsets of gathers that are no constants"),
        StorageImageMultisample => InUse("writes of images of several samples"),
        ImageRect | SampledRect => InUse("images with coordinates of texels"),
        SparseResidency => InUse("sparse images"),
        MinLod => InUse("the least level of a sample"),
        ImageMSArray => InUse("arrays of images of several samples"),
        CoreBuiltinsARM => InUse("built-ins of ARM's cores"),
        TensorsARM
        | StorageTensorArrayDynamicIndexingARM
        | StorageTensorArrayNonUniformIndexingARM
        | TensorAddressingNV => InUse("tensors"),
        GraphARM => InUse("graphs"),
        CooperativeMatrixLayoutsARM
        | Float8CooperativeMatrixEXT
        | CooperativeMatrixConversionQCOM
        | Int4CooperativeMatrixINTEL
        | BFloat16CooperativeMatrixKHR
        | CooperativeMatrixNV
        | CooperativeMatrixReductionsNV
        | CooperativeMatrixConversionsNV
        | CooperativeMatrixPerElementOperationsNV
        | CooperativeMatrixTensorAddressingNV
        | CooperativeMatrixBlockLoadsNV
        | CooperativeMatrixKHR => InUse("cooperative matrices"),
        Float8EXT => InUse("floats of 8 bits"),
        RayQueryProvisionalKHR
        | RayQueryKHR
        | RayTraversalPrimitiveCullingKHR
        | RayTracingKHR
        | RayTracingPositionFetchKHR
        | RayTracingNV
        | RayTracingMotionBlurNV
        | RayTracingProvisionalKHR
        | DisplacementMicromapNV
        | RayTracingOpacityMicromapEXT
        | ShaderInvocationReorderNV
        | ShaderInvocationReorderEXT
        | RayQueryPositionFetchKHR
        | RayTracingDisplacementMicromapNV
        | RayTracingSpheresGeometryNV
        | RayTracingLinearSweptSpheresGeometryNV
        | RayTracingClusterAccelerationStructureNV
        | RayCullMaskKHR => InUse("rays"),
        UntypedPointersKHR => InUse("pointers without a type"),
        TextureSampleWeightedQCOM
        | TextureBoxFilterQCOM
        | TextureBlockMatchQCOM
        | TextureBlockMatch2QCOM => InUse("image processing of Qualcomm"),
        Float16ImageAMD => InUse("images of halves"),
        ImageGatherBiasLodAMD => InUse("gathers of a level"),
        ImageReadWriteLodAMD => InUse("levels of storage images"),
        Int64ImageEXT => InUse("images of 64-bit integers"),
        ShaderClockKHR => InUse("OpReadClockKHR"),
        ShaderEnqueueAMDX => InUse("enqueues of shaders by shaders"),
        Int4TypeINTEL => InUse("integers of 4 bits"),
        BFloat16TypeKHR | BFloat16DotProductKHR => InUse("bfloats as a type"),
        DescriptorHeapEXT => InUse("heaps of descriptors"),
        ImageFootprintNV => InUse("footprints of samples"),
        ComputeDerivativeGroupQuadsKHR | ComputeDerivativeGroupLinearKHR => InUse("derivatives"),
        GroupNonUniformPartitionedEXT => InUse("operations of partitions"),
        UniformTexelBufferArrayDynamicIndexing
        | StorageTexelBufferArrayDynamicIndexing
        | UniformTexelBufferArrayNonUniformIndexing
        | StorageTexelBufferArrayNonUniformIndexing => InUse("texel buffers"),
        CooperativeVectorNV | CooperativeVectorTrainingNV => InUse("cooperative vectors"),
        ShaderSMBuiltinsNV => InUse("built-ins of NVIDIA's cores"),
        BindlessTextureNV | BindlessImagesINTEL => InUse("images by numbers"),
        AtomicFloat16VectorNV => InUse("atomics of vectors"),
        RawAccessChainsNV => InUse("pointers by bytes"),
        PushConstantBanksNV => InUse("banks of push constants"),
        LongVectorEXT => InUse("vectors of more than 16 components"),
        Shader64BitIndexingEXT => InUse("indices of 64 bits, as an execution mode"),
        RoundToInfinityINTEL => InUse("rounding upward and downward, as execution modes"),
        FloatingPointModeINTEL => InUse("modes of floats, as execution modes"),
        FunctionFloatControlINTEL => InUse("modes of floats by function, as decorations"),
        IntegerFunctions2INTEL => InUse("counts of zeros, averages, saturating sums"),
        FunctionPointersINTEL | IndirectReferencesINTEL => InUse("function pointers"),
        AsmINTEL => InUse("assembly"),
        VectorAnyINTEL => InUse("vectors of other sizes"),
        SubgroupAvcMotionEstimationINTEL
        | SubgroupAvcMotionEstimationIntraINTEL
        | SubgroupAvcMotionEstimationChromaINTEL => InUse("motion estimation"),
        VariableLengthArrayINTEL | UntypedVariableLengthArrayINTEL => {
            InUse("arrays of a length that is no constant")
        }
        ArbitraryPrecisionIntegersALTERA => InUse("integers of other sizes"),
        ArbitraryPrecisionFloatingPointALTERA => InUse("floats of other sizes"),
        ArbitraryPrecisionFixedPointALTERA => InUse("fixed-point numbers"),
        USMStorageClassesALTERA => InUse("storage classes of FPGAs"),
        FPGARegALTERA => InUse("registers of FPGAs"),
        TaskSequenceALTERA => InUse("task sequences"),
        ReplicatedCompositesEXT => InUse("composites of equal parts"),
        LongCompositesINTEL => InUse("composites that go on in further instructions"),
        ArithmeticFenceEXT => InUse("OpArithmeticFenceEXT"),
        SubgroupBufferPrefetchINTEL => InUse("prefetches of blocks"),
        SubgroupMatrixMultiplyAccumulateINTEL => InUse("products of matrices as an instruction"),
        TernaryBitwiseFunctionINTEL => InUse("OpBitwiseFunctionINTEL"),
        SpecConditionalINTEL => InUse("conditional declarations"),
        FunctionVariantsINTEL => InUse("variants of functions"),
        TensorFloat32RoundingINTEL => InUse("OpRoundFToTF32INTEL"),
        MaskedGatherScatterINTEL => InUse("gathers and scatters of vectors of pointers"),
        VectorComputeINTEL => {
            Refused("its kernels are of a whole hardware thread, not of a work-item")
        }
    }
}

/// Support of an execution mode.
pub(crate) fn mode(m: ExecutionMode) -> Support {
    use ExecutionMode::*;
    match m {
        LocalSize
        | ContractionOff
        | SubgroupSize
        | LocalSizeId
        | DenormPreserve
        | DenormFlushToZero
        | SignedZeroInfNanPreserve
        | RoundingModeRTE
        | RoundingModeRTZ
        | FloatingPointModeIEEEINTEL
        | FPFastMathDefault => Supported,
        Invocations
        | SpacingEqual
        | SpacingFractionalEven
        | SpacingFractionalOdd
        | VertexOrderCw
        | VertexOrderCcw
        | PixelCenterInteger
        | OriginUpperLeft
        | OriginLowerLeft
        | EarlyFragmentTests
        | PointMode
        | Xfb
        | DepthReplacing
        | DepthGreater
        | DepthLess
        | DepthUnchanged
        | InputPoints
        | InputLines
        | InputLinesAdjacency
        | Triangles
        | InputTrianglesAdjacency
        | Quads
        | Isolines
        | OutputVertices
        | OutputPoints
        | OutputLineStrip
        | OutputTriangleStrip
        | NonCoherentColorAttachmentReadEXT
        | NonCoherentDepthAttachmentReadEXT
        | NonCoherentStencilAttachmentReadEXT
        | PostDepthCoverage
        | NonCoherentTileAttachmentReadQCOM
        | TileShadingRateQCOM
        | EarlyAndLateFragmentTestsAMD
        | StencilRefReplacingEXT
        | StencilRefUnchangedFrontAMD
        | StencilRefGreaterFrontAMD
        | StencilRefLessFrontAMD
        | StencilRefUnchangedBackAMD
        | StencilRefGreaterBackAMD
        | StencilRefLessBackAMD
        | RequireFullQuadsKHR
        | OutputLinesEXT
        | OutputPrimitivesEXT
        | OutputTrianglesEXT
        | PixelInterlockOrderedEXT
        | PixelInterlockUnorderedEXT
        | SampleInterlockOrderedEXT
        | SampleInterlockUnorderedEXT
        | ShadingRateInterlockOrderedEXT
        | ShadingRateInterlockUnorderedEXT => Ignored("of other stages than compute"),
        LocalSizeHint | VecTypeHint | LocalSizeHintId => Ignored("a hint"),
        SubgroupUniformControlFlowKHR | MaximallyReconvergesKHR => {
            Ignored("work-items that part come together where their ways meet")
        }
        SubgroupsPerWorkgroup
        | SubgroupsPerWorkgroupId
        | MaxWorkgroupSizeINTEL
        | MaxWorkDimINTEL => Ignored("the launch says it"),
        SharedLocalMemorySizeINTEL => Ignored("local memory is that of the variables"),
        NamedBarrierCountINTEL => Ignored("named barriers are counted where they are made"),
        NoGlobalOffsetINTEL => Ignored("an offset of zero is an offset"),
        NumSIMDWorkitemsINTEL
        | SchedulerTargetFmaxMhzINTEL
        | StreamingInterfaceINTEL
        | RegisterMapInterfaceINTEL => Ignored("of FPGAs"),
        MaximumRegistersINTEL | MaximumRegistersIdINTEL | NamedMaximumRegistersINTEL => {
            Ignored("the GRF mode is the caller's to say")
        }
        QuadDerivativesKHR | DerivativeGroupQuadsKHR | DerivativeGroupLinearKHR => {
            Ignored("derivatives are refused where they are taken")
        }
        Initializer => Refused("nobody runs it before the other kernels"),
        Finalizer => Refused("nobody runs it after the other kernels"),
        RoundingModeRTPINTEL | RoundingModeRTNINTEL => {
            Refused("floats are rounded to nearest or toward zero")
        }
        FloatingPointModeALTINTEL => Refused("floats are IEEE's"),
        Shader64BitIndexingEXT => Refused("indices into buffers are of 32 bits"),
        CoalescingAMDX
        | IsApiEntryAMDX
        | MaxNodeRecursionAMDX
        | StaticNumWorkgroupsAMDX
        | ShaderIndexAMDX
        | MaxNumWorkgroupsAMDX
        | SharesInputWithAMDX => Refused("shaders start no shaders"),
    }
}

/// Support of a decoration.
pub(crate) fn decoration(d: Decoration) -> Support {
    use Decoration::*;
    match d {
        SpecId
        | Block
        | BufferBlock
        | RowMajor
        | ColMajor
        | ArrayStride
        | MatrixStride
        | CPacked
        | BuiltIn
        | Restrict
        | Aliased
        | NonWritable
        | NonReadable
        | SaturatedConversion
        | Binding
        | DescriptorSet
        | Offset
        | FuncParamAttr
        | FPRoundingMode
        | FPFastMathMode
        | LinkageAttributes
        | NoContraction
        | Alignment
        | RestrictPointer
        | AliasedPointer
        | CacheControlLoadINTEL
        | CacheControlStoreINTEL => Supported,
        Uniform | UniformId | NonUniform => Ignored("what is uniform is found out"),
        Volatile | Coherent => Ignored("what others see is ordered by barriers and atomics"),
        RelaxedPrecision
        | Invariant
        | Constant
        | MaxByteOffset
        | AlignmentId
        | MaxByteOffsetId
        | NoSignedWrap
        | NoUnsignedWrap
        | ReferencedIndirectlyINTEL
        | CounterBuffer
        | UserSemantic
        | UserTypeGOOGLE
        | AliasScopeINTEL
        | NoAliasINTEL
        | FPMaxErrorDecorationINTEL
        | HostAccessINTEL => Ignored("it only permits or promises"),
        GLSLShared
        | GLSLPacked
        | NoPerspective
        | Flat
        | Patch
        | Centroid
        | Sample
        | Stream
        | Location
        | Component
        | Index
        | XfbBuffer
        | XfbStride
        | InputAttachmentIndex
        | ExplicitInterpAMD
        | NodeSharesPayloadLimitsWithAMDX
        | NodeMaxPayloadsAMDX
        | TrackFinishWritingAMDX
        | PayloadNodeNameAMDX
        | PayloadNodeBaseIndexAMDX
        | PayloadNodeSparseArrayAMDX
        | PayloadNodeArraySizeAMDX
        | PayloadDispatchIndirectAMDX
        | OverrideCoverageNV
        | PassthroughNV
        | ViewportRelativeNV
        | SecondaryViewportRelativeNV
        | PerPrimitiveEXT
        | PerViewNV
        | PerTaskNV
        | PerVertexKHR
        | HitObjectShaderRecordBufferNV
        | HitObjectShaderRecordBufferEXT => Ignored("of other stages than compute"),
        SaturatedToLargestFloat8NormalConversionEXT
        | WeightTextureQCOM
        | BlockMatchTextureQCOM
        | BlockMatchSamplerQCOM
        | BindlessSamplerNV
        | BindlessImageNV
        | BoundSamplerNV
        | BoundImageNV
        | ClobberINTEL
        | SideEffectsINTEL
        | FuncParamIOKindINTEL
        | IOPipeStorageALTERA
        | MediaBlockIOINTEL => Ignored("what it is for is refused where it is used"),
        RegisterALTERA
        | MemoryALTERA
        | NumbanksALTERA
        | BankwidthALTERA
        | MaxPrivateCopiesALTERA
        | SinglepumpALTERA
        | DoublepumpALTERA
        | MaxReplicatesALTERA
        | SimpleDualPortALTERA
        | MergeALTERA
        | BankBitsALTERA
        | ForcePow2DepthALTERA
        | StridesizeALTERA
        | WordsizeALTERA
        | TrueDualPortALTERA
        | BurstCoalesceALTERA
        | CacheSizeALTERA
        | DontStaticallyCoalesceALTERA
        | PrefetchALTERA
        | StallEnableALTERA
        | FuseLoopsInFunctionALTERA
        | MathOpDSPModeALTERA
        | InitiationIntervalALTERA
        | MaxConcurrencyALTERA
        | PipelineEnableALTERA
        | BufferLocationALTERA
        | StallFreeALTERA
        | LatencyControlLabelALTERA
        | LatencyControlConstraintALTERA
        | ConduitKernelArgumentALTERA
        | RegisterMapKernelArgumentALTERA
        | MMHostInterfaceAddressWidthALTERA
        | MMHostInterfaceDataWidthALTERA
        | MMHostInterfaceLatencyALTERA
        | MMHostInterfaceReadWriteModeALTERA
        | MMHostInterfaceMaxBurstALTERA
        | MMHostInterfaceWaitRequestALTERA
        | StableKernelArgumentALTERA
        | InitModeALTERA
        | ImplementInRegisterMapALTERA => Ignored("of FPGAs"),
        SIMTCallINTEL
        | VectorComputeVariableINTEL
        | VectorComputeFunctionINTEL
        | StackCallINTEL
        | GlobalVariableOffsetINTEL
        | SingleElementVectorINTEL
        | VectorComputeCallableFunctionINTEL => {
            Refused("its kernels are of a whole hardware thread, not of a work-item")
        }
        FunctionRoundingModeINTEL | FunctionDenormModeINTEL | FunctionFloatingPointModeINTEL => {
            Refused("modes of floats are a kernel's, not a function's")
        }
        ArrayStrideIdEXT | OffsetIdEXT | MemberOffsetNV | BankNV => Refused("layouts are numbers"),
        ConditionalINTEL => Refused("declarations are not conditional"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::{Debug, Write};

    /// Upper bound of the numbers in the registry.
    const END: u32 = 1 << 14;

    fn rows<T: Debug>(out: &mut String, name: &str, all: impl Iterator<Item = (T, Support)>) {
        let _ = writeln!(out, "\n| {name} | |\n|---|---|");
        for (what, standing) in all {
            let said = match standing {
                Supported => "supported".to_owned(),
                Ignored(why) => format!("ignored: {why}"),
                InUse(what) => format!("declared: taken; refused where used: {what}"),
                Refused(why) => format!("refused: {why}"),
            };
            let _ = writeln!(out, "| `{what:?}` | {said} |");
        }
    }

    /// Checks that the document has a row for each value of the registry.
    #[test]
    fn the_document_is_the_tables() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/spirv-capabilities.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (head, rest) = text.split_once("<!-- tables -->\n").unwrap();
        let (have, tail) = rest.split_once("<!-- end -->").unwrap();
        let mut want = String::new();
        let all = (0..END).filter_map(Capability::from_u32);
        rows(&mut want, "capability", all.map(|c| (c, capability(c))));
        let all = (0..END).filter_map(ExecutionMode::from_u32);
        rows(&mut want, "execution mode", all.map(|m| (m, mode(m))));
        let all = (0..END).filter_map(Decoration::from_u32);
        rows(&mut want, "decoration", all.map(|d| (d, decoration(d))));
        want.push('\n');
        if have != want && std::env::var_os("GANTRY_BLESS").is_some() {
            let text = format!("{head}<!-- tables -->\n{want}<!-- end -->{tail}");
            std::fs::write(path, text).unwrap();
            return;
        }
        assert!(have == want, "GANTRY_BLESS=1 writes it anew");
    }

    /// Translates an empty kernel of a module with one more capability or mode.
    fn translate(capability: Option<u32>, mode: Option<u32>) -> Result<(), String> {
        let mut words = vec![spirv::MAGIC_NUMBER, 0x1_0500, 0, 5, 0];
        let mut add = |op: u32, operands: &[u32]| {
            words.push((operands.len() as u32 + 1) << 16 | op);
            words.extend(operands);
        };
        [6, 4]
            .into_iter()
            .chain(capability)
            .for_each(|c| add(17, &[c]));
        // OpMemoryModel Physical64 OpenCL, OpEntryPoint Kernel %1 "k".
        add(14, &[2, 2]);
        add(15, &[6, 1, 0x6b]);
        if let Some(mode) = mode {
            add(16, &[1, mode, 8, 1, 1]);
        }
        // OpTypeVoid %2, OpTypeFunction %3 %2, OpFunction, OpLabel, OpReturn, OpFunctionEnd.
        add(19, &[2]);
        add(33, &[3, 2]);
        add(54, &[2, 1, 0, 3]);
        add(248, &[4]);
        add(253, &[]);
        add(56, &[]);
        let done = crate::translate(&words, &crate::Options::default());
        done.map(|_| ()).map_err(|e| e.to_string())
    }

    /// Checks that declaring a feature is rejected exactly where the table says so, with its
    /// reason.
    #[test]
    fn declarations() {
        let judge = |said: Support, done: Result<(), String>, what: &str| match said {
            Refused(why) => assert!(done.unwrap_err().contains(why), "{what}"),
            _ => assert_eq!(done, Ok(()), "{what}"),
        };
        for c in (0..END).filter_map(Capability::from_u32) {
            let done = translate(Some(c as u32), None);
            judge(capability(c), done, &format!("{c:?}"));
        }
        for m in (0..END).filter_map(ExecutionMode::from_u32) {
            judge(mode(m), translate(None, Some(m as u32)), &format!("{m:?}"));
        }
    }
}
