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
		`{"interpreter":"sh","script":"set -e\r\necho a\r\n"}`:            "jobData.script",
		`{"interpreter":"bash","script":"echo a\r\n"}`:                    "jobData.script",
		`{"interpreter":"/usr/bin/zsh","script":"echo a\necho b\r\n"}`:    "jobData.script",
		`{"command":["/bin/sh","-c","echo a\r\necho b"]}`:                 "jobData.command",
		`{"interpreter":"sh","script":"set -e\necho a\n"}`:                "",
		`{"interpreter":"sh","script":"printf 'a\rb'"}`:                   "",
		`{"interpreter":"python3","script":"print(1)\r\n"}`:               "",
		`{"command":["printf","a\r\n"]}`:                                  "",
		`{"command":["/usr/bin/env","LANG=C","bash","-c","echo a\r\n"]}`:  "jobData.command",
		`{"command":["sudo","-u","app","sh","-ec","set\r\necho b"]}`:      "jobData.command",
		`{"command":["timeout","60","/bin/dash","-e","-c","a\r\nb","x"]}`: "jobData.command",
		`{"command":["kubectl","exec","pod","--","ksh93","-c","a\r\n"]}`:  "jobData.command",
		`{"interpreter":"mksh","script":"echo a\r\n"}`:                    "jobData.script",
		`{"command":["printf","%s","sh","a\r\n"]}`:                        "",
		`{"command":["env","sh","run.sh","a\r\n"]}`:                       "",
		`{"command":["bash","-c","echo a\necho b"]}`:                      "",
		`{"command":"sh"}`: "",
		`{}`:               "",
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
