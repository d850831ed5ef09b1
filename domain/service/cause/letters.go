package cause

import (
	"strings"
	"unicode"
)

func digit(r rune) bool { return r >= '0' && r <= '9' }

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func hexadecimal(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// word reports whether a character belongs to a token.
func word(r rune) bool { return unicode.IsLetter(r) || digit(r) }

// ends reports whether a character ends an address or a path.
func ends(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`()<>[]{},;|，。；：）（", r)
}

func digits(token string) bool { return strings.Trim(token, "0123456789") == "" }

func allHex(token string) bool {
	for i := range len(token) {
		if !hexadecimal(token[i]) {
			return false
		}
	}
	return true
}

// uuid reports whether a text begins with one.
func uuid(s string) bool {
	if len(s) < 36 {
		return false
	}
	for i := range 36 {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !hexadecimal(s[i]) {
			return false
		}
	}
	return true
}

// random reports whether a token is an id rather than a word: it changes between digits and letters
// often, or is long and mixes them with both cases.
func random(token string) bool {
	changes, lower, upper, number := 0, false, false, false
	former := rune(0)
	for _, r := range token {
		if former != 0 && digit(r) != digit(former) {
			changes++
		}
		lower, upper, number = lower || unicode.IsLower(r), upper || unicode.IsUpper(r), number || digit(r)
		former = r
	}
	return changes >= 4 || changes >= 2 && len(token) >= 12 && lower && upper && number
}

// quantity reports whether a token is a number with its unit, or a time such as 1h30m or 23T12.
func quantity(token string) bool {
	if !digit(rune(token[0])) {
		return false
	}
	for _, unit := range strings.FieldsFunc(token, digit) {
		switch unit {
		case "ns", "us", "µs", "ms", "s", "sec", "secs", "m", "min", "h", "d", "T", "Z", "st", "nd", "rd", "th",
			"B", "K", "M", "G", "KB", "MB", "GB", "TB", "kB", "KiB", "MiB", "GiB", "Ki", "Mi", "Gi", "k", "b", "x":
		default:
			return false
		}
	}
	return true
}

// six is how many bytes of the beginning of a text are an address of IPv6.
func six(s string) int {
	end := 0
	for end < len(s) && end < 40 && (hexadecimal(s[end]) || s[end] == ':') {
		end++
	}
	address := strings.TrimRight(s[:end], ":")
	if end < len(s) && letter(s[end]) || len(address) < 3 ||
		strings.Count(address, ":") != 7 && strings.Count(address, "::") != 1 {
		return 0
	}
	return len(address)
}
