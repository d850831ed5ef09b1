package live

import "slices"

// changes are what one look has found.
type changes struct {
	many bool
	// objects are topics of single objects.
	objects map[string]struct{}
	// lists are the groups that a list has changed in. Everybody may hear of everyone, and
	// only who sees all groups hears of unknown.
	lists map[string]map[string]struct{}
}

// The groups of what has none.
const (
	everyone = "\x00everyone"
	unknown  = "\x00unknown"
)

func newChanges() *changes {
	return &changes{objects: map[string]struct{}{}, lists: map[string]map[string]struct{}{}}
}

func (c *changes) empty() bool { return !c.many && len(c.objects) == 0 && len(c.lists) == 0 }

// object notes that one object has changed.
func (c *changes) object(topic string) {
	c.objects[topic] = struct{}{}
	c.many = c.many || len(c.objects) > maxChanged
}

// list notes that a list has changed for those who see a group.
func (c *changes) list(topic, group string) {
	if c.lists[topic] == nil {
		c.lists[topic] = map[string]struct{}{}
	}
	c.lists[topic][group] = struct{}{}
}

// concerns reports whether a topic has changed for one who sees some groups; nil is all.
func (c *changes) concerns(topic string, groups []string) bool {
	if _, changed := c.objects[topic]; changed {
		return true
	}
	in, changed := c.lists[topic]
	if !changed || groups == nil {
		return changed
	}
	if _, all := in[everyone]; all {
		return true
	}
	return slices.ContainsFunc(groups, func(group string) bool { _, is := in[group]; return is })
}
