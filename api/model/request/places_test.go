package request

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// messages are what is said of each wrong field of a job.
func messages(t *testing.T, body string) map[string]string {
	t.Helper()
	o, err := decode(t.Context(), []byte(body), maxBodyValues)
	require.NoError(t, err)
	f := &faults{}
	bind[JobBody](newBinder(o, f))
	out := map[string]string{}
	for _, one := range f.list {
		require.Equal(t, "unknown_field", one.Code, one.Field)
		out[one.Field] = one.Message
	}
	return out
}

func TestAMisplacedFieldIsSentWhereItBelongs(t *testing.T) {
	for _, c := range []struct{ body, field, says string }{
		{`{"cronExpression":"0 0 3 * * ?"}`, "cronExpression", "it belongs under schedule"},
		{`{"misfirePolicy":"SKIP"}`, "misfirePolicy", "it belongs under schedule"},
		{`{"maxRetries":3}`, "maxRetries", "it belongs under retryPolicy"},
		{`{"onFailure":["mail"]}`, "onFailure", "it belongs under alerts"},
		{`{"strategy":"RANDOM"}`, "strategy", "it belongs under routing"},
		{`{"url":"http://h"}`, "url", "it belongs under jobData"},
		{`{"intervalMs":1000}`, "intervalMs", "it belongs under schedule or under retryPolicy"},
		{`{"schedule":{"overlapPolicy":"SERIAL"}}`, "schedule.overlapPolicy", "it belongs at the top level"},
		{`{"schedule":{"maxRetries":3}}`, "schedule.maxRetries", "it belongs under retryPolicy"},
		{`{"retryPolicy":{"timeoutSec":3}}`, "retryPolicy.timeoutSec", "it belongs at the top level"},
		{`{"deadline":{"endTime":"x"}}`, "deadline.endTime", "it belongs under schedule"},
		{`{"parameters":[{"name":"a"},{"priority":1}]}`, "parameters[1].priority", "it belongs at the top level"},
		{`{"required":true}`, "required", "it belongs under parameters[]"},
		{`{"executor":1}`, "executor", "remove it"},
		{`{"schedule":{"crontab":1}}`, "schedule.crontab", "remove it"},
		{`{"schedule":{"CronExpression":"x"}}`, "schedule.CronExpression", "did you mean cronExpression?"},
	} {
		require.Equal(t, map[string]string{c.field: "is not a field here; " + c.says}, messages(t, c.body), c.body)
	}
}

// Every field of every object of a job is sent back there from every other object.
func TestEachFieldOfAJobHasAPlace(t *testing.T) {
	objects := map[string]reflect.Type{
		"schedule": reflect.TypeFor[ScheduleBody](), "retryPolicy": reflect.TypeFor[RetryBody](),
		"routing": reflect.TypeFor[RoutingBody](), "alerts": reflect.TypeFor[AlertsBody](),
		"deadline": reflect.TypeFor[DeadlineBody](),
	}
	for home, kind := range objects {
		for _, field := range reflect.VisibleFields(kind) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.Anonymous {
				continue
			}
			for object, other := range objects {
				if _, own := jsonField(other, name); own {
					continue
				}
				body, err := json.Marshal(map[string]any{object: map[string]any{name: nil}})
				require.NoError(t, err)
				require.Contains(t, messages(t, string(body))[object+"."+name], "under "+home, "%s in %s", name, object)
			}
			if _, top := jsonField(reflect.TypeFor[JobBody](), name); !top {
				require.Contains(t, messages(t, `{"`+name+`":null}`)[name], "under "+home)
			}
		}
	}
}

func jsonField(of reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(of) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// picky refuses one field of jobData, as executors do.
type picky string

func (p picky) Check(*entity.Job) []apperror.Field {
	return []apperror.Field{{Field: "jobData." + string(p), Code: "unknown_field", Message: "there are others"}}
}

func TestAFieldOfTheJobInItsDataIsSentOut(t *testing.T) {
	for name, says := range map[string]string{
		"timeoutSec": "is not a field here; it belongs at the top level", "maxRetries": "is not a field here; it belongs under retryPolicy",
		"timeout": "there are others",
	} {
		_, err := JobReader{Checker: picky(name), Now: time.Now}.Read(context.Background(),
			[]byte(`{"name":"n","jobType":"CUSTOM","jobClass":"noop","jobData":{"`+name+`":1}}`))
		var wrong *apperror.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, says, wrong.Fields[0].Message)
	}
}

// In a document of several jobs a place is that of the job.
func TestAPlaceInADocumentNamesItsJob(t *testing.T) {
	body := `{"version":1,"jobs":[{"name":"a","jobType":"CUSTOM","jobClass":"noop"},{"name":"b","jobType":"CUSTOM",
		"jobClass":"noop","cronExpression":"x","schedule":{"kind":"NONE","timeoutSec":3},"alerts":{"priority":1},
		"jobData":{"timeoutSec":9}}]}`
	req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	doc, err := JobReader{Checker: picky("timeoutSec"), Now: time.Now}.Document(req)
	require.NoError(t, err)
	says := map[string]string{}
	for _, f := range doc.Jobs[1].Wrong {
		says[f.Field] = f.Message
	}
	for field, place := range map[string]string{
		"cronExpression": "under jobs[1].schedule", "schedule.timeoutSec": "under jobs[1]",
		"alerts.priority": "under jobs[1]", "jobData.timeoutSec": "under jobs[1]",
	} {
		require.Equal(t, "is not a field here; it belongs "+place, says["jobs[1]."+field], says)
	}
}
