package reply

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

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
