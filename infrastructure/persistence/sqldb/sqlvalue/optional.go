package sqlvalue

import "fmt"

// OptionalText is a text whose column is NULL where it is empty. In SQLite, an empty text
// costs an allocation each time that a row is written again, and NULL costs nothing.
type OptionalText string

// Scan implements sql.Scanner.
func (t *OptionalText) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t = ""
	case string:
		*t = OptionalText(v)
	case []byte:
		*t = OptionalText(v)
	default:
		return fmt.Errorf("%T is not a text", v)
	}
	return nil
}
