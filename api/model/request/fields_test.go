package request

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The defaults that the API documents are those of the domain.
func TestWhatIsNotSaidIsAtTheDefaultOfTheDomain(t *testing.T) {
	t.Parallel()
	reader := JobReader{TimeZone: "Asia/Shanghai", Now: time.Now}
	for _, nothing := range []string{"", `"schedule":null,"retryPolicy":{},"routing":{},"group":null,"jobData":null,`} {
		in, err := reader.Read(t.Context(), []byte(`{`+nothing+`"name":"n","jobType":"HTTP"}`))
		require.NoError(t, err)
		want := validation.NewJob("Asia/Shanghai")
		want.Name, want.Type = "n", entity.JobHTTP
		require.Equal(t, JobInput{Job: want, Enabled: true}, in)
	}
}

type sample struct {
	Text    string            `json:"text" default:"d"`
	Maybe   *int              `json:"maybe,omitempty" default:"7"`
	Share   float64           `json:"share" default:"0.5"`
	On      bool              `json:"on" default:"true"`
	List    []entity.Reason   `json:"list"`
	Map     map[string]string `json:"map"`
	Inner   inner             `json:"inner"`
	Perhaps *inner            `json:"perhaps"`
	Shown   int               `json:"shown" readonly:"true"`
	inside
}

type inner struct {
	Count int `json:"count" default:"3"`
}

type inside struct {
	Wide int64 `json:"wide"`
}

func readSample(t *testing.T, body string) (sample, *faults) {
	t.Helper()
	o, err := decode(t.Context(), []byte(body), maxBodyValues)
	require.NoError(t, err)
	f := &faults{}
	return bind[sample](newBinder(o, f)), f
}

func TestTheTagsOfAStructSayHowItIsRead(t *testing.T) {
	t.Parallel()
	none := sample{Text: "d", Share: 0.5, On: true, Inner: inner{Count: 3}}
	for _, body := range []string{
		`{}`, `{"text":null,"maybe":null,"inner":null,"perhaps":null,"wide":null,"list":null}`,
		`{"shown":"whatever"}`,
	} {
		got, f := readSample(t, body)
		require.Empty(t, f.list)
		require.Equal(t, none, got, body)
	}
	got, f := readSample(t, `{"text":"","maybe":0,"share":0,"on":false,"list":[],"map":{"a":"b"},"inner":{"count":0},"perhaps":{},"wide":9007199254740993}`)
	require.Empty(t, f.list)
	require.Equal(t, sample{
		Maybe: new(int), List: []entity.Reason{}, Map: map[string]string{"a": "b"}, Perhaps: &inner{Count: 3},
		inside: inside{Wide: 9007199254740993},
	}, got)
}

func TestWhatIsWrongIsNamedAllAtOnceAndNotRead(t *testing.T) {
	t.Parallel()
	got, f := readSample(t, `{"text":1,"maybe":"x","share":true,"on":"y","list":["a",1],"map":{"k":2},"inner":{"count":1.5,"x":1},"perhaps":[],"wide":9223372036854775808,"Shown":1}`)
	var fields []string
	for _, wrong := range f.list {
		fields = append(fields, wrong.Field+" "+wrong.Code)
	}
	require.Equal(t, []string{
		"text wrong_type", "maybe wrong_type", "share wrong_type", "on wrong_type", "list[1] wrong_type", "map.k wrong_type",
		"inner.count not_an_integer", "inner.x unknown_field", "perhaps wrong_type", "wide out_of_range",
		"Shown unknown_field",
	}, fields)
	require.Equal(t, "must be a string, not a number", f.list[0].Message)
	require.Nil(t, got.Maybe)
	require.Nil(t, got.Perhaps)
	require.Equal(t, 3, got.Inner.Count)
}

// wholeJob says something of each field that people write of a job.
const wholeJob = `{"name":"n","description":"d","group":"g","labels":{"a":"b"},"owner":"o","jobType":"COMMAND","jobClass":"c","jobData":{"command":["true"]},
	"schedule":{"kind":"FIXED_RATE","cronExpression":"0 0 0 * * ?","dialect":"UNIX","intervalMs":1000,"at":"2027-01-01T00:00:00.001Z","timeZone":"Asia/Tokyo",
		"startTime":"2027-01-01T00:00:00.002Z","endTime":"2027-01-01T00:00:00.003Z","jitterMs":4,"dstGap":"SKIP","dstOverlap":"BOTH",
		"misfirePolicy":"SKIP","misfireThresholdSec":5,"misfireWindowSec":6,"misfireMaxFires":7},
	"priority":8,"timeoutSec":9,"startDeadlineSec":10,
	"retryPolicy":{"maxRetries":11,"backoff":"LINEAR","intervalMs":12,"maxIntervalMs":13,"jitter":0.5,"noRetryOn":["PANIC"]},
	"overlapPolicy":"SERIAL","maxConcurrency":14,"maxQueued":15,"shardCount":16,"broadcast":true,"routing":{"strategy":"FIRST","labels":{"k":"v"}},"onNodeLoss":"FAIL",
	"alerts":{"onFailure":["a"],"onSuccess":["b"],"onEnd":["c"],"onLate":["d"],"onRecovered":["e"],"lateAfterSec":17},
	"deadline":{"at":"06:00","timeZone":"Asia/Shanghai","onMiss":"CANCEL"},
	"parameters":[{"name":"day","type":"ENUM","default":"today","required":true,"description":"which","values":["today"]}],
	"next":[{"job":"g/then","on":"END","params":{"day":"${params.day}"}}]}`

// A field that somebody adds stands in the request, in the job and in the answer,
// or this test says where it is missing.
func TestWhatIsWrittenOfAJobIsShownAgain(t *testing.T) {
	t.Parallel()
	o, err := decode(t.Context(), []byte(wholeJob), maxBodyValues)
	require.NoError(t, err)
	f := &faults{}
	body := bind[JobBody](newBinder(o, f))
	require.Empty(t, f.list)
	job := body.job("UTC")
	job.Status = entity.JobEnabled
	shown, err := json.Marshal(vo.FromEntry(job))
	require.NoError(t, err)
	require.JSONEq(t, wholeJob, string(shown))

	for i, v := 0, reflect.ValueOf(body.JobSettings); i < v.NumField(); i++ {
		if field := v.Type().Field(i); field.Tag.Get("readonly") == "" {
			require.False(t, v.Field(i).IsZero(), "say something of %s in this test", field.Name)
		}
	}
	for i, v := 0, reflect.ValueOf(*job); i < v.NumField(); i++ {
		if field := v.Type().Field(i); field.Tag.Get("json") != "-" {
			require.False(t, v.Field(i).IsZero(), "%s is of the definition, and the body does not say it", field.Name)
		}
	}
}
