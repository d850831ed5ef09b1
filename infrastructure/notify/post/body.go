package post

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// JSON writes a value without escaping <, > and &: escaped they would count six times against the
// bounds of a service.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, fmt.Errorf("write the message: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Fit returns the JSON of a message that holds the text, cut so that the whole has at most that
// many bytes.
func Fit(text string, most int, message func(text string) any) ([]byte, error) {
	for {
		body, err := JSON(message(text))
		if err != nil || len(body) <= most || text == "" {
			return body, err
		}
		text = markup.Cut(text, len(text)-min(len(text), len(body)-most), markup.Bytes)
	}
}

// Read decodes the answer; ok is false where it is no JSON of that form.
func (a Answer) Read(into any) (ok bool) {
	return !a.TooLong && json.Unmarshal(a.Body, into) == nil
}

// Describe returns what a service answered, masked, with its code.
func (a Answer) Describe(code int64, message string) string {
	return fmt.Sprintf("the service answered %d: %s", code, a.mask.Text(message))
}
