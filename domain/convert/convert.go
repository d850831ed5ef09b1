// Package convert makes lists of other lists.
package convert

// All makes a list of what f makes of each item; it is empty, and not nil, where there are none.
func All[A, B any](items []A, f func(A) B) []B {
	out := make([]B, len(items))
	for i, item := range items {
		out[i] = f(item)
	}
	return out
}
