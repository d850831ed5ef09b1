package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/jsonpath"
)

func TestAPathFindsAPart(t *testing.T) {
	value := json.RawMessage(`{"a": [10, {"b": 12345678901234567890}], "n": null, "": 1}`)
	for path, want := range map[string]string{
		"": string(value), ".a[0]": "10", ".a[1].b": "12345678901234567890", ".a[2]": "", ".a.b": "", ".n": "", "[0]": "",
		".gone.deeper": "",
	} {
		p, ok := jsonpath.Parse(path)
		require.True(t, ok, path)
		got, found := p.In(value)
		require.Equal(t, want != "", found, path)
		if found {
			require.Equal(t, want, string(got))
		}
	}
	for _, path := range []string{
		"a", ".", "..a", ".a.", "[", "[]", "[01]", "[-1]", "[1", "[1]a", ".a b", ".ä", strings.Repeat(".a", 21),
		"." + strings.Repeat("a", 51), "[99999999999999999999]",
	} {
		_, ok := jsonpath.Parse(path)
		require.False(t, ok, path)
	}
}
