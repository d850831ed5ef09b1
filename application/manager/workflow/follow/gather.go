package follow

import (
	"time"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

const (
	// gatherTime is how long the end of an item waits for others at most. A commit lets ends wait as long (ADR 6).
	gatherTime = 20 * time.Millisecond
	// gatherShare is the part of a map's window that need not be at work meanwhile. In a window of less than gatherLeast
	// no end waits: too few would come.
	gatherShare = 16
	gatherLeast = 64
)

// gathers reports whether a run waits for more ends: nothing has ended but items of maps, a moment ago, and so few that
// nearly all the window is at work. Else each end of a wide map would write its run.
func (p *passage) gathers(now time.Time) bool {
	if p.flow == nil || p.asked.Command != "" || len(p.todos) == 0 {
		return false
	}
	ended := map[int]int{}
	for _, t := range p.todos {
		step, ok := wf.EndedStep(t.Item)
		if !ok || now.Sub(t.Time) >= gatherTime || now.Before(t.Time) {
			return false
		}
		key, err := wf.ParseKey(step)
		i, known := p.flow.Graph.Step(key.Name)
		if err != nil || !known || key.Item == wf.Whole {
			return false
		}
		each := p.flow.Graph.Definition().Steps[i].ForEach
		if ended[i]++; each == nil || each.Window() < gatherLeast || ended[i]*gatherShare >= each.Window() {
			return false
		}
	}
	return true
}
