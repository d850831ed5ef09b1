package documents

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A server knows one list of jobs; people look for a workflow where they wrote it.
func TestAWrongWorkflowIsNamedByItsOwnList(t *testing.T) {
	d, err := definitionsIn([]byte("version: 1\njobs: [{name: plain}]\nworkflows: [{name: first}, {name: second}]"))
	require.NoError(t, err)
	c := chunk{jobs: of("all.yaml", d.jobs)}
	for place, want := range map[string]string{
		"jobs[0].name":          "all.yaml: jobs[0] (plain).name",
		"jobs[1].steps[0].name": "all.yaml: workflows[0] (first).steps[0].name",
		"jobs[2].steps[3]":      "all.yaml: workflows[1] (second).steps[3]",
	} {
		require.Equal(t, want, c.inFile(place))
	}
}
