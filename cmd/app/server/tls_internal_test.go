package server

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TLS 1.2 has every suite of Go with authenticated encryption, and none without.
func TestTheSuitesOfTLS12AreAuthenticated(t *testing.T) {
	var want []uint16
	for _, s := range tls.CipherSuites() {
		authenticated := strings.Contains(s.Name, "_GCM_") || strings.Contains(s.Name, "_POLY1305_")
		if slices.Contains(s.SupportedVersions, tls.VersionTLS12) && authenticated && strings.Contains(s.Name, "ECDHE") {
			want = append(want, s.ID)
		}
	}
	require.Len(t, want, 6)
	require.ElementsMatch(t, want, suites())
}
