package notifying

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
)

// first are the labels that say what an alert is about. They go before those of people.
var first = []string{"alertname", "severity", "group", "job", "node", "rule", "channel"}

// shown returns the labels that a message shows: as many as have room, what the alert is about first, the others in
// order of their names. One that has no room is left out whole.
func shown(labels map[string]string) map[string]string {
	if jsonLen(labels) <= bounds.ShownLabelBytes {
		return labels
	}
	out, room := map[string]string{}, bounds.ShownLabelBytes-len("{}")
	for _, name := range slices.Concat(first, slices.Sorted(maps.Keys(labels))) {
		value, known := labels[name]
		if _, have := out[name]; have || !known {
			continue
		}
		if need := jsonLen(map[string]string{name: value}) - len("{}") + len(","); need <= room {
			out[name], room = value, room-need
		}
	}
	return out
}

func jsonLen(labels map[string]string) int {
	data, _ := json.Marshal(labels) // texts always marshal
	return len(data)
}
