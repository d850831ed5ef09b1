package bench

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// probeEvery is the time between two questions to the API.
const probeEvery = 100 * time.Millisecond

// Probe is how a page of jobs was answered while jobs fired, in ms from the
// moment that was planned for each question.
type Probe struct {
	Calls  int       `json:"calls"`
	Errors int       `json:"errors"`
	Ms     *Lateness `json:"ms"`
}

// probe asks the nodes in turn until the returned function is called.
func (b *bench) probe(ctx context.Context, clients []*client.Client) (done func() *Probe) {
	asking, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	p := &Probe{}
	var ms []float64
	go func() {
		defer close(ended)
		for at := b.clock.Monotonic(); b.sleep(asking, at-b.clock.Monotonic()) == nil; at += probeEvery {
			// A question that was asked is waited for.
			err := clients[p.Calls%len(clients)].Call(ctx, http.MethodGet, "/jobs", url.Values{"limit": {"50"}}, nil, nil)
			if p.Calls++; err != nil {
				p.Errors++
			}
			ms = append(ms, float64((b.clock.Monotonic()-at).Microseconds())/1000)
		}
	}()
	return func() *Probe {
		stop()
		<-ended
		p.Ms = summarize(ms)
		return p
	}
}
