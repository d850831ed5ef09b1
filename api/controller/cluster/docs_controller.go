package cluster

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/openapi"
)

// DocsController serves the document of the API and the page that shows it.
type DocsController struct{}

// Serve answers with a file. Its policy replaces that of the API, under which
// a page could load nothing.
func (DocsController) Serve(c *gin.Context) error {
	content, mediaType, err := openapi.Read(openapi.Paths()[c.FullPath()])
	if err != nil {
		return err
	}
	c.Header("Content-Security-Policy", openapi.Policy)
	c.Header("Content-Type", mediaType)
	c.Header("Content-Length", strconv.Itoa(len(content)))
	c.Status(http.StatusOK)
	// A caller who is gone is no failure of ours.
	_, _ = c.Writer.Write(content)
	return nil
}
