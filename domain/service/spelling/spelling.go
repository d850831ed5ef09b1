// Package spelling finds the known word that a misspelt one was meant to be.
package spelling

import "strings"

// maxWord bounds the words that are compared, in runes: a longer one is no
// misspelt name.
const maxWord = 64

// Nearest returns the known word that differs least from a word, without
// regard to case; "" when none is near. A word is near when at most a third of
// it, and at least one letter, may be wrong, missing, added or swapped. Of
// several equally near ones the first is returned.
func Nearest(word string, known []string) string {
	typed := []rune(strings.ToLower(word))
	if len(typed) == 0 || len(typed) > maxWord {
		return ""
	}
	best, least := "", max(1, len(typed)/3)+1
	for _, k := range known {
		if d := distance(typed, []rune(strings.ToLower(k)), least); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to change, add, drop or swap with a neighbour to
// turn a into b; enough or more is told as enough.
func distance(a, b []rune, enough int) int {
	if len(a)-len(b) >= enough || len(b)-len(a) >= enough {
		return enough
	}
	// before is the row of all but the last two letters of a, above that of all but the last.
	var before []int
	above := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above = above, row
	}
	return min(above[len(b)], enough)
}
