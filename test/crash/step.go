package crash

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// StepPath is where steps of workflow runs call the target.
const StepPath = "/step"

// said is the body of a call of a step.
type said struct {
	Run  string                     `json:"run"`
	Step string                     `json:"step"`
	V    int                        `json:"v"`
	In   map[string]json.RawMessage `json:"in"`
}

// outcomeOf draws a number for an execution. It is the same for all its attempts.
func outcomeOf(execution string, shard int) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, execution, shard)
	return h.Sum64() >> 16
}

// step notes what a step says of itself and what it will be answered: a value of this attempt alone, a number, and a
// list. With ?odds= so many of a hundred executions fail. It returns how many attempts fail.
func (t *Target) step(c *history.Call, r *http.Request, failures int) int {
	var body said
	_ = json.NewDecoder(r.Body).Decode(&body) // the checker misses what cannot be read
	drawn := outcomeOf(c.Execution, c.Shard)
	list := make([]string, drawn/1000%9)
	for i := range list {
		list[i] = fmt.Sprintf("%s item %d", c.Execution, i)
	}
	out, _ := json.Marshal(map[string]any{ // texts and numbers always marshal
		"v": fmt.Sprintf("%s attempt %d", c.Execution, c.Attempt), "n": drawn / 100 % 10, "list": list,
	})
	c.Step = &history.StepCall{Run: body.Run, Key: body.Step, Version: body.V, In: body.In, Out: string(out)}
	if odds, _ := strconv.ParseUint(r.URL.Query().Get("odds"), 10, 64); drawn%100 < odds {
		return 1 << 30
	}
	return failures
}
