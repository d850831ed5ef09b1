package redact_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// vault opens what it holds.
type vault struct {
	values map[string]string
	err    error
	asked  [][]string
	group  string
}

func (v *vault) Open(_ context.Context, group string, names []string) (map[string]string, error) {
	v.asked, v.group = append(v.asked, names), group
	return v.values, v.err
}

// talker says what a test wants, wherever a run can say something.
type talker struct {
	text string
	run  entity.Run
}

func (s *talker) Run(_ context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	s.run = run
	rep.Log(entity.LogStderr, s.text)
	rep.Checkpoint(s.text)
	rep.Progress(40)
	return entity.Outcome{Status: entity.StatusFailed, Message: s.text, Result: s.text, Checkpoint: s.text}
}

// notes is what a run reported.
type notes struct {
	lines, checkpoints []string
	progress           int
}

func (n *notes) Log(_ entity.LogType, line string) { n.lines = append(n.lines, line) }
func (n *notes) Progress(percent int)              { n.progress = percent }
func (n *notes) Checkpoint(state string)           { n.checkpoints = append(n.checkpoints, state) }
func (n *notes) Waits() (begins func())            { return func() {} }

func runWith(values map[string]string, data, text string) (*talker, *vault, *notes, entity.Outcome) {
	s, v, n := &talker{text: text}, &vault{values: values}, &notes{}
	outcome := redact.New(s, v).Run(context.Background(), entity.Run{
		Job:       &entity.Job{Data: data, Group: "pay"},
		Execution: &entity.Execution{},
	}, n)
	return s, v, n, outcome
}

const naming = `{"a":"${secret.TOKEN}","b":"${secret.KEY} ${secret.TOKEN}"}`

func TestARunIsGivenTheSecretsItNames(t *testing.T) {
	values := map[string]string{"TOKEN": "hunter2hunter2"}
	s, v, n, _ := runWith(values, naming, "x")
	require.Equal(t, values, s.run.Secrets)
	require.Equal(t, [][]string{{"KEY", "TOKEN"}}, v.asked)
	require.Equal(t, "pay", v.group)
	require.Equal(t, 40, n.progress)

	s, v, n, outcome := runWith(values, `{"a":"plain"}`, "hunter2hunter2")
	require.Empty(t, v.asked, "a run that names none costs nothing")
	require.Nil(t, s.run.Secrets)
	require.Equal(t, []string{"hunter2hunter2"}, n.lines)
	require.Equal(t, "hunter2hunter2", outcome.Result)
}

func TestARunWhoseSecretsCannotBeOpenedFails(t *testing.T) {
	s := &talker{}
	e := redact.New(s, &vault{err: errors.New("open the secret KEY: no key")})
	outcome := e.Run(t.Context(), entity.Run{Job: &entity.Job{Data: naming}}, &notes{})
	const message = "the secrets of the run cannot be read: open the secret KEY: no key"
	require.Equal(t, entity.Failed(entity.ReasonError, message), outcome)
	e = redact.New(s, &vault{err: apperror.Unavailable(errors.New("refused"))})
	outcome = e.Run(t.Context(), entity.Run{Job: &entity.Job{Data: naming}}, &notes{})
	require.Equal(t, entity.StatusWaiting, outcome.Status, "a store that is away is no failure of the run")
	require.Nil(t, s.run.Job, "it did not run")
}

func TestSecretsAreHiddenWhereverARunSpeaks(t *testing.T) {
	_, _, n, outcome := runWith(map[string]string{"TOKEN": "hunter2hunter2"}, naming, "Bearer hunter2hunter2!")
	const want = "Bearer ***!"
	require.Equal(t, []string{want}, n.lines)
	require.Equal(t, []string{want}, n.checkpoints)
	require.Equal(t, entity.Outcome{Status: entity.StatusFailed, Message: want, Result: want, Checkpoint: want}, outcome)
}

func hidden(secret, text string) string {
	_, _, n, _ := runWith(map[string]string{"S": secret}, `{"a":"${secret.S}"}`, text)
	return n.lines[0]
}

func TestASecretInALineThatWasCutIsHidden(t *testing.T) {
	require.Equal(t, "key ***…", hidden("hunter2hunter2", "key hunter2hun…"))
	require.Equal(t, "key ***…\r", hidden("hunter2hunter2", "key hunter2hun…\r"))
}

func TestSecretsAreHiddenInTheFormsThatProgramsWrite(t *testing.T) {
	secret := `pa"ss w/ö+rd&`
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	for name, form := range map[string]string{
		"plain":       secret,
		"query":       url.QueryEscape(secret),
		"path":        url.PathEscape(secret),
		"JSON":        string(quoted[1 : len(quoted)-1]),
		"hexadecimal": hex.EncodeToString([]byte(secret)),
	} {
		require.Equal(t, "<***>", hidden(secret, "<"+form+">"), name)
	}
	for _, before := range []string{"", "u", "us", "user:"} {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			text := encoding.EncodeToString([]byte(before + secret + "tail"))
			got := hidden(secret, text)
			require.Contains(t, got, "***", "%q in %s", before, text)
			require.Less(t, len(got), len(text)-10)
		}
	}
	require.Equal(t, "ab *** cd", hidden("secret\n", "ab secret cd"),
		"the end of a file's line is no part of what is shown")
}

func TestEveryLineOfALongSecretIsHidden(t *testing.T) {
	key := "-----BEGIN KEY-----\r\nAAAABBBBCCCC\nshort\nDDDDEEEEFFFF\n-----END KEY-----\n"
	for _, line := range []string{"AAAABBBBCCCC", "DDDDEEEEFFFF"} {
		require.Equal(t, "line: ***", hidden(key, "line: "+line))
	}
	require.Equal(t, "in short", hidden(key, "in short"), "what is too short to be a secret stays readable")
}

func TestAPieceOfASecretAtTheEdgeOfATextIsHidden(t *testing.T) {
	secret := "0123456789abcdef"
	require.Equal(t, "end ***", hidden(secret, "end 0123456789a"))
	require.Equal(t, "*** begin", hidden(secret, "6789abcdef begin"))
	require.Equal(t, "end 01234", hidden(secret, "end 01234"))
	require.Equal(t, "bcdef begin", hidden(secret, "bcdef begin"))
	require.Equal(t, "in 0123456789a the middle", hidden(secret, "in 0123456789a the middle"))
	require.Empty(t, hidden(secret, ""))
}

func TestTheLongerSecretIsHiddenFirst(t *testing.T) {
	_, _, n, _ := runWith(map[string]string{"A": "prefix", "B": "prefix-and-more"}, `{"a":"${secret.A}${secret.B}"}`,
		"prefix-and-more, prefix")
	require.Equal(t, []string{"***, ***"}, n.lines)
	require.NotContains(t, strings.Join(n.lines, ""), "more")
}

// A text about a run outside of its attempt hides what the attempt was given.
func TestAHiderHidesValues(t *testing.T) {
	require.Equal(t, "the key is "+redact.Hidden, redact.Hide([]string{"s3cret-value"}).Text("the key is s3cret-value"))
	require.Equal(t, "s3cret-value", redact.Hide(nil).Text("s3cret-value"))
}
