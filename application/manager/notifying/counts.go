package notifying

import (
	"cmp"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
)

// countsOf says what many alerts are about, the most frequent type first.
func countsOf(newest []alert.CountedAlert) []alert.MessageCount {
	byType := map[alert.RuleType]*kindCount{}
	for _, a := range newest {
		k := byType[a.Type]
		if k == nil {
			k = &kindCount{groups: map[string]int{}, causes: map[cause.ID]*causeCount{}}
			byType[a.Type] = k
		}
		k.add(a)
	}
	out := make([]alert.MessageCount, 0, len(byType))
	for _, t := range slices.Sorted(maps.Keys(byType)) {
		out = append(out, byType[t].count(t))
	}
	slices.SortStableFunc(out, func(a, b alert.MessageCount) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// kindCount counts the alerts of a type.
type kindCount struct {
	total  int
	groups map[string]int
	causes map[cause.ID]*causeCount
}

type causeCount struct {
	n int
	// sample is the error of the newest alert of the cause.
	sample string
}

func (k *kindCount) add(a alert.CountedAlert) {
	k.total++
	if a.Group != "" {
		k.groups[a.Group]++
	}
	if a.Error == "" {
		return
	}
	id := cause.Of(a.Reason, a.Error)
	if k.causes[id] == nil {
		k.causes[id] = &causeCount{sample: a.Error}
	}
	k.causes[id].n++
}

func (k *kindCount) count(t alert.RuleType) alert.MessageCount {
	out := alert.MessageCount{Type: string(t), Count: k.total, Groups: len(k.groups)}
	most := 0
	for _, group := range slices.Sorted(maps.Keys(k.groups)) {
		if k.groups[group] > most {
			out.Group, most = group, k.groups[group]
		}
	}
	for _, c := range k.causes {
		if c.n > out.CauseCount || c.n == out.CauseCount && c.sample < out.Cause {
			out.Cause, out.CauseCount = c.sample, c.n
		}
	}
	return out
}
