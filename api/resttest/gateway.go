package resttest

import (
	"context"
	"fmt"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Gateway answers workers as a test says. It keeps what it was asked.
type Gateway struct {
	mu    sync.Mutex
	calls []gateway.Call
	items []gateway.Item
	left  []string
	// Answer is what each poll gets, and Receipts each report; Err refuses both.
	Answer   gateway.Answer
	Receipts []gateway.Receipt
	Err      error
}

// Poll implements the gateway of the routes of workers, with the bound of an answer.
func (g *Gateway) Poll(_ context.Context, c gateway.Call) (gateway.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, bytes := g.Answer, 0
	a.Seq, a.Deliveries = c.Seq, nil
	for _, d := range g.Answer.Deliveries {
		if bytes += c.Size(d); bytes > c.Most && len(a.Deliveries) > 0 {
			break
		}
		a.Deliveries = append(a.Deliveries, d)
	}
	c.Size, c.Most = nil, 0 // a test compares the rest
	g.calls = append(g.calls, c)
	return a, g.Err
}

// Report implements the gateway of the routes of workers.
func (g *Gateway) Report(_ context.Context, _ string, _ int64, items []gateway.Item) ([]gateway.Receipt, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.items = append(g.items, items...)
	return g.Receipts, g.Err
}

// Left implements the gateway of the routes of workers.
func (g *Gateway) Left(workerID string, epoch int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = append(g.left, fmt.Sprintf("%s %d", workerID, epoch))
}

// HaveLeft are the workers that have left, each with the epoch of its life.
func (g *Gateway) HaveLeft() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left
}

// Timing implements the gateway of the routes of workers.
func (g *Gateway) Timing() delivery.Timing { return delivery.TimingFor(0) }

// Asked is what it was asked so far.
func (g *Gateway) Asked() (calls []gateway.Call, items []gateway.Item) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls, g.items
}
