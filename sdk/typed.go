package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Typed makes a handler of a function that takes its input as a value. The input is the job's data
// with the trigger's params laid over it, as Decode reads them, but stricter. A field that P does
// not have fails the run for good and is named. A misspelt field would otherwise be a silent
// default.
func Typed[P any](handle func(ctx context.Context, run *Run, input P) error) Handler {
	return HandlerFunc(func(ctx context.Context, run *Run) error {
		var input P
		if err := run.decode(&input, true); err != nil {
			return err
		}
		return handle(ctx, run, input)
	})
}

// decode is Decode, and with strict refuses fields that v does not know.
func (r *Run) decode(v any, strict bool) error {
	for _, part := range []struct {
		name string
		data json.RawMessage
	}{{"job data", r.info.JobData}, {"params", r.info.Params}} {
		if len(part.data) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(part.data))
		if strict {
			d.DisallowUnknownFields()
		}
		err := d.Decode(v)
		if err == nil && d.More() {
			err = errors.New("there is more than one JSON value")
		}
		if err != nil {
			return Fatal(fmt.Errorf("decode the %s of job %s: %w", part.name, r.info.JobID, err))
		}
	}
	return nil
}
