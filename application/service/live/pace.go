package live

import "maps"

// restLooks is for how many looks a list rests after it was told of. Lists of a busy
// scheduler change with every look, and a thousand browsers read them each time. An object is
// told of with every look.
const restLooks = 2

// pace holds back the changes of lists that rest. It belongs to the loop.
type pace struct {
	// rest is for how many looks a list still rests, held what has changed in it meanwhile.
	rest map[string]int
	held map[string]map[string]struct{}
}

func newPace() *pace {
	return &pace{rest: map[string]int{}, held: map[string]map[string]struct{}{}}
}

// of leaves in what a look has found the lists that may be told of now, with what was held
// back of them.
func (p *pace) of(found *changes) {
	for topic, groups := range p.held {
		for group := range groups {
			found.list(topic, group)
		}
	}
	clear(p.held)
	maps.DeleteFunc(found.lists, func(topic string, groups map[string]struct{}) bool {
		rests := p.rest[topic] > 0
		if rests {
			p.held[topic] = groups
		} else {
			p.rest[topic] = restLooks + 1
		}
		return rests
	})
	for topic := range p.rest {
		if p.rest[topic]--; p.rest[topic] <= 0 {
			delete(p.rest, topic)
		}
	}
}
