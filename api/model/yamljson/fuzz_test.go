package yamljson_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
)

// FuzzYAML: whatever comes, it is refused as wrong input, or it becomes JSON that
// YAML gives back unchanged.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"", "a: 1\nb: [x, 'y', \"z\"]\n", "version: 1\njobs:\n- name: n\n  jobType: HTTP\n  jobData: {url: http://x}\n",
		"a: |\n  one\n  two\nb: >\n  x\n  y", "a: &a [x]\nb: *a\n", "<<: {a: 1}\n", "a: !!binary aGk=\n", "? {a: 1}\n: b\n",
		"--- 1\n--- 2\n",
		"a: 1e400\nb: -0\nc: .inf\nd: 0x1F\n", "\ufeffa: b", "a: 1\na: 2\n", "%YAML 1.1\n---\na: b\n",
		"a: \"\\ud83d\\ude00\\x85\"\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, err := yamljson.AllFromYAML(text)
		if err != nil {
			var wrong *yamljson.Error
			require.True(t, errors.As(err, &wrong), "%T: %v", err, err)
			require.NotEmpty(t, wrong.Message)
			return
		}
		for _, first := range documents {
			require.True(t, json.Valid(first), "%s", first)
			yaml, err := yamljson.ToYAML(first)
			require.NoError(t, err)
			again, err := yamljson.FromYAML(yaml)
			require.NoError(t, err, "%s", yaml)
			require.Equal(t, string(first), string(again), "%s", yaml)
		}
	})
}
