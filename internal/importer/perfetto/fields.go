package perfetto

// Numbers of fields, by message. Those of packets are in packet.go, of events in event.go, of
// what sequences intern in sequence.go.

// A clock snapshot, and a reading in it.
const (
	snapshotReading = 1
	snapshotOwn     = 2

	readingClock       = 1
	readingTime        = 2
	readingIncremental = 3
	readingUnit        = 4
)

// The tree of processes, and those in it.
const (
	processTreeProcess = 1
	processTreeThread  = 2

	treeID          = 1
	treeProcessName = 3
	treeThreadName  = 2
	treeThreadGroup = 3
)

// A description of a track.
const (
	trackUUID       = 1
	trackName       = 2
	trackProcess    = 3
	trackThread     = 4
	trackParent     = 5
	trackCounter    = 8
	trackStaticName = 10
	trackOrder      = 12
	trackAtraceName = 13
	trackAbout      = 14
	trackSiblings   = 15
)

// A description of a process.
const (
	processPid     = 1
	processCommand = 2
	processName    = 6
	processLabel   = 8
)

// A description of a thread; the last three are of the older form.
const (
	threadPid          = 1
	threadTid          = 2
	threadName         = 5
	threadTime         = 6
	threadCPUTime      = 7
	threadInstructions = 8
)

// A description of a counter.
const (
	counterType        = 1
	counterUnit        = 3
	counterFactor      = 4
	counterIncremental = 5
	counterUnitName    = 6
)

// An annotation: what it holds is one of these, in which members and elements are annotations again.
const (
	annotationKey     = 2
	annotationMember  = 3
	annotationElement = 4
	annotationInteger = 5
	annotationDouble  = 6
	annotationBool    = 7
	annotationText    = 8
)

// What events refer to: a task, a line of a log.
const (
	taskSource = 1

	logSource = 1
	logBody   = 2
)

// An event of the older form.
const (
	legacyName       = 1
	legacyPhase      = 2
	legacyDuration   = 3
	legacyUnscopedID = 6
	legacyScope      = 7
	legacyBind       = 8
	legacyLocalID    = 10
	legacyGlobalID   = 11
	legacyDirection  = 13
	legacyPid        = 18
	legacyTid        = 19
)

// Texts that are sent once, contexts of graphics, places in source code.
const (
	internedID   = 1
	internedText = 2

	contextID  = 1
	contextPid = 2

	sourceID       = 1
	sourceFile     = 2
	sourceFunction = 3
	sourceLine     = 4
)

// Frames and stacks, and stacks that come with an event.
const (
	frameID       = 1
	frameFunction = 2
	frameAddress  = 4
	framePath     = 5
	frameLine     = 6

	stackID     = 1
	stackFrames = 2

	inlineFrame = 1
	inlineName  = 1
	inlinePath  = 2
	inlineLine  = 3
)

// A sample of perf.
const (
	sampleCPU     = 1
	samplePid     = 2
	sampleTid     = 3
	sampleStack   = 4
	sampleFailed  = 16
	sampleLost    = 17
	sampleSkipped = 18
	sampleEvent   = 19
)

// A stage of a GPU.
const (
	stageDuration      = 2
	stageQueue         = 3
	stageID            = 4
	stageContext       = 5
	stageSpecs         = 7
	stageSubmission    = 10
	stageGPU           = 11
	stageQueueInterned = 13
	stageIDInterned    = 14
	stageName          = 17
)

// Counters of a GPU: their descriptions and values.
const (
	gpuCounterSpecs    = 1
	gpuCounterValue    = 2
	gpuCounterGPU      = 3
	gpuCounterInterned = 4

	specCounter = 1

	specID          = 1
	specName        = 2
	specNumerator   = 7
	specDenominator = 8

	gpuValueID      = 1
	gpuValueInteger = 2
	gpuValueDouble  = 3
)

// The system that was recorded, and its uname.
const (
	systemName     = 1
	systemRecorder = 4

	unameSystem  = 1
	unameRelease = 3
	unameMachine = 4
)
