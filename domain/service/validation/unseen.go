package validation

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Line says how to mend a text of one line that people know something by; ""
// when it is well. Bounds are in characters. It may be empty.
func Line(s string, most int) (remedy string) {
	c := &checker{}
	if c.line("", s, most) {
		return ""
	}
	return c.fields[0].Message
}

// unseen is the first character of a name that people do not see, or that changes the
// order of the others. Two names could look alike, and one could read as another. The
// joiners of scripts and emojis that need them pass, but not beside ASCII.
func unseen(s string) (found rune, ok bool) {
	before := ' '
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
		case r == '\u200c' || r == '\u200d':
			if before < utf8.RuneSelf {
				return r, true
			}
		case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // Arabic signs of numbers show
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
			return r, true
		}
		before = r
	}
	return 0, false
}

// seen checks that a name shows as it is.
func (c *checker) seen(field, s string) bool {
	r, found := unseen(s)
	if found {
		c.add(field, CodeInvalid, "remove the character %s, which cannot be seen or changes how others are shown",
			fmt.Sprintf("U+%04X", r))
	}
	return !found
}
