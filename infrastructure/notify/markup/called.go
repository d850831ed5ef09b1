package markup

import (
	"regexp"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Called are the people on call whom a robot calls in a message: addresses of that form, at most so many of them. That
// an alert is over calls nobody. An address of another form is left out: it would stand in the text as it was written.
func Called(m alert.Message, form *regexp.Regexp, most int) []string {
	var out []string
	for _, who := range m.To {
		if m.Firing && form.MatchString(who) && len(out) < most {
			out = append(out, who)
		}
	}
	return out
}

// Below is what stands below a text that calls people: the marks that call them, or nothing where there are
// none.
func Below(gap string, marks []string, between string) string {
	if len(marks) == 0 {
		return ""
	}
	return gap + strings.Join(marks, between)
}
