package request

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxPlanID is the length of the longest planId.
const maxPlanID = 256 << 10

// causeID is a cause in hexadecimal letters.
var causeID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// BulkRetry is the body of POST /bulk/executions/retry: ids, a filter that is counted, or the plan of such a count.
type BulkRetry struct {
	// IDs may name an execution twice; it is treated once.
	IDs []string `json:"ids,omitempty"`
	// Filter chooses failed executions. It needs dryRun, which answers with a plan.
	Filter *RetryFilter `json:"filter,omitempty"`
	DryRun bool         `json:"dryRun,omitempty"`
	// Limit bounds the executions of a plan; the newest count.
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"5000" default:"5000"`
	// PlanID carries a plan out, within ten minutes.
	PlanID string `json:"planId,omitempty" maxLength:"262144"`
}

// RetryFilter chooses failed executions. Empty fields do not filter; executions that were run again are left out.
type RetryFilter struct {
	Groups []string `json:"groups,omitempty"`
	JobIDs []string `json:"jobIds,omitempty"`
	// From and To bound scheduledTime; To is exclusive. Without them, the last day is looked at.
	From   time.Time `json:"from,omitempty" format:"date-time"`
	To     time.Time `json:"to,omitempty" format:"date-time"`
	Status []string  `json:"status,omitempty" enums:"FAILED,TIMEOUT,DEAD"`
	Reason string    `json:"reason,omitempty" maxLength:"64"`
	// NodeID is the node that ran them last; Trigger is why they exist.
	NodeID  string `json:"nodeId,omitempty" maxLength:"64"`
	Trigger string `json:"trigger,omitempty" enums:"SCHEDULE,MANUAL,API,RETRY,MISFIRE,DEPENDENCY"`
	// Cause is one of a plan: failures whose reason and message are alike.
	Cause string `json:"cause,omitempty" minLength:"16" maxLength:"16"`
	// SucceededSince takes in executions of jobs of which a later fire succeeded.
	SucceededSince bool `json:"succeededSince,omitempty"`
}

// ReadBulkRetry reads the body of POST /bulk/executions/retry. The service reads the plan.
func ReadBulkRetry(r *http.Request) (BulkRetry, error) {
	return readBody(r, func(body *BulkRetry, f *faults) {
		if f.list != nil {
			return
		}
		switch chosen := body.Filter != nil || body.PlanID != ""; {
		case body.Filter != nil && body.PlanID != "":
			f.add("planId", "conflict", "give a filter to count, or the planId of such a count, not both")
		case body.Filter != nil && !body.DryRun:
			f.add("dryRun", "required", "must be true beside a filter; the answer has a planId that starts the executions")
		case body.Filter == nil && body.DryRun:
			f.add("filter", "required", "is needed for a dry run")
		case chosen && body.IDs != nil:
			f.add("ids", "conflict", "give ids, a filter, or a planId, and no two of them")
		case !chosen:
			body.IDs = f.ids(body.IDs, false)
		case body.Filter != nil:
			body.Filter.check(f)
		}
		if len(body.PlanID) > maxPlanID {
			f.add("planId", "too_long", "is longer than any planId of an answer")
		}
		if body.Limit < 1 || body.Limit > execution.MaxRerun {
			f.add("limit", "out_of_range", "must be from 1 to %d", execution.MaxRerun)
		}
	})
}

func (x *RetryFilter) check(f *faults) {
	for field, list := range map[string][]string{"filter.jobIds": x.JobIDs, "filter.groups": x.Groups} {
		switch {
		case len(list) > MaxBulk:
			f.add(field, "too_many", "must name at most %d", MaxBulk)
		case list != nil && (len(list) == 0 || slices.Contains(list, "")):
			f.add(field, "required", "must not be empty, nor have an empty entry; leave it out for all")
		}
	}
	known := entity.FailedStatuses()
	for i, status := range x.Status {
		if !slices.Contains(known, entity.Status(status)) {
			f.add(fmt.Sprintf("filter.status[%d]", i), "unknown_value", "must be one of %s", named(known))
		}
	}
	if x.Trigger != "" && !slices.Contains(entity.Triggers(), entity.Trigger(x.Trigger)) {
		f.add("filter.trigger", "unknown_value", "must be one of %s", named(entity.Triggers()))
	}
	if x.Cause != "" && !causeID.MatchString(x.Cause) {
		f.add("filter.cause", "invalid", "must be the 16 hexadecimal letters of a cause that a plan shows")
	}
}

// named lists values for people.
func named[T any](values []T) string { return strings.Trim(fmt.Sprint(values), "[]") }

// Rerun is the filter as the service takes it.
func (x *RetryFilter) Rerun() execution.RerunFilter {
	f := execution.RerunFilter{
		JobIDs: x.JobIDs, Groups: x.Groups, Reason: entity.Reason(x.Reason), Cause: x.Cause, From: x.From, To: x.To,
		NodeID: x.NodeID, Trigger: entity.Trigger(x.Trigger), Succeeded: x.SucceededSince,
	}
	for _, status := range x.Status {
		f.Statuses = append(f.Statuses, entity.Status(status))
	}
	return f
}
