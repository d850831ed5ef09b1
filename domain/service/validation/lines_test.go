package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The lines are those that a terminal shows once all of the text is there.
func TestLinesEndAtEachKindOfEnd(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one", []string{"one"}},
		{"one\n", []string{"one"}},
		{"one\ntwo", []string{"one", "two"}},
		{"one\r\ntwo\r\n", []string{"one", "two"}},
		{"one\n\ntwo", []string{"one", "", "two"}},
		{"one\r\n\r\ntwo", []string{"one", "", "two"}},
		{"a\rb\rc\nend", []string{"c", "end"}},
		{"a\rb\rc", []string{"c"}},
		{"10%\r20%\r", []string{"20%\r"}},
		{"\r10%\r20%\ndone", []string{"20%", "done"}},
		{"text\r\r\nnext", []string{"text", "next"}},
		{"\n", []string{""}},
		{"\r", nil},
	} {
		require.Equal(t, c.want, validation.Shown([]string{c.text}), "%q", c.text)
	}
	require.Equal(t, []string{"20%", "end"}, validation.Shown([]string{"10%\r", "20%\r", "", "end"}))
}
