package app

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// DataFolder is the folder that this process has in use.
func (e *Engine) DataFolder() *datafolder.Folder { return e.folder }

// ReadJob reads one definition, the body of POST /jobs, exactly as the API
// would: unknown fields and wrong values are refused, all at once.
func (e *Engine) ReadJob(ctx context.Context, body []byte) (request.JobInput, error) {
	reader := request.JobReader{TimeZone: e.cfg.Server.TimeZone, Checker: e.options.Executor, Now: e.Clock.Now}
	return reader.Read(ctx, body)
}

// storeTime is the machine's clock with the store's time of day. It is for times that
// several nodes store and compare: a step of one node's wall clock must not end sessions
// or drop keys of calls (engine rule 13).
type storeTime struct {
	clock.Clock
	store *storeclock.Clock
}

// Now implements clock.Clock.
func (s storeTime) Now() time.Time { return s.store.Now() }

// StoreTime is the machine's clock with the store's time of day.
func (e *Engine) StoreTime() clock.Clock { return storeTime{e.machine, e.Clock} }
