package httpcall

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxShown bounds what is told of parameters and checkpoints in a header, in
// bytes: many servers take no more than 8 KiB of headers in all.
const maxShown = 4 << 10

// The headers that are not told to another origin than that of the job.
const (
	tokenHeader      = runPrefix + "Run-Token"
	reportPathHeader = runPrefix + "Report-Path"
	reportURLHeader  = runPrefix + "Report-Url"
	paramsHeader     = runPrefix + "Params"
	checkpointHeader = runPrefix + "Checkpoint"
)

var confidential = []string{tokenHeader, reportPathHeader, reportURLHeader, paramsHeader, checkpointHeader}

// traceHeader is the one of W3C Trace Context, in Go's spelling.
const traceHeader = "Traceparent"

// identify tells the target which run calls it, and what the run was given.
func identify(h http.Header, run entity.Run) {
	x := run.Execution
	set := func(name, value string) { h[runPrefix+name] = []string{value} }
	set("Execution-Id", x.ID)
	set("Job-Id", run.Job.ID)
	set("Job-Name", told(run.Job.Name))
	set("Scheduled-Time", clock.Text(x.ScheduledTime))
	set("Attempt", strconv.Itoa(x.Attempt))
	set("Shard-Index", strconv.Itoa(x.ShardIndex))
	set("Shard-Total", strconv.Itoa(max(x.ShardTotal, 1)))
	set("Fencing-Token", strconv.FormatInt(x.FencingToken(), 10))
	set("Idempotency-Key", x.IdempotencyKey())
	set("Deadline", clock.Text(run.Deadline))
	if h[traceHeader] == nil {
		h[traceHeader] = []string{x.TraceParent()}
	}
	var omitted []string
	for _, long := range []struct{ header, name, value string }{
		{paramsHeader, "Params", x.Params}, {checkpointHeader, "Checkpoint", x.Checkpoint},
	} {
		switch value := told(long.value); {
		case value == "":
		case len(value) > maxShown:
			omitted = append(omitted, long.name)
		default:
			h[long.header] = []string{value}
		}
	}
	if len(omitted) > 0 {
		set("Omitted", strings.Join(omitted, ", "))
	}
}

// told makes any text fit for a header: what is not printable ASCII is
// percent-encoded, and so are the percent sign and outer spaces.
func told(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '%' || c == ' ' && (i == 0 || i == len(text)-1) {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
