package httpcall

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
)

// maxShown bounds parameters and checkpoints in a header, in bytes. Many servers accept at most
// 8 KiB of headers in all.
const maxShown = 4 << 10

// The headers that only the origin of the job gets.
const (
	tokenHeader      = runPrefix + "Run-Token"
	reportPathHeader = runPrefix + "Report-Path"
	reportURLHeader  = runPrefix + "Report-Url"
	paramsHeader     = runPrefix + "Params"
	checkpointHeader = runPrefix + "Checkpoint"
)

var confidential = []string{tokenHeader, reportPathHeader, reportURLHeader, paramsHeader, checkpointHeader}

// traceHeader is the header of W3C Trace Context, in Go's spelling.
const traceHeader = "Traceparent"

// identityHeaders are the headers of the values that fit into any header.
var identityHeaders = []struct {
	header string
	value  runidentity.Name
}{
	{runPrefix + "Execution-Id", runidentity.ExecutionID},
	{runPrefix + "Job-Id", runidentity.JobID},
	{runPrefix + "Scheduled-Time", runidentity.ScheduledTime},
	{runPrefix + "Attempt", runidentity.Attempt},
	{runPrefix + "Shard-Index", runidentity.ShardIndex},
	{runPrefix + "Shard-Total", runidentity.ShardTotal},
	{runPrefix + "Fencing-Token", runidentity.FencingToken},
	{runPrefix + "Idempotency-Key", runidentity.IdempotencyKey},
	{runPrefix + "Deadline", runidentity.Deadline},
}

// identify tells the target which run calls it, and the parameters and checkpoint of the run.
func identify(h http.Header, run entity.Run) {
	id := runidentity.Of(run)
	for _, told := range identityHeaders {
		h[told.header] = []string{id.Text(told.value)}
	}
	h[runPrefix+"Job-Name"] = []string{headerText(id.JobName)}
	if h[traceHeader] == nil {
		h[traceHeader] = []string{id.TraceParent}
	}
	var omitted []string
	for _, long := range []struct{ header, name, value string }{
		{paramsHeader, "Params", id.Params}, {checkpointHeader, "Checkpoint", id.Checkpoint},
	} {
		switch value := headerText(long.value); {
		case value == "":
		case len(value) > maxShown:
			omitted = append(omitted, long.name)
		default:
			h[long.header] = []string{value}
		}
	}
	if len(omitted) > 0 {
		h[runPrefix+"Omitted"] = []string{strings.Join(omitted, ", ")}
	}
}

// headerText makes any string fit for a header. It percent-encodes the percent sign,
// outer spaces, and all that is not printable ASCII.
func headerText(text string) string {
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
