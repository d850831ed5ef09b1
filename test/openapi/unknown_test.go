package openapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnUnknownParameterIsAnsweredAsDocumented sends one with each call that has no body. Some refuse it, some do not
// look; each answer is one of those that the document names.
func TestAnUnknownParameterIsAnsweredAsDocumented(t *testing.T) {
	w := newWorld(t)
	d := &drawer{nil, w}
	for _, op := range w.doc.Operations() {
		if op.RequestBody != nil || op.Method == http.MethodDelete || strings.Contains(op.Path, "/auth/") {
			continue
		}
		got := w.send(w.admin, call{method: op.Method, path: d.filled(op), query: "nosuch=1", header: http.Header{}})
		require.NoError(t, w.doc.Check(got))
	}
}
