// Package cluster translates between HTTP and what is known of nodes and of the state
// of everything, and serves probes and documents. Controllers hold no state of their own
// and are safe for concurrent use.
package cluster

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
)

// NodeController serves /nodes.
type NodeController struct{ Nodes *node.NodeService }

// List answers GET /nodes with all of them.
//
//	@Summary List the nodes
//	@Description All of them, by id.
//	@Success 200 {object} vo.Page[vo.Node]
//	@Router /api/v1/nodes [get]
func (n *NodeController) List(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	nodes, err := n.Nodes.List(c.Request.Context())
	if err != nil {
		return err
	}
	return reply.Whole(c, nodes, func(n node.Node) vo.Node { return vo.FromNode(n.Node, n.Partitions) })
}

// Handlers answers GET /handlers.
//
//	@Summary List the handlers of CUSTOM jobs and the live nodes that have them
//	@Description All of them, by name. A job may name others: its runs wait until a node has the handler.
//	@Success 200 {object} vo.Page[vo.Handler]
//	@Router /api/v1/handlers [get]
func (n *NodeController) Handlers(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	handlers, err := n.Nodes.Handlers(c.Request.Context())
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(vo.FromHandlers(handlers), ""))
}

// Get answers GET /nodes/{id}.
//
//	@Summary	Show a node
//	@Success	200 {object} vo.Node
//	@Router	/api/v1/nodes/{id} [get]
func (n *NodeController) Get(c *gin.Context) error { return n.answer(c, n.Nodes.Get) }

// Drain answers POST /nodes/{id}/drain.
//
//	@Summary	Keep new runs away from a node
//	@Success	200 {object} vo.Node
//	@Failure	409 {object} problem.Problem "the node is down"
//	@Router	/api/v1/nodes/{id}/drain [post]
func (n *NodeController) Drain(c *gin.Context) error { return n.answer(c, n.Nodes.Drain) }

// Resume answers POST /nodes/{id}/resume.
//
//	@Summary	Let runs start on a node again
//	@Success	200 {object} vo.Node
//	@Failure	409 {object} problem.Problem "the node is down"
//	@Router	/api/v1/nodes/{id}/resume [post]
func (n *NodeController) Resume(c *gin.Context) error { return n.answer(c, n.Nodes.Resume) }

func (n *NodeController) answer(c *gin.Context, act func(context.Context, string) (node.Node, error)) error {
	node, err := act(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromNode(node.Node, node.Partitions))
}
