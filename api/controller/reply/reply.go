// Package reply sends the answers of the controllers.
package reply

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ExportWriteTimeout is how long a caller may take to read one page of an export.
const ExportWriteTimeout = 30 * time.Second

// JSON sends a success. The value is encoded before anything is written, so
// that a failure still becomes a problem.
func JSON(c *gin.Context, status int, v any) error {
	return As(c, "application/json", status, v)
}

// As is JSON with another content type.
func As(c *gin.Context, contentType string, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.Header("Content-Type", contentType)
	c.Header("Content-Length", strconv.Itoa(len(body)))
	c.Status(status)
	// A caller who is gone is no failure of ours.
	_, _ = c.Writer.Write(body)
	return nil
}

// Page answers with one page of a list that is filtered by nothing.
func Page[E, V any](c *gin.Context,
	read func(ctx context.Context, p repository.Page) (items []E, next string, err error), view func(E) V,
) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	page := q.Page()
	if err := q.Done(); err != nil {
		return err
	}
	found, next, err := read(c.Request.Context(), page)
	if err != nil {
		return err
	}
	items := make([]V, len(found))
	for i, one := range found {
		items[i] = view(one)
	}
	return JSON(c, http.StatusOK, vo.NewPage(items, next))
}

// Found answers with what the search for a page found, newest first. When the page is not full
// and not the last, the answer says how far back the search went.
func Found[V any](c *gin.Context, asked repository.Page, items []V, next string) error {
	page := vo.NewPage(items, next)
	if until := asked.SearchedUntil(len(items), next); !until.IsZero() {
		page.SearchedUntil = (*vo.Time)(&until)
	}
	return JSON(c, http.StatusOK, page)
}

// NoContent ends a success without a body.
func NoContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
