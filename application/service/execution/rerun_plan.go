package execution

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

const (
	// PlanFor is how long a plan may be carried out after it was made, by the store's clock.
	PlanFor = 10 * time.Minute
	// maxPlan bounds the text of a plan, unpacked: MaxRerun ids of 36 letters with quotes and commas.
	maxPlan = 64 + MaxRerun*39
	// maxRunID bounds an id of a run.
	maxRunID = 64
)

// planned are the runs of a plan. The id of the plan holds them all: what starts is what was counted, each
// node can carry the plan out, and nothing is stored. A plan grants nothing: it is worth as much as the ids of its
// runs.
type planned struct {
	Made int64    `json:"made"`
	IDs  []string `json:"ids"`
}

// PlanID is the id of a plan of runs.
func PlanID(ids []string, made time.Time) (string, error) {
	text, err := json.Marshal(planned{made.UnixMilli(), ids})
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return "", err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	return base64.RawURLEncoding.EncodeToString(packed.Bytes()), err
}

// PlanOf reads the id of a plan: its runs, and when it was made. One that is no id of a plan, or too old, is refused.
func (s *ExecutionService) PlanOf(planID string) (ids []string, made time.Time, err error) {
	p, ok := unpack(planID)
	if !ok {
		return nil, made, apperror.InvalidField("planId", "unknown_plan",
			"is not the planId of an answer; send the filter with dryRun for a new one")
	}
	made = time.UnixMilli(p.Made).UTC()
	if age := s.Clock.Now().Sub(made); age > PlanFor || age < -PlanFor {
		return nil, made, apperror.InvalidField("planId", "plan_expired",
			"is of a plan that was made more than ten minutes ago; send the filter with dryRun for a new one")
	}
	return p.IDs, made, nil
}

func unpack(planID string) (p planned, ok bool) {
	packed, err := base64.RawURLEncoding.DecodeString(planID)
	if err != nil {
		return p, false
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPlan+1))
	if err != nil || len(text) > maxPlan || json.Unmarshal(text, &p) != nil || len(p.IDs) == 0 || len(p.IDs) > MaxRerun {
		return p, false
	}
	for i, id := range p.IDs {
		if id == "" || len(id) > maxRunID || i > 0 && id <= p.IDs[i-1] {
			return p, false
		}
	}
	return p, true
}
