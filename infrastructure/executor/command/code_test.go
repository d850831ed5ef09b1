package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// commandOf is the data of a command of these words; § stands for a value that
// whoever starts the job gives.
func commandOf(t *testing.T, line string) string {
	t.Helper()
	argv := strings.Split(strings.ReplaceAll(line, "§", "${params.v}"), " ")
	data, err := json.Marshal(map[string]any{"command": argv})
	require.NoError(t, err)
	return string(data)
}

// A user who may start a job, and not write it, must not choose what it executes.
func TestNoValueStandsWhereItWouldBeCode(t *testing.T) {
	for _, line := range []string{
		"§ x", "/opt/§ x",
		"sh -c §", "/bin/sh -c day-§", "bash -lc §", "dash -ec §", "zsh -c §", "ksh -xc §", "bash -o pipefail -c §",
		"bash -euxo pipefail -c §",
		"bash -c -e §", "bash --norc -c §", "bash --rcfile f -c §", "bash +x -c §", "bash -- §", "fish --command §",
		"fish --command=§", "sh §", "sh §/x -c y",
		"env sh -c §", "/usr/bin/env -i A=1 sh -lc §", "env -u A bash -c §", "env §", "env A=1 §", "env -S §", "env -Ssh§",
		"env --split-string=§",
		"nice -n 5 sh -c §", "nice §", "nohup §", "setsid -w sh -c §", "timeout 5 sh -c §", "timeout -s KILL 5 §",
		"timeout --signal TERM 5 sh -c §",
		"sudo -u x sh -c §", "sudo --user x bash -c §", "xargs -n 1 sh -c §", "busybox sh -c §", "flock /lock -c §",
		"flock /lock sh -c §", "chroot / sh -c §",
		"nice env timeout 3 python3 -c §", "su -c §", "su - x -c §", "runuser --command=§", "script -q out -c §",
		"ssh host §", "ssh -p 22 host /run §", "watch -n 1 §", "parallel §",
		"python3 -c §", "python -Ic §", "/usr/bin/python3.11 -c§", "python3 -W x -c §", "python3 -m §", "python3 §",
		"perl -e §", "perl -ne §", "perl -0777pe §", "perl -E §", "perl -I x -Mstrict -e §", "perl -e 1 -e §",
		"perl -eprint§", "perl -M§ x",
		"ruby -e §", "ruby -rjson -ne §", "node -e §", "node --eval=§", "node --eval §", "nodejs -pe §", "node -r x -p §",
		"node -r § x", "bun -e §",
		"php -r §", "php8.2 -d a=b -r §", "lua -e §", "Rscript -e §", "osascript -e §",
		"awk §", "gawk -F: §", "awk -v a=b {§}", "sed §", "sed -n -e §", "sed --expression=§",
		"kubectl exec pod -- sh -c §", "docker run image bash -lc §", "find . -exec sh -c § ;", "strace python3 -c §",
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			data := commandOf(t, line)
			faults := b.Check(&entity.Job{Type: entity.JobCommand, Data: data})
			require.Len(t, faults, 1)
			require.Equal(t, "not_allowed", faults[0].Code)
			require.Contains(t, faults[0].Message, "${params.v}")
			require.Contains(t, faults[0].Message, "env")
			o := b.run(t.Context(), data)
			require.Equal(t, []any{entity.StatusFailed, entity.ReasonInvalid, true}, []any{o.Status, o.Reason, o.NoRetry},
				"and what was stored before does not run")
			require.Empty(t, b.starter.orders)
		})
	}
}

// A value is an argument like any other everywhere else.
func TestAValueMayStandWhereItIsData(t *testing.T) {
	for _, line := range []string{
		"/opt/backup §", "echo --day=§ §", "sh -c code x §", "bash -euo pipefail -c code x §", "sh /opt/run.sh §",
		"sh /opt/run.sh -c §", "bash /opt/§.sh",
		"env A=§ B=x-§ /opt/run §", "env -C § /opt/run", "nice -n § /opt/run §", "timeout § /opt/run §", "xargs -n § echo §",
		"sudo -u x /opt/run -c §",
		"python3 /opt/run.py -c §", "python3 -c code -c §", "python3 -m module §", "python3 -m module -c §", "perl -e code §",
		"perl /opt/run.pl -e §",
		"node /opt/run.js -e §", "node -e code §", "php -f /opt/run.php §", "awk -v day=§ {code} file-§", "awk -f prog §",
		"sed -e code §", "sed code §",
		"kubectl drain node §", "curl -e §", "ssh -p § host run", "flock /lock /opt/run -c §", "grep -e §",
	} {
		t.Run(line, func(t *testing.T) {
			require.Empty(t, newBench(t).Check(&entity.Job{Type: entity.JobCommand, Data: commandOf(t, line)}))
		})
	}
}

