package openapi_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page of the API is somebody else's program: it is not older than the
// version that was looked at, and its licence comes with it.
func TestTheEmbeddedPageIsOfAKnownVersion(t *testing.T) {
	bundle, err := os.ReadFile("ui/swagger-ui-bundle.js")
	require.NoError(t, err)
	found := regexp.MustCompile(`PACKAGE_VERSION:"(\d+)\.(\d+)\.(\d+)"`).FindSubmatch(bundle)
	require.NotNil(t, found, "the bundle says its version")
	version := 0
	for _, part := range found[1:] {
		n, err := strconv.Atoi(string(part))
		require.NoError(t, err)
		version = version*1000 + n
	}
	require.GreaterOrEqual(t, version, 5_035_000, "the version is %s", found[0])
	for _, file := range []string{"LICENSE.txt", "NOTICE.txt", "swagger-ui-bundle.js.LICENSE.txt"} {
		text, err := os.ReadFile("ui/" + file)
		require.NoError(t, err)
		require.NotEmpty(t, text, file)
	}
}
