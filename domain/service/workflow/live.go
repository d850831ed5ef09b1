package workflow

import wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"

// Live lists the executions that are stored and have not ended, in the order of the steps.
func Live(g *Graph, s *wf.State) (keys []wf.Key) {
	for _, i := range g.Order() {
		step := &s.Steps[i]
		key := wf.Key{Name: g.def.Steps[i].Name, Item: wf.Whole, Generation: step.Generation}
		switch {
		case step.Fate != wf.FateLive || step.Owed:
		case step.Items == nil:
			keys = append(keys, key)
		default:
			for item := range step.Items.Inserted {
				if !step.Items.Final.Has(item) {
					key.Item = item
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}
