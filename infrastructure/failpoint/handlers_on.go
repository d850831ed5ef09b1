//go:build failpoints

package failpoint

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Handlers returns the handlers that PS_FAILPOINT_HANDLERS names, so that nodes of one binary
// can have different ones. Each calls the "url" of its job's data and tells it the attempt, as
// an HTTP job does.
func Handlers() map[string]sdk.Handler {
	handlers := map[string]sdk.Handler{}
	for name := range strings.SplitSeq(os.Getenv("PS_FAILPOINT_HANDLERS"), ",") {
		if name != "" {
			handlers[name] = sdk.HandlerFunc(call)
		}
	}
	return handlers
}

func call(ctx context.Context, run *sdk.Run) error {
	var data struct {
		URL string `json:"url"`
	}
	if err := run.Decode(&data); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, data.URL, http.NoBody)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Execution-Id": run.ExecutionID(), "Job-Id": run.JobID(), "Attempt": strconv.Itoa(run.Attempt()),
		"Shard-Index": strconv.Itoa(run.ShardIndex()), "Fencing-Token": strconv.FormatInt(run.FencingToken(), 10),
	} {
		req.Header.Set("X-Scheduler-"+name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return err
	}
	if res.StatusCode > 299 {
		return fmt.Errorf("the target answered %d: %s", res.StatusCode, text)
	}
	return nil
}
