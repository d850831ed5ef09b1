package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// TraceParent is the header traceparent of an attempt (W3C Trace Context). The trace is
// the run: the trace id is the run's id without dashes, so that a reader of the trace
// finds the run. The span is the attempt. It is marked as sampled, or nobody behind it
// would ever record one.
func (e *Execution) TraceParent() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d", e.ID, e.Attempt, e.Token))
	return "00-" + e.traceID() + "-" + hex.EncodeToString(sum[:8]) + "-01"
}

// traceID is 16 bytes, as an id of a run has.
func (e *Execution) traceID() string {
	id := strings.ToLower(strings.ReplaceAll(e.ID, "-", ""))
	if raw, err := hex.DecodeString(id); err == nil && len(raw) == 16 && strings.Trim(id, "0") != "" {
		return id
	}
	sum := sha256.Sum256([]byte(e.ID))
	return hex.EncodeToString(sum[:16])
}
