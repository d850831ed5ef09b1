// Package reply sends the answers of the controllers.
package reply

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
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

// Shown answers with the view of what was found, unless the search has failed.
func Shown[E, V any](c *gin.Context, found E, err error, view func(E) V) error {
	if err != nil {
		return err
	}
	return JSON(c, http.StatusOK, view(found))
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
	return JSON(c, http.StatusOK, pageOf(found, next, view))
}

func pageOf[E, V any](found []E, next string, view func(E) V) vo.Page[V] {
	items := convert.All(found, view)
	return vo.NewPage(items, next)
}

// Whole answers with a list that has no pages.
func Whole[E, V any](c *gin.Context, found []E, view func(E) V) error {
	return JSON(c, http.StatusOK, pageOf(found, "", view))
}

// Found answers with what the search for a page found, newest first. When the page is not full
// and not the last, the answer says how far back the search went.
func Found[E, V any](c *gin.Context, asked repository.Page, found []E, next string, view func(E) V) error {
	page := pageOf(found, next, view)
	if until := asked.SearchedUntil(len(found), next); !until.IsZero() {
		page.SearchedUntil = (*vo.Time)(&until)
	}
	return JSON(c, http.StatusOK, page)
}

// Done ends a call that answers without a body, unless it has failed.
func Done(c *gin.Context, err error) error {
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

// CSV sends a small table as a file of this name. The first row is the heads.
func CSV(c *gin.Context, name string, rows [][]string) error {
	var body bytes.Buffer
	if err := csv.NewWriter(&body).WriteAll(rows); err != nil {
		return err
	}
	c.Header("Content-Type", "text/csv; charset=utf-8")
	c.Header("Content-Disposition", `attachment; filename="`+name+`"`)
	c.Header("Content-Length", strconv.Itoa(body.Len()))
	c.Status(http.StatusOK)
	// A caller who is gone is no failure of ours.
	_, _ = c.Writer.Write(body.Bytes())
	return nil
}

// Cell keeps a spreadsheet from taking a text for a formula.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
