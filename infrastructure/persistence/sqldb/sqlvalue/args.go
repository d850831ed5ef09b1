package sqlvalue

// OrNull is NULL for the zero value.
func OrNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// TextOrNull is NULL for the empty text.
func TextOrNull[T ~string](v T) any {
	if v == "" {
		return nil
	}
	return string(v)
}

// Flag is how a column of SQLite or MySQL holds a boolean.
func Flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// PointerOrNull is what a pointer leads to, NULL for nil.
func PointerOrNull[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
