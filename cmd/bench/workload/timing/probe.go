package timing

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// probeEvery is the time between two questions to the API.
const probeEvery = 100 * time.Millisecond

// probe asks the nodes in turn until the returned function is called.
func (b Stampede) probe(ctx context.Context, clients []*client.Client) (done func() *report.Probe) {
	asking, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	p := &report.Probe{}
	var ms []float64
	go func() {
		defer close(ended)
		for at := b.Clock.Monotonic(); b.Sleep(asking, at-b.Clock.Monotonic()) == nil; at += probeEvery {
			// A question that was asked is waited for.
			err := clients[p.Calls%len(clients)].Call(ctx, http.MethodGet, "/jobs", url.Values{"limit": {"50"}}, nil, nil)
			if p.Calls++; err != nil {
				p.Errors++
			}
			ms = append(ms, float64((b.Clock.Monotonic()-at).Microseconds())/1000)
		}
	}()
	return func() *report.Probe {
		stop()
		<-ended
		p.Ms = measure.Summarize(ms)
		return p
	}
}
