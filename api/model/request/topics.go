package request

import (
	"slices"
	"strings"
)

// maxTopicsText bounds a list of topics, in bytes.
const maxTopicsText = 4096

// Topics returns 1 to most topics, which stand in one parameter with commas between them,
// each once.
func (q *Query) Topics(name string, most int) []string {
	q.taken[name] = true
	values := q.values[name]
	switch {
	case len(values) == 0 || values[0] == "":
		q.faults.add(name, "required", "name what to watch, such as jobs,executions")
		return nil
	case len(values) > 1:
		q.faults.add(name, "repeated", "is given more than once; put commas between topics")
		return nil
	case len(values[0]) > maxTopicsText:
		q.faults.add(name, "too_long", "must have at most %d bytes", maxTopicsText)
		return nil
	}
	topics := strings.Split(values[0], ",")
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) > most {
		q.faults.add(name, "too_many", "must have at most %d topics", most)
	}
	return topics
}
