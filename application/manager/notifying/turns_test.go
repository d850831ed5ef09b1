package notifying_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// slowly holds the messages to the channels of a group until they are let go.
type slowly struct {
	mu      sync.Mutex
	waiting int
	most    int
	fast    []string
	release chan struct{}
}

func (s *slowly) answer(channel string, m alert.Message) alert.SendResult {
	sent := alert.SendResult{Result: alert.ResultSent}
	s.mu.Lock()
	if !strings.HasPrefix(channel, "slow") {
		s.fast = append(s.fast, m.ID)
		s.mu.Unlock()
		return sent
	}
	s.waiting++
	s.most = max(s.most, s.waiting)
	s.mu.Unlock()
	<-s.release
	s.mu.Lock()
	s.waiting--
	s.mu.Unlock()
	return sent
}

func (s *slowly) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fast)
}

// Nine receivers of one group that take their time leave room for those of the others: a message of another
// group goes while they hold all that they may.
func TestSlowReceiversOfAGroupLeaveRoomForTheOthers(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		const each = 12
		s := &slowly{release: make(chan struct{})}
		p.answers(s.answer)
		a := p.fire("1", nil)
		for c := range 9 {
			id := fmt.Sprint("slow", c)
			h := head(id)
			h.Group = "ga"
			keep(p, alert.KindChannel, &alert.Channel{Head: h, Type: alert.ChannelWebhook})
			for i := range each {
				p.plan(fmt.Sprint("k", i), id, 1, a)
			}
		}
		h := head("quick")
		h.Group = "gb"
		keep(p, alert.KindChannel, &alert.Channel{Head: h, Type: alert.ChannelWebhook})
		ctx, stop := context.WithCancel(t.Context())
		n := p.node("n1")
		over := make(chan struct{})
		go func() { n.Run(ctx); close(over) }()
		synctest.Wait()
		s.mu.Lock()
		require.Equal(t, 16, s.waiting, "the slow ones hold what they may")
		s.mu.Unlock()
		for i := range 20 {
			p.plan(fmt.Sprint("q", i), "quick", 1, a)
		}
		n.Wake()
		synctest.Wait()
		require.Equal(t, 20, s.sent(), "all of the other group")
		s.mu.Lock()
		require.Equal(t, 16, s.most, "of one group")
		s.mu.Unlock()
		close(s.release)
		synctest.Wait()
		require.Len(t, p.calls(), 9*each+20, "then the rest of the first")
		stop()
		<-over
	})
}
