package simulate

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/test/delivery"
)

// receiver takes the messages about alerts, and notes them before it answers. Safe for concurrent use.
type receiver struct {
	mu       sync.Mutex
	receipts []delivery.Receipt
	fails    bool
	slow     time.Duration
}

// answer sets how messages are answered from now on.
func (r *receiver) answer(fails bool, slow time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails, r.slow = fails, slow
}

func (r *receiver) all() []delivery.Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery.Receipt(nil), r.receipts...)
}

// open is how a life of a node opens channels.
func (r *receiver) open(l *life) notifying.OpenChannel {
	return func(alert.ChannelType, alert.ChannelConfig) (notifying.Channel, error) { return &line{r, l}, nil }
}

// line leads from a life of a node to the receiver.
type line struct {
	receiver *receiver
	life     *life
}

// sendBound is how long a sender waits for an answer, as those of the product do.
const sendBound = 10 * time.Second

// Send implements notifying.Channel.
func (l *line) Send(ctx context.Context, m alert.Message) alert.SendResult {
	failed := alert.SendResult{Result: alert.ResultFailed, Code: "simulated", Text: "as it was told"}
	l.life.clock.awaitThaw()
	if l.life.gate.over() {
		return failed
	}
	ctx, cancel := context.WithTimeout(ctx, sendBound)
	defer cancel()
	r, receipt := l.receiver, delivery.Receipt{Channel: delivery.Webhook, ID: m.ID, At: time.Now()}
	for _, a := range m.Alerts {
		receipt.Alerts = append(receipt.Alerts, delivery.Told{
			ID: a.ID, Fingerprint: a.Fingerprint, Status: a.Status, JobID: a.JobID,
		})
	}
	r.mu.Lock()
	fails, slow := r.fails, r.slow
	receipt.Accepted = !fails
	r.receipts = append(r.receipts, receipt)
	r.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return alert.SendResult{Result: alert.ResultFailed, Code: "timeout", Text: "no answer"}
		case <-l.life.gate.gone:
			return failed
		}
	}
	l.life.clock.awaitThaw()
	if fails {
		return failed
	}
	return alert.SendResult{Result: alert.ResultSent}
}
