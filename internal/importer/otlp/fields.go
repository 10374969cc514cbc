package otlp

// Numbers of fields, by message of OpenTelemetry's protocol.

// Spans by resource and by scope; before there were scopes there were libraries.
const (
	requestResourceSpans = 1

	resourceSpansResource = 1
	resourceSpansScope    = 2
	resourceSpansLibrary  = 1000

	resourceAttribute = 1

	scopeSpansScope = 1
	scopeSpansSpan  = 2

	scopeName    = 1
	scopeVersion = 2
)

// A span.
const (
	spanTrace     = 1
	spanOwn       = 2
	spanParent    = 4
	spanName      = 5
	spanKind      = 6
	spanStart     = 7
	spanEnd       = 8
	spanAttribute = 9
	spanDropped   = 10
	spanEvent     = 11
	spanLink      = 13
	spanStatus    = 15
)

// What a span holds: events, links to other spans, its status.
const (
	eventTime      = 1
	eventName      = 2
	eventAttribute = 3

	linkTrace = 1
	linkSpan  = 2

	statusMessage = 2
	statusCode    = 3
	statusError   = 2 // as a code
)

// A pair of key and value, and a value of any type.
const (
	pairKey   = 1
	pairValue = 2

	valueText    = 1
	valueBool    = 2
	valueInteger = 3
	valueDouble  = 4
	valueList    = 5
	valueMap     = 6
	valueBytes   = 7
)