func TestAValueDoesNotChooseTheProgramsOfAScript(t *testing.T) {
	b := newBench(t)
	faults := b.Check(&entity.Job{Data: `{"command":["/opt/run"],"env":{"PATH":"/opt/${params.v}:/bin"}}`})
	require.Len(t, faults, 1)
	require.Equal(t, "jobData.env.PATH", faults[0].Field)
	o := b.run(t.Context(), `{"command":["/opt/run"],"env":{"PATH":"/${params.day}:/bin"}}`)
	require.Equal(t, entity.ReasonInvalid, o.Reason)
}

// The server's own values are no code: times and numbers.
func TestWhatTheServerMakesMayStandInCode(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{
		"scheduledTime:yyyy-MM-dd", "deadline", "executionId", "jobId", "attempt", "shardIndex",
		"shardTotal", "idempotencyKey",
	} {
		data := fmt.Sprintf(`{"command":["sh","-c","echo ${%s}"]}`, name)
		require.Empty(t, b.Check(&entity.Job{Data: data}), name)
		require.Equal(t, entity.StatusSuccess, b.run(t.Context(), data).Status)
	}
	for _, name := range []string{"jobName", "group", "owner", "checkpoint", "params", "params.a:-x", "secret.KEY"} {
		require.Len(t, b.Check(&entity.Job{Data: fmt.Sprintf(`{"command":["sh","-c","echo ${%s}"]}`, name)}), 1, name)
	}
	require.Empty(t, b.Check(&entity.Job{Data: `{"command":["sh","-c","echo $${params.a}"]}`}),
		"a text of the author's own")
}

// Every user of the machine reads the arguments of a process.
func TestNoSecretStandsInAnArgument(t *testing.T) {
	b := newBench(t)
	for _, data := range []string{
		`{"command":["curl","--user","x:${secret.KEY}"]}`, `{"command":["sh","-c","x","y","${secret.KEY}"]}`,
		`{"command":["${secret.KEY}"]}`,
	} {
		faults := b.Check(&entity.Job{Data: data})
		require.Len(t, faults, 1, data)
		require.Equal(t, "not_allowed", faults[0].Code)
		require.Contains(t, faults[0].Message, "env")
		o := b.run(t.Context(), data)
		require.Equal(t, []any{entity.ReasonInvalid, true}, []any{o.Reason, o.NoRetry})
		require.NotContains(t, o.Message, "s3 cret")
	}
	got := b.run(t.Context(), `{"command":["printenv","A"],"env":{"A":"${secret.KEY}"}}`)
	require.Equal(t, "s3 cret", got.Result)
}

// No value is put into a script, and a shell would only say "bad substitution".
func TestAScriptHoldsNoPlaceholder(t *testing.T) {
	b := newBench(t)
	check := func(script, interpreter string) int {
		data, err := json.Marshal(map[string]string{"script": script, "interpreter": interpreter})
		require.NoError(t, err)
		return len(b.Check(&entity.Job{Data: string(data)}))
	}
	for _, script := range []string{
		"echo ${params.day}", "x=1\necho \"${secret.KEY}\"", "echo ${steps.a.output}",
		"echo ${event.id}", "echo ${item.name}", "echo ${params.day",
	} {
		require.Equal(t, 1, check(script, "sh"), script)
	}
	for _, script := range []string{
		"for item in a b; do echo ${item} ${jobName:-x}; done",
		`echo $${params.x} \${params.x}`, "echo $params ${params}",
	} {
		require.Zero(t, check(script, "sh"), script)
	}
	b.Executor = command.New(nil, b.starter, command.Settings{Interpreters: []string{"node"}, Folders: b.folders})
	require.Zero(t, check("const params = {day: 1}; console.log(`${params.day}`)", "node"),
		"it means something of its own there")
}

func FuzzPlacesOf(f *testing.F) {
	for _, seed := range []string{
		"sh -c ${params.v}", "env -S x", "perl -", "python3 --", "awk -v", "ssh", "su - -c",
		"bash -oc",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		data, err := json.Marshal(map[string]any{"command": strings.Split(line, " ")})
		require.NoError(t, err)
		newBench(t).Check(&entity.Job{Data: string(data)})
	})
}
