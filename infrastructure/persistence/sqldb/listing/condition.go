package listing

// Condition is a part of a WHERE clause; one without text is none.
type Condition struct {
	Text string
	Args []any
}

// Equals is a condition on a column; an empty value is no condition.
func Equals(column, value string) Condition {
	if value == "" {
		return Condition{}
	}
	return Condition{column + " = ?", []any{value}}
}

// IDBounds is lo ≤ key < hi, where empty bounds are open.
func IDBounds(key, lo, hi string) Condition {
	switch {
	case lo == "" && hi == "":
		return Condition{}
	case lo == "":
		return Condition{key + " < ?", []any{hi}}
	case hi == "":
		return Condition{key + " >= ?", []any{lo}}
	}
	return Condition{key + " >= ? AND " + key + " < ?", []any{lo, hi}}
}

// JoinConditions is the WHERE clause of those conditions that are some.
func JoinConditions(all ...Condition) (where string, args []any) {
	for _, c := range all {
		if c.Text == "" {
			continue
		}
		if where == "" {
			where = " WHERE " + c.Text
		} else {
			where += " AND " + c.Text
		}
		args = append(args, c.Args...)
	}
	return where, args
}
