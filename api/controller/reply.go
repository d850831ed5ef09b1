// Package controller translates between HTTP and the use cases. Controllers
// hold no state of their own and are safe for concurrent use.
package controller

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// reply sends a success. The value is encoded before anything is written, so
// that a failure still becomes a problem.
func reply(c *gin.Context, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.Header("Content-Type", "application/json")
	c.Header("Content-Length", strconv.Itoa(len(body)))
	c.Status(status)
	// A caller who is gone is no failure of ours.
	_, _ = c.Writer.Write(body)
	return nil
}

// noContent ends a success without a body.
func noContent(c *gin.Context) error {
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
