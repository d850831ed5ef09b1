package request

import (
	"net/http"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
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

// ReportBody documents the body of POST /executions/{id}/report.
type ReportBody struct {
	// Status ends the attempt; absent, the run goes on.
	Status  string `json:"status,omitempty" enums:"SUCCESS,FAILED"`
	Message string `json:"message,omitempty" maxLength:"4096"`
	Result  string `json:"result,omitempty" maxLength:"65536"`
	// NoRetry makes a failure final.
	NoRetry bool `json:"noRetry,omitempty"`
	// Progress is in percent.
	Progress int `json:"progress,omitempty" minimum:"0" maximum:"100"`
	// Checkpoint is what the next attempt is given.
	Checkpoint string `json:"checkpoint,omitempty" maxLength:"65536"`
	// Lines go to the log, at most 1000 at once.
	Lines []string `json:"lines,omitempty"`
}

// ReadReport reads the body of POST /executions/{id}/report.
func ReadReport(r *http.Request) (entity.RunReport, error) {
	report := entity.RunReport{Progress: -1}
	o, err := parse(r, false)
	if err != nil {
		return report, err
	}
	var f faults
	b := newBinder(o, &f)
	enum(b, "status", &report.Status)
	if report.Status != "" && report.Status != entity.StatusSuccess && report.Status != entity.StatusFailed {
		f.add("status", "unknown_value", "must be SUCCESS or FAILED, or left out while the run goes on")
	}
	b.text("message", &report.Message)
	b.text("result", &report.Result)
	b.boolean("noRetry", &report.NoRetry)
	if o.fields["progress"] != nil {
		report.Progress = 0
		integer(b, "progress", &report.Progress)
		if report.Progress < 0 || report.Progress > 100 {
			f.add("progress", "out_of_range", "must be from 0 to 100")
		}
	}
	if o.fields["checkpoint"] != nil {
		var state string
		b.text("checkpoint", &state)
		report.Checkpoint = &state
		tooLong(&f, "checkpoint", state, maxReportCheckpoint)
	}
	report.Lines, _ = b.strings("lines")
	if len(report.Lines) > maxReportLines {
		f.add("lines", "too_many", "must be at most %d lines; send the rest with the next report", maxReportLines)
	}
	tooLong(&f, "message", report.Message, maxReportText)
	tooLong(&f, "result", report.Result, maxReportResult)
	b.ignore("progress", "checkpoint") // also when they are null
	b.close()
	return report, apperror.Invalid(f.list)
}

func tooLong(f *faults, field, text string, limit int) {
	if len(text) > limit || !utf8.ValidString(text) {
		f.add(field, "too_long", "must be at most %d bytes of UTF-8", limit)
	}
}
