package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// TraceContext is a valid header traceparent (W3C Trace Context) as version 00, or empty.
type TraceContext string

// MaxTraceContext is the length of a TraceContext that is not empty.
const MaxTraceContext = 55

// ReadTraceContext takes a header traceparent. An invalid one is none, as the
// standard says: the run is a trace of its own then. Of later versions, which may be
// longer, it takes what version 00 has.
func ReadTraceContext(header string) TraceContext {
	version, longer := strings.HasPrefix(header, "00-"), len(header) > MaxTraceContext
	if len(header) < MaxTraceContext || longer && (version || header[MaxTraceContext] != '-') {
		return ""
	}
	header = header[:MaxTraceContext]
	parts := strings.Split(header, "-")
	if len(parts) != 4 || parts[0] == "ff" {
		return ""
	}
	for i, size := range []int{2, traceIDSize, spanIDSize, 2} {
		if len(parts[i]) != size || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return ""
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ""
	}
	return TraceContext("00" + header[2:])
}

// The sizes of ids, in hexadecimal digits.
const (
	traceIDSize = 32
	spanIDSize  = 16
)

// TraceID and SpanID are hexadecimal; empty for no context.
func (c TraceContext) TraceID() string { return c.part(1) }

// SpanID is the span that others hang below.
func (c TraceContext) SpanID() string { return c.part(2) }

func (c TraceContext) part(n int) string {
	if c == "" {
		return ""
	}
	return strings.Split(string(c), "-")[n]
}

// MayHaveParent reports whether the run may have a Parent: a call asked for it, outside the schedule, or it is a step
// of a workflow run.
func (e *Execution) MayHaveParent() bool {
	return e.IsStep() || e.Trigger == TriggerManual && strings.HasPrefix(e.FireKey, string(TriggerManual)+":")
}

// TraceParent is the header traceparent of an attempt (W3C Trace Context). The trace is
// the run: the trace id is the run's id without dashes, so that a reader of the trace
// finds the run, or that of the span that asked for the run. A step is asked for by the
// root of its workflow run, so that it stands in the trace of the root. The span is the attempt. It is
// marked as sampled, or nobody behind it would ever record one.
func (e *Execution) TraceParent() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d", e.ID, e.Attempt, e.Token))
	return "00-" + e.traceID() + "-" + hex.EncodeToString(sum[:8]) + "-01"
}

// traceID is 16 bytes, as an id of a run has, in hexadecimal.
func (e *Execution) traceID() string {
	if e.Parent != "" {
		return e.Parent.TraceID()
	}
	id := strings.ToLower(strings.ReplaceAll(e.ID, "-", ""))
	if raw, err := hex.DecodeString(id); err == nil && len(raw) == 16 && strings.Trim(id, "0") != "" {
		return id
	}
	sum := sha256.Sum256([]byte(e.ID))
	return hex.EncodeToString(sum[:16])
}
