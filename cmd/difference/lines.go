package difference

import "strings"

// The bounds of a comparison of strings, in lines.
const (
	// around is how many lines that are equal are shown beside a change.
	around = 2
	// maxCells bounds the table of a comparison: strings that need a larger one are
	// shown as taken away and put there as a whole.
	maxCells = 4 << 20
)

// mark is what happened to a line.
type mark byte

const (
	kept    mark = ' '
	removed mark = '-'
	added   mark = '+'
	// skipped stands for lines that are equal and not shown.
	skipped mark = '.'
)

// line is a line of a comparison.
type line struct {
	mark mark
	text string
}

// lines compares two strings line by line, and leaves out what is equal but for the lines around a change.
func lines(before, after string) []line {
	all := compare(split(before), split(after))
	shown := make([]bool, len(all))
	for i, l := range all {
		if l.mark == kept {
			continue
		}
		for near := max(0, i-around); near <= min(len(all)-1, i+around); near++ {
			shown[near] = true
		}
	}
	var out []line
	for i, l := range all {
		switch {
		case shown[i]:
			out = append(out, l)
		case len(out) == 0 || out[len(out)-1].mark != skipped:
			out = append(out, line{skipped, "…"})
		}
	}
	return out
}

// split cuts a string into lines; the end of the last one is shown where only one of two strings has it.
func split(text string) []string {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, "\n")
	if parts[len(parts)-1] == "" {
		return parts[:len(parts)-1]
	}
	parts[len(parts)-1] += " (no line end)"
	return parts
}

// compare finds the longest common lines of two strings.
func compare(a, b []string) []line {
	var out []line
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		out, a, b = append(out, line{kept, a[0]}), a[1:], b[1:]
	}
	var tail []line
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, line{kept, a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out = append(out, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

// middle compares strings that differ in their first and last lines.
func middle(a, b []string) (out []line) {
	if len(a)*len(b) > maxCells {
		for _, text := range a {
			out = append(out, line{removed, text})
		}
		for _, text := range b {
			out = append(out, line{added, text})
		}
		return out
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, line{kept, a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			out = append(out, line{removed, a[i]})
			i++
		default:
			out = append(out, line{added, b[j]})
			j++
		}
	}
	return out
}
