package receive

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A jsonMessage has the fields of a message by their names in JSON.
type jsonMessage map[string]jsonField

type jsonField struct {
	number   protowire.Number
	kind     jsonKind
	message  jsonMessage // of kind jsonObject
	repeated bool
	names    []string // of kind jsonEnum, by number
}

type jsonKind uint8

const (
	jsonText jsonKind = iota
	jsonHex
	jsonBase64
	jsonBool
	jsonVarint
	jsonFixed32
	jsonFixed64
	jsonDouble
	jsonEnum
	jsonObject
)

// Messages of OpenTelemetry's protocol (opentelemetry/proto/trace/v1/trace.proto).
var (
	valueJSON     = jsonMessage{}
	attributeJSON = jsonMessage{"key": {number: 1}, "value": {number: 2, kind: jsonObject, message: valueJSON}}
	statusJSON    = jsonMessage{
		"message": {number: 2},
		"code": {number: 3, kind: jsonEnum,
			names: []string{"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"}},
	}
	eventJSON = jsonMessage{
		"timeUnixNano":           {number: 1, kind: jsonFixed64},
		"name":                   {number: 2},
		"attributes":             listOf(3, attributeJSON),
		"droppedAttributesCount": {number: 4, kind: jsonVarint},
	}
	linkJSON = jsonMessage{
		"traceId":                {number: 1, kind: jsonHex},
		"spanId":                 {number: 2, kind: jsonHex},
		"traceState":             {number: 3},
		"attributes":             listOf(4, attributeJSON),
		"droppedAttributesCount": {number: 5, kind: jsonVarint},
		"flags":                  {number: 6, kind: jsonFixed32},
	}
	spanJSON = jsonMessage{
		"traceId":      {number: 1, kind: jsonHex},
		"spanId":       {number: 2, kind: jsonHex},
		"traceState":   {number: 3},
		"parentSpanId": {number: 4, kind: jsonHex},
		"name":         {number: 5},
		"kind": {number: 6, kind: jsonEnum, names: []string{"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL",
			"SPAN_KIND_SERVER", "SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"}},
		"startTimeUnixNano":      {number: 7, kind: jsonFixed64},
		"endTimeUnixNano":        {number: 8, kind: jsonFixed64},
		"attributes":             listOf(9, attributeJSON),
		"droppedAttributesCount": {number: 10, kind: jsonVarint},
		"events":                 listOf(11, eventJSON),
		"droppedEventsCount":     {number: 12, kind: jsonVarint},
		"links":                  listOf(13, linkJSON),
		"droppedLinksCount":      {number: 14, kind: jsonVarint},
		"status":                 {number: 15, kind: jsonObject, message: statusJSON},
		"flags":                  {number: 16, kind: jsonFixed32},
	}
	scopeJSON = jsonMessage{
		"name":                   {number: 1},
		"version":                {number: 2},
		"attributes":             listOf(3, attributeJSON),
		"droppedAttributesCount": {number: 4, kind: jsonVarint},
	}
	scopeSpansJSON = jsonMessage{
		"scope":     {number: 1, kind: jsonObject, message: scopeJSON},
		"spans":     listOf(2, spanJSON),
		"schemaUrl": {number: 3},
	}
	resourceJSON = jsonMessage{
		"attributes":             listOf(1, attributeJSON),
		"droppedAttributesCount": {number: 2, kind: jsonVarint},
	}
	resourceSpansJSON = jsonMessage{
		"resource":   {number: 1, kind: jsonObject, message: resourceJSON},
		"scopeSpans": listOf(2, scopeSpansJSON),
		"schemaUrl":  {number: 3},
	}
	tracesJSON = jsonMessage{"resourceSpans": listOf(1, resourceSpansJSON)}
)

func init() { // a value may hold values
	valueJSON["stringValue"] = jsonField{number: 1}
	valueJSON["boolValue"] = jsonField{number: 2, kind: jsonBool}
	valueJSON["intValue"] = jsonField{number: 3, kind: jsonVarint}
	valueJSON["doubleValue"] = jsonField{number: 4, kind: jsonDouble}
	valueJSON["arrayValue"] = jsonField{number: 5, kind: jsonObject,
		message: jsonMessage{"values": listOf(1, valueJSON)}}
	valueJSON["kvlistValue"] = jsonField{number: 6, kind: jsonObject,
		message: jsonMessage{"values": listOf(1, attributeJSON)}}
	valueJSON["bytesValue"] = jsonField{number: 7, kind: jsonBase64}
}

