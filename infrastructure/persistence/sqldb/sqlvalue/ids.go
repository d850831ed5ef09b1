package sqlvalue

import (
	"slices"
	"strings"
)

// IsASCIIID reports whether an id can be in a table at all. The id columns are
// ASCII; comparing them with anything else would not use their index. None
// ends in a space, which MySQL ignores when it compares.
func IsASCIIID(id string) bool {
	if len(id) > 50 || HasTrailingSpace(id) {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// HasTrailingSpace reports a text that MySQL takes for the same without its last
// character.
func HasTrailingSpace(s string) bool { return strings.HasSuffix(s, " ") }

// OnlyASCIIIDs leaves out ids that cannot exist.
func OnlyASCIIIDs(ids []string) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if IsASCIIID(id) {
			out = append(out, id)
		}
	}
	return out
}

// LockOrder gives each id once, in the order in which everybody locks (engine rule 8).
func LockOrder(ids []string) []string {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}
