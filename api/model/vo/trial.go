package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// JobTrial is what one run of a draft came to. Nothing of it is stored.
type JobTrial struct {
	Status entity.Status `json:"status" enums:"SUCCESS,FAILED,TIMEOUT,CANCELLED"`
	// Reason explains a status other than SUCCESS; null: none.
	Reason *entity.Reason `json:"reason" extensions:"x-nullable"`
	// Message is the error, Result what the run returned.
	Message  string `json:"message"`
	Result   string `json:"result"`
	ExitCode *int   `json:"exitCode" extensions:"x-nullable"`
	NodeID   string `json:"nodeId"`
	Start    Time   `json:"startTime" format:"date-time"`
	// DurationMs is how long the run took, in ms.
	DurationMs int64     `json:"durationMs"`
	Logs       []LogLine `json:"logs"`
	// LogTruncated: the output reached its cap, and lines after it were cut.
	LogTruncated bool `json:"logTruncated"`
}

// FromJobTrial converts a result.
func FromJobTrial(r *trial.Result) JobTrial {
	v := JobTrial{
		Status: r.Outcome.Status, Message: r.Outcome.Message, Result: r.Outcome.Result, ExitCode: r.Outcome.ExitCode,
		NodeID: r.NodeID, Start: Time(r.Start), DurationMs: r.Took.Milliseconds(),
		Logs: make([]LogLine, len(r.Log)), LogTruncated: r.Truncated,
	}
	if r.Outcome.Reason != entity.ReasonNone {
		v.Reason = &r.Outcome.Reason
	}
	for i, line := range r.Log {
		v.Logs[i] = LogLine{Seq: int64(i + 1), Time: Time(line.Time), Stream: line.Stream, Line: line.Text, Attempt: 1}
	}
	return v
}
