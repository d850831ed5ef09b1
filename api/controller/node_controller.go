package controller

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// NodeReader reads the registry.
type NodeReader interface {
	// All lists the nodes, by id.
	All(ctx context.Context) ([]entity.Node, error)
}

// NodeController serves /nodes.
type NodeController struct{ nodes NodeReader }

// NewNodeController serves a registry.
func NewNodeController(nodes NodeReader) *NodeController { return &NodeController{nodes} }

// List answers GET /nodes with all of them.
//
//	@Summary List the nodes
//	@Description All of them, by id.
//	@Tags nodes
//	@Success 200 {object} vo.Page[vo.Node]
//	@Router /api/v1/nodes [get]
func (n *NodeController) List(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	nodes, err := n.nodes.All(c.Request.Context())
	if err != nil {
		return err
	}
	items := make([]vo.Node, len(nodes))
	for i, node := range nodes {
		items[i] = vo.FromNode(node)
	}
	return reply(c, http.StatusOK, vo.NewPage(items, ""))
}

// Get answers GET /nodes/{id}.
//
//	@Summary Show one node
//	@Tags nodes
//	@Param id path string true "id of the node"
//	@Success 200 {object} vo.Node
//	@Router /api/v1/nodes/{id} [get]
func (n *NodeController) Get(c *gin.Context) error {
	nodes, err := n.nodes.All(c.Request.Context())
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if node.ID == c.Param("id") {
			return reply(c, http.StatusOK, vo.FromNode(node))
		}
	}
	return fault.NotFound("node", c.Param("id"))
}
