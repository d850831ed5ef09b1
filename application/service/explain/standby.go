package explain

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
)

// ownStandby says why this node stands by; an empty reason: it works.
func (c *inquiry) ownStandby() (reason string, since time.Time) {
	if c.Standby == nil {
		return "", time.Time{}
	}
	return c.Standby()
}

// standby reports whether this node or another one stands by.
func (c *inquiry) standby(all []entity.Node) bool {
	reason, _ := c.ownStandby()
	return reason != "" || len(standbys(all)) > 0
}

// standbys are the ids of the nodes that say in their rows that they stand by.
func standbys(all []entity.Node) (ids []string) {
	for _, n := range all {
		if n.Has(entity.RoleStandby) && n.Status != entity.NodeDown {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// standsBy tells that nothing goes on because the nodes stand by (docs/copies.md), and no other fires jobs. A node that
// stands by beside others that work is no reason for anything. This node knows its own reason alone: where it works, as
// one that serves the API and plans nothing, it names those that stand by.
func (c *inquiry) standsBy(ctx context.Context) error {
	if !slices.Contains([]Verdict{Planned, Overdue, Waiting}, c.answer.Verdict) {
		return nil
	}
	all, err := c.Nodes.All(ctx)
	if err != nil || len(partition.Members(all)) > 0 {
		return err
	}
	if reason, since := c.ownStandby(); reason != "" {
		c.add(FactStandsBy, "", Params{"since": since, "standbyReason": reason})
		return nil
	}
	ids := standbys(all)
	for _, id := range ids[:min(len(ids), nodesShown)] {
		c.add(FactNodeStandsBy, id, Params{"nodeId": id})
	}
	return nil
}
