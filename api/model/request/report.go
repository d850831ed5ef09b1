package request

import (
	"net/http"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The bounds of a report, in bytes where not said otherwise.
const (
	maxReportText       = 4 << 10
	maxReportResult     = 64 << 10
	maxReportCheckpoint = 64 << 10
	maxReportLines      = 1000
)

// RunToken is the header in which the target of an asynchronous call shows
// that it speaks for its attempt.
const RunToken = "X-Scheduler-Run-Token"

// ReportBody is the body of POST /executions/{id}/report.
type ReportBody struct {
	// Status ends the attempt; absent, the run goes on.
	Status  string `json:"status,omitempty" enums:"SUCCESS,FAILED"`
	Message string `json:"message,omitempty" maxLength:"4096"`
	Result  string `json:"result,omitempty" maxLength:"65536"`
	// NoRetry makes a failure final.
	NoRetry bool `json:"noRetry,omitempty"`
	// Progress is in percent.
	Progress *int `json:"progress,omitempty" minimum:"0" maximum:"100"`
	// Checkpoint is what the next attempt is given.
	Checkpoint *string `json:"checkpoint,omitempty" maxLength:"65536"`
	// Lines go to the log, at most 1000 at once.
	Lines []string `json:"lines,omitempty"`
}

// ReadReport reads the body of POST /executions/{id}/report.
func ReadReport(r *http.Request) (entity.RunReport, error) {
	body, err := readBody(r, func(body *ReportBody, f *faults) {
		switch entity.Status(body.Status) {
		case "", entity.StatusSuccess, entity.StatusFailed:
		default:
			f.add("status", "unknown_value", "must be SUCCESS or FAILED, or left out while the run goes on")
		}
		if p := or(body.Progress, 0); p < 0 || p > 100 {
			f.add("progress", "out_of_range", "must be from 0 to 100")
		}
		tooLong(f, "checkpoint", or(body.Checkpoint, ""), maxReportCheckpoint)
		if len(body.Lines) > maxReportLines {
			f.add("lines", "too_many", "must be at most %d lines; send the rest with the next report", maxReportLines)
		}
		tooLong(f, "message", body.Message, maxReportText)
		tooLong(f, "result", body.Result, maxReportResult)
	})
	return entity.RunReport{
		Status: entity.Status(body.Status), Message: body.Message, Result: body.Result, NoRetry: body.NoRetry,
		Progress: or(body.Progress, -1), Checkpoint: body.Checkpoint, Lines: body.Lines,
	}, err
}

func tooLong(f *faults, field, text string, limit int) {
	if len(text) > limit || !utf8.ValidString(text) {
		f.add(field, "too_long", "must be at most %d bytes of UTF-8", limit)
	}
}
