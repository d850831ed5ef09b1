package persistence

// orNull is NULL for the zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func textOrNull[T ~string](v T) any {
	if v == "" {
		return nil
	}
	return string(v)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
