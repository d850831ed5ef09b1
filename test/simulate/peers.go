package simulate

import (
	"context"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// peers are the calls of one life of a node to the others.
type peers struct {
	w    *world
	life *life
}

var errNoAnswer = errors.New("the node has ended")

// Ask implements membership.Peers.
func (p *peers) Ask(ctx context.Context, n entity.Node, q entity.PeerQuestion) (a entity.PeerAnswer, err error) {
	p.life.clock.awaitThaw()
	if p.life.gate.over() {
		return a, errNoAnswer
	}
	for _, m := range p.w.members {
		if m.id != n.ID {
			continue
		}
		l := m.up()
		if l == nil {
			return a, entity.ErrNobodyListens
		}
		if p.life.alone.Load() || l.alone.Load() {
			select {
			case <-ctx.Done():
				return a, ctx.Err()
			case <-p.life.gate.gone:
				return a, errNoAnswer
			}
		}
		if thawed := l.clock.thawed(); thawed != nil {
			select {
			case <-thawed:
			case <-ctx.Done():
				return a, ctx.Err()
			case <-l.gate.gone:
				return a, errNoAnswer
			}
		}
		a = l.Member.Answer(ctx, q)
		p.life.clock.awaitThaw()
		return a, ctx.Err()
	}
	return a, entity.ErrNobodyListens
}
