package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

func TestCarriageReturnsInCodeOfShellsAreWarnedOf(t *testing.T) {
	t.Parallel()
	for data, field := range map[string]string{
		`{"interpreter":"sh","script":"set -e\r\necho a\r\n"}`:         "jobData.script",
		`{"interpreter":"bash","script":"echo a\r\n"}`:                 "jobData.script",
		`{"interpreter":"/usr/bin/zsh","script":"echo a\necho b\r\n"}`: "jobData.script",
		`{"command":["/bin/sh","-c","echo a\r\necho b"]}`:              "jobData.command",
		`{"interpreter":"sh","script":"set -e\necho a\n"}`:             "",
		`{"interpreter":"sh","script":"printf 'a\rb'"}`:                "",
		`{"interpreter":"python3","script":"print(1)\r\n"}`:            "",
		`{"command":["printf","a\r\n"]}`:                               "",
		`{"command":"sh"}`:                                             "",
		`{}`:                                                           "",
	} {
		found := validation.CarriageReturns(&entity.Job{Type: entity.JobCommand, Data: data})
		if field == "" {
			require.Empty(t, found, data)
			continue
		}
		require.Len(t, found, 1, data)
		require.Equal(t, []string{field, "carriage_return"}, []string{found[0].Field, found[0].Code})
		require.Contains(t, found[0].Message, "dos2unix")
	}
	require.Empty(t, validation.CarriageReturns(&entity.Job{
		Type: entity.JobCustom, Data: `{"interpreter":"sh","script":"echo a\r\n"}`,
	}))
}
