// Package controller translates between HTTP and the use cases. Controllers
// hold no state of their own and are safe for concurrent use.
package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// reply sends a success. The value is encoded before anything is written, so
// that a failure still becomes a problem.
func reply(c *gin.Context, status int, v any) error {
	return replyAs(c, "application/json", status, v)
}

func replyAs(c *gin.Context, contentType string, status int, v any) error {
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

// replyPage answers with one page of a list that is filtered by nothing.
func replyPage[E, V any](c *gin.Context, read func(ctx context.Context, p repository.Page) (items []E, next string, err error), view func(E) V) error {
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
	return reply(c, http.StatusOK, vo.NewPage(items, next))
}

// noContent ends a success without a body.
func noContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
