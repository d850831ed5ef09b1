package sqlvalue

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ReadJSON reads a column; an empty text, or one that cannot be read, is the zero
// value.
func ReadJSON[T any](column, text string, unread *[]entity.Unread) (value T) {
	if text == "" {
		return value
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		*unread = append(*unread, entity.Unread{Field: column, Why: err.Error()})
		var none T
		return none
	}
	return value
}

// MapJSON writes labels; none are the empty text.
func MapJSON(m map[string]string) (string, error) {
	if len(m) == 0 {
		return "", nil
	}
	b, err := json.Marshal(m)
	return string(b), err
}
