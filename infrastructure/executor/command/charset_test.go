package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// The bytes are those of the indexes of https://encoding.spec.whatwg.org, in octal for printf.
func TestACommandMayWriteInAnotherEncoding(t *testing.T) {
	for _, c := range []struct{ charset, octal, want string }{
		{"gbk", `\263\311\271\246`, "成功"},
		{"GB18030", `\263\311\271\246`, "成功"},
		{"iso-8859-1", `r\351ussi`, "réussi"},
		{"windows-1251", `\317\360\350`, "При"},
		{"utf-16le", `\020\142\237\122`, "成功"},
		{"utf-16", `\376\377\142\020\122\237`, "成功"},
		{"shift_jis", `\220\254\214\367`, "成功"},
		{"utf-8", `\346\210\220`, "成"},
	} {
		b := newBench(t)
		got := b.run(t.Context(), fmt.Sprintf(
			`{"script":"printf '%[1]s'; printf '%[1]s' >&2","interpreter":"sh","outputCharset":%[2]q}`,
			strings.ReplaceAll(c.octal, `\`, `\\`), c.charset))
		require.Equal(t, entity.StatusSuccess, got.Status, got.Message)
		require.Equal(t, c.want, got.Result, c.charset)
		require.Contains(t, b.rep.Lines(), executortest.Line{Type: entity.LogStdout, Text: c.want})
		require.Contains(t, b.rep.Lines(), executortest.Line{Type: entity.LogStderr, Text: c.want})
	}
}

// The end of a long output is decoded, too, and begins with a whole character.
func TestTheTailOfALongOutputIsDecoded(t *testing.T) {
	b := newBench(t)
	got := b.run(t.Context(), `{"script":"yes x | head -c 3000000; printf '\\263\\311\\271\\246'","interpreter":"sh","outputCharset":"gbk"}`)
	require.Equal(t, entity.StatusSuccess, got.Status, got.Message)
	require.True(t, strings.HasSuffix(got.Result, "x\n成功"), got.Result[max(len(got.Result)-20, 0):])
}
