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

// NodeService shows and drains nodes. Unknown ones are apperror.KindNotFound.
type NodeService interface {
	// List is every node, by id.
	List(ctx context.Context) ([]node.Node, error)
	Get(ctx context.Context, id string) (node.Node, error)
	// Drain and Resume return apperror.KindConflict for a node that is DOWN.
	Drain(ctx context.Context, id string) (node.Node, error)
	Resume(ctx context.Context, id string) (node.Node, error)
	// Handlers are those that live nodes have, by name.
	Handlers(ctx context.Context) ([]node.Handler, error)
}

// NodeController serves /nodes.
type NodeController struct{ nodes NodeService }

// NewNodeController serves a registry.
func NewNodeController(nodes NodeService) *NodeController { return &NodeController{nodes} }

// List answers GET /nodes with all of them.
//
//	@Summary List the nodes
//	@Description All of them, by id.
//	@Tags nodes
//	@Success 200 {object} vo.Page[vo.Node]
//	@Success 304 "If-None-Match names this answer"
//	@Router /api/v1/nodes [get]
func (n *NodeController) List(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	nodes, err := n.nodes.List(c.Request.Context())
	if err != nil {
		return err
	}
	items := make([]vo.Node, len(nodes))
	for i, node := range nodes {
		items[i] = vo.FromNode(node.Node, node.Partitions)
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(items, ""))
}

// Handlers answers GET /handlers.
//
//	@Summary List the handlers of CUSTOM jobs and the live nodes that have them
//	@Description All of them, by name. A job may name others: its runs wait until a node has the handler.
//	@Tags nodes
//	@Success 200 {object} vo.Page[vo.Handler]
//	@Router /api/v1/handlers [get]
func (n *NodeController) Handlers(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	handlers, err := n.nodes.Handlers(c.Request.Context())
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.NewPage(vo.FromHandlers(handlers), ""))
}

// Get answers GET /nodes/{id}.
//
//	@Summary	Show a node
//	@Tags	nodes
//	@Param	id path string true "id of the node"
//	@Success	200 {object} vo.Node
//	@Router	/api/v1/nodes/{id} [get]
func (n *NodeController) Get(c *gin.Context) error { return n.answer(c, n.nodes.Get) }

// Drain answers POST /nodes/{id}/drain.
//
//	@Summary	Keep new runs away from a node
//	@Tags	nodes
//	@Param	id path string true "id of the node"
//	@Success	200 {object} vo.Node
//	@Failure	409 {object} problem.Problem "the node is down"
//	@Router	/api/v1/nodes/{id}/drain [post]
func (n *NodeController) Drain(c *gin.Context) error { return n.answer(c, n.nodes.Drain) }

// Resume answers POST /nodes/{id}/resume.
//
//	@Summary	Let runs start on a node again
//	@Tags	nodes
//	@Param	id path string true "id of the node"
//	@Success	200 {object} vo.Node
//	@Failure	409 {object} problem.Problem "the node is down"
//	@Router	/api/v1/nodes/{id}/resume [post]
func (n *NodeController) Resume(c *gin.Context) error { return n.answer(c, n.nodes.Resume) }

func (n *NodeController) answer(c *gin.Context, act func(context.Context, string) (node.Node, error)) error {
	node, err := act(c.Request.Context(), c.Param("id"))
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromNode(node.Node, node.Partitions))
}
