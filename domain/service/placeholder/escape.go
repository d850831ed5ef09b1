package placeholder

import (
	"net/url"
	"strings"
)

// Escape makes the values of a text fit for their places. It begins anew for each text.
type Escape func() Place

// Place follows one text from its begin to its end, and knows where in it the next value stands.
type Place interface {
	// plain takes the next piece of the text that is no placeholder.
	plain(text string) error
	// value makes a value fit for the place where it stands now. The error is *Error.
	value(v value) (string, error)
	// end takes the whole text with the values in it.
	end(result string) error
}

// value is what a placeholder stands for.
type value struct {
	// placeholder is the whole of it, as the definition has it.
	placeholder string
	text        string
	// sample: a definition is checked, and no run is there. open: nobody knows the value yet.
	sample, open bool
	// known are values that an open one may have: its defaults.
	known []string
	// missing: the run was given null for it, which is a value of JSON and no text.
	missing error
}

// Raw leaves values as they are. It serves arguments, headers and variables, which are checked
// afterwards as a whole.
func Raw() Place { return free{} }

// free is a place of a text without a form.
type free struct{}

func (free) plain(string) error            { return nil }
func (free) value(v value) (string, error) { return v.text, nil }
func (free) end(string) error              { return nil }

// URL escapes values so that each stays in its part of a URL. It leaves a value that begins the
// text as it is, because a whole address is not a part of one.
func URL() Place { return &address{} }

type address struct {
	free
	begun bool
}

func (a *address) plain(text string) error {
	a.begun = a.begun || text != ""
	return nil
}

func (a *address) value(v value) (string, error) {
	if !a.begun {
		a.begun = v.text != ""
		return v.text, nil
	}
	return strings.ReplaceAll(url.QueryEscape(v.text), "+", "%20"), nil
}

// form escapes values so that each stays a part of a name or of a value of a form.
type form struct{ free }

func (form) value(v value) (string, error) { return url.QueryEscape(v.text), nil }
