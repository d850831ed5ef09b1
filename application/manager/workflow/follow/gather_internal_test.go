package follow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// A run waits for more ends while these are few items of wide maps that have ended a moment ago, and for nothing else.
func TestARunGathersTheEndsOfAWideMap(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	graph, err := workflow.NewGraph(&wf.Definition{Steps: []wf.Step{
		{Name: "wide", ForEach: &wf.ForEach{Items: []byte("[]"), MaxParallel: 64}, Custom: &wf.Custom{JobClass: "noop"}},
		{
			Name: "narrow", ForEach: &wf.ForEach{Items: []byte("[]"), MaxParallel: gatherLeast - 1},
			Custom: &wf.Custom{JobClass: "noop"},
		},
		{Name: "plain", Custom: &wf.Custom{JobClass: "noop"}},
	}})
	require.NoError(t, err)
	ended := func(step string, ago time.Duration) entity.Todo {
		return wf.Todo("run", wf.OwesEnd(step), now.Add(-ago))
	}
	for name, c := range map[string]struct {
		todos   []entity.Todo
		gathers bool
	}{
		"nothing":     {nil, false},
		"an item":     {[]entity.Todo{ended("wide[3]", 0)}, true},
		"a while ago": {[]entity.Todo{ended("wide[3]", 0), ended("wide[4]", gatherTime)}, false},
		"three items": {[]entity.Todo{ended("wide[3]", 0), ended("wide[4]", 0), ended("wide[5]", 0)}, true},
		"a part": {
			[]entity.Todo{ended("wide[1]", 0), ended("wide[2]", 0), ended("wide[3]", 0), ended("wide[4]", 0)}, false,
		},
		"a narrow map":    {[]entity.Todo{ended("narrow[3]", 0)}, false},
		"a step":          {[]entity.Todo{ended("wide[3]", 0), ended("plain", 0)}, false},
		"a cancel":        {[]entity.Todo{ended("wide[3]", 0), wf.Todo("run", wf.OwesCancel, now)}, false},
		"an unknown step": {[]entity.Todo{ended("gone[3]", 0)}, false},
		"a clock set back": {
			[]entity.Todo{ended("wide[3]", -time.Minute)}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &passage{flow: &Workflow{Graph: graph}, todos: c.todos}
			require.Equal(t, c.gathers, p.gathers(now))
		})
	}
	require.False(t, (&passage{todos: []entity.Todo{ended("wide[3]", 0)}}).gathers(now), "nobody knows the workflow")
	asked := &passage{flow: &Workflow{Graph: graph}, todos: []entity.Todo{ended("wide[3]", 0)}}
	asked.asked.Command = workflow.Pause
	require.False(t, asked.gathers(now), "a person waits")
}