func listOf(number protowire.Number, m jsonMessage) jsonField {
	return jsonField{number: number, kind: jsonObject, message: m, repeated: true}
}

// deepestJSON bounds the nesting of objects.
const deepestJSON = 100

// encodeJSON turns a request in JSON into the same in protobuf. Unknown members are skipped.
func encodeJSON(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	b, err := appendObject(nil, d, tracesJSON, deepestJSON)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more after the object")
	}
	return b, nil
}

// appendObject appends the fields of an object.
func appendObject(b []byte, d *json.Decoder, m jsonMessage, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, errors.New("objects are nested too deeply")
	}
	if null, err := expect(d, '{'); null || err != nil {
		return b, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		f, ok := m[camelCase(name)]
		switch {
		case !ok:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		case f.repeated:
			b, err = appendList(b, d, f, depth)
		case f.kind == jsonObject:
			b, err = appendMessage(b, d, f, depth)
		default:
			b, err = appendScalar(b, d, f, name)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err := expect(d, '}')
	return b, err
}

func appendList(b []byte, d *json.Decoder, f jsonField, depth int) ([]byte, error) {
	if null, err := expect(d, '['); null || err != nil {
		return b, err
	}
	for d.More() {
		var err error
		if b, err = appendMessage(b, d, f, depth); err != nil {
			return nil, err
		}
	}
	_, err := expect(d, ']')
	return b, err
}

// appendMessage appends an object with its length, which is known afterwards.
func appendMessage(b []byte, d *json.Decoder, f jsonField, depth int) ([]byte, error) {
	b = protowire.AppendTag(b, f.number, protowire.BytesType)
	at := len(b)
	b, err := appendObject(b, d, f.message, depth-1)
	if err != nil {
		return nil, err
	}
	return slices.Insert(b, at, protowire.AppendVarint(nil, uint64(len(b)-at))...), nil
}

// appendScalar appends a number or a text. Numbers may be written as texts.
func appendScalar(b []byte, d *json.Decoder, f jsonField, name string) ([]byte, error) {
	token, err := d.Token()
	if err != nil || token == nil {
		return b, err
	}
	text := fmt.Sprint(token)
	var data []byte
	var bits uint64
	switch _, isText := token.(string); f.kind {
	case jsonText:
		if !isText {
			return nil, fmt.Errorf("%s is no text", name)
		}
		data = []byte(text)
	case jsonHex:
		data, err = hex.DecodeString(text)
	case jsonBase64:
		data, err = base64.StdEncoding.DecodeString(text)
	case jsonBool:
		if bits = 0; text == "true" {
			bits = 1
		}
	case jsonDouble:
		var v float64
		v, err = strconv.ParseFloat(text, 64)
		bits = math.Float64bits(v)
	case jsonEnum:
		if i := slices.Index(f.names, text); i >= 0 {
			bits = uint64(i)
			break
		}
		bits, err = parseInteger(text)
	default:
		bits, err = parseInteger(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch f.kind {
	case jsonText, jsonHex, jsonBase64:
		return protowire.AppendBytes(protowire.AppendTag(b, f.number, protowire.BytesType), data), nil
	case jsonFixed32:
		return protowire.AppendFixed32(protowire.AppendTag(b, f.number, protowire.Fixed32Type), uint32(bits)), nil
	case jsonFixed64, jsonDouble:
		return protowire.AppendFixed64(protowire.AppendTag(b, f.number, protowire.Fixed64Type), bits), nil
	}
	return protowire.AppendVarint(protowire.AppendTag(b, f.number, protowire.VarintType), bits), nil
}

// parseInteger reads a number of 64 bits with or without sign.
func parseInteger(text string) (uint64, error) {
	if strings.HasPrefix(text, "-") {
		n, err := strconv.ParseInt(text, 10, 64)
		return uint64(n), err
	}
	return strconv.ParseUint(text, 10, 64)
}

// camelCase returns a name of the protocol as JSON has it: start_time is startTime.
func camelCase(name string) string {
	first, rest, ok := strings.Cut(name, "_")
	for ok {
		var word string
		word, rest, ok = strings.Cut(rest, "_")
		first += strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):]
	}
	return first
}

// expect reads the begin or end of an object or a list, or null in its place.
func expect(d *json.Decoder, want json.Delim) (null bool, err error) {
	token, err := d.Token()
	switch {
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case err == nil && token != nil && token != want:
		err = fmt.Errorf("%v where %v is expected", token, want)
	}
	return token == nil, err
}
