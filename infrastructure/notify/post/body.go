package post

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Within reports of a text whether the JSON of the message that holds it has at most that many bytes. A message that
// cannot be written fits: its writer meets the error.
func Within(most int, message func(text string) any) func(text string) bool {
	return func(text string) bool {
		if len(text) > most {
			return false
		}
		body, err := JSON(message(text))
		return err != nil || len(body) <= most
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
