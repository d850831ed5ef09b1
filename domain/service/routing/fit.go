package routing

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Missing is what a node lacks for a class: labels (WaitNode), commands or the
// handler; WaitNone when it is fit. It says nothing of the node's state and
// load. A node that does not publish what it can may run commands, and has no
// handler for sure.
func Missing(c entity.NodeClass, n *entity.Node) entity.Wait {
	switch {
	case c.Workers != "": // no node is a worker
		return entity.WaitNode
	case !Match(c.Labels, n.Labels):
		return entity.WaitNode
	case c.Command && n.Publishes() && n.CommandSlots < 1:
		return entity.WaitCommand
	case !n.HasHandler(c.Handler):
		return entity.WaitHandler
	}
	return entity.WaitNone
}

// Unfit is what keeps all of the nodes from taking runs of a class; WaitNone
// when one of them can. Nodes that are down or drain, or are no executors, count
// for nothing. Of the others the one that lacks least decides: where a
// node carries the labels, commands or the handler are what is missing.
func Unfit(c entity.NodeClass, nodes []entity.Node) entity.Wait {
	missing := entity.WaitNode
	for i := range nodes {
		n := &nodes[i]
		if rankFor(entity.NodeClass{}, n) == unfit {
			continue
		}
		switch lacks := Missing(c, n); lacks {
		case entity.WaitNone:
			return lacks
		case entity.WaitCommand, entity.WaitHandler:
			missing = lacks
		}
	}
	return missing
}
