package chain

import (
	"slices"
	"strings"
)

// Circle finds jobs that start one another in a circle, on the ways from some jobs. circle has them in the order in
// which they start one another, with the same job at both ends; it is empty where there is none. at is the position of
// the job whose way leads there.
func Circle[K comparable](from []K, next func(K) []K) (at int, circle []K) {
	const onTheWay, seen = 1, 2
	state := map[K]int{}
	var path []K
	var visit func(k K) bool
	visit = func(k K) bool {
		if state[k] == seen {
			return false
		}
		path = append(path, k)
		if state[k] == onTheWay {
			return true
		}
		state[k] = onTheWay
		if slices.ContainsFunc(next(k), visit) {
			return true
		}
		state[k], path = seen, path[:len(path)-1]
		return false
	}
	for at, k := range from {
		if visit(k) {
			return at, path[slices.Index(path, path[len(path)-1]):]
		}
	}
	return 0, nil
}

// Circular refuses jobs that start one another in a circle, by their names.
func Circular(names []string) string {
	return strings.Join(names, " → ") + " is a circle; take one of these steps away"
}
