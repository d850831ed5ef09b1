package validation_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

var now = time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC)

// good is a definition without a fault.
func good() *entity.Job {
	j := validation.NewJob("")
	j.Name, j.Type, j.Class = "settle orders", entity.JobCustom, "noop"
	return j
}

// deadline gives a job that fires by itself a deadline.
func deadline(at, timeZone string, onMiss entity.OnMiss) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedRate, 1000
		j.Deadline = entity.JobDeadline{At: at, TimeZone: timeZone, OnMiss: onMiss}
		validation.Defaults(j, "UTC")
	}
}

// parameters gives a job declarations.
func parameters(all ...entity.JobParameter) func(j *entity.Job) {
	return func(j *entity.Job) { j.Parameters = all }
}

// faults are the wrong fields with their codes.
func faults(fields []apperror.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Field+" "+f.Code)
	}
	return out
}

func TestGoodDefinitions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*entity.Job){
		"as it is":            func(*entity.Job) {},
		"names in any script": func(j *entity.Job) { j.Name, j.Group, j.Owner = "结算订单 №1", "财务-2.日报_x", "王" },
		"longest texts": func(j *entity.Job) {
			j.Name, j.Description = strings.Repeat("名", 100), strings.Repeat("名", 2000)
			j.Group, j.Owner, j.Class = strings.Repeat("g", 100), strings.Repeat("名", 100), strings.Repeat("c", 255)
		},
		"description of several lines": func(j *entity.Job) { j.Description = "first\n\tsecond\r\n" },
		"labels": func(j *entity.Job) {
			j.Labels = map[string]string{strings.Repeat("k", 63): strings.Repeat("v", 255), "team": ""}
		},
		"greatest numbers": func(j *entity.Job) {
			j.Priority, j.TimeoutSec, j.StartDeadlineSec = 10, 604_800, 604_800
			j.MaxConcurrency, j.MaxQueued, j.ShardCount = 10_000, 100_000, 1024
			j.Misfire.ThresholdSec, j.Misfire.WindowSec, j.Misfire.MaxFires = 86_400, 31_536_000, 10_000
			j.Retry.MaxRetries, j.Retry.IntervalMs, j.Retry.MaxIntervalMs, j.Retry.Jitter = 1000, 86_400_000, 86_400_000, 1
		},
		"least numbers": func(j *entity.Job) {
			j.Priority, j.MaxQueued = 1, 0
			j.Misfire = entity.Misfire{Policy: entity.MisfireSkip, MaxFires: 1}
			j.Retry = entity.RetryPolicy{Backoff: entity.BackoffExponential}
		},
		"reasons": func(j *entity.Job) {
			j.Retry.NoRetryOn = []entity.Reason{entity.ReasonExitCode, entity.ReasonTimeout}
		},
		"largest data": func(j *entity.Job) { j.Data = `{"x":"` + strings.Repeat("a", 64<<10-8) + `"}` },
		"broadcast":    func(j *entity.Job) { j.Broadcast = true },
		"broadcast to workers": func(j *entity.Job) {
			j.Type, j.Class, j.Routing.Workers, j.Broadcast = entity.JobCustom, "a", "shop", true
		},
		"fixed delay": func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.IntervalMs, j.MaxConcurrency = schedule.FixedDelay, 1000, 1
		},
		"cron": func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.CronExpression = schedule.Cron, "0 0/5 * * * ?"
		},
		"sharded and discard":  func(j *entity.Job) { j.ShardCount, j.Overlap = 4, entity.OverlapDiscard },
		"HTTP without a class": func(j *entity.Job) { j.Type, j.Class = entity.JobHTTP, "" },
	} {
		t.Run(name, func(t *testing.T) {
			j := good()
			change(j)
			require.Empty(t, validation.Job(j, now))
		})
	}
}

// fat are labels that are 16 KiB as JSON, and some bytes more.
func fat(more int) map[string]string {
	out := map[string]string{}
	size := len("{}") - len(",")
	for i := 0; size < validation.MaxLabelBytes+more; i++ {
		key := fmt.Sprintf("%03d", i)
		size += len(`"000":"",`)
		n := min((validation.MaxLabelBytes+more-size)/6, 255)
		out[key] = strings.Repeat("<", n)
		size += 6 * n
		if rest := validation.MaxLabelBytes + more - size; n < 255 && rest < 255-n {
			out[key] += strings.Repeat("x", rest)
			size += rest
		}
	}
	return out
}

// The bound counts the bytes that the store keeps: JSON writes some letters with six.
func TestTheBytesOfLabelsAreBounded(t *testing.T) {
	t.Parallel()
	j := good()
	j.Labels = fat(0)
	require.Equal(t, validation.MaxLabelBytes, validation.LabelBytes(j.Labels))
	require.Empty(t, validation.Job(j, now))
	j.Labels = fat(1)
	require.Equal(t, validation.MaxLabelBytes+1, validation.LabelBytes(j.Labels))
	found := validation.Job(j, now)
	require.Len(t, found, 1)
	require.Equal(t, "labels", found[0].Field)
	require.Contains(t, found[0].Message, "there are 16385: shorten values, or leave labels out")
}

func TestWrongFields(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 65 {
		many[fmt.Sprint(i)] = ""
	}
	for _, c := range []struct {
		want   string
		change func(*entity.Job)
	}{
		{"name required", func(j *entity.Job) { j.Name = "" }},
		{"name required", func(j *entity.Job) { j.Name = " \t　" }},
		{"name too_long", func(j *entity.Job) { j.Name = strings.Repeat("名", 101) }},
		{"name invalid", func(j *entity.Job) { j.Name = "a\x00b" }},
		{"name invalid", func(j *entity.Job) { j.Name = "a\nb" }},
		{"name invalid", func(j *entity.Job) { j.Name = "a\x1bb" }},
		{"name invalid", func(j *entity.Job) { j.Name = "a\xffb" }},
		{"description too_long", func(j *entity.Job) { j.Description = strings.Repeat("d", 2001) }},
		{"description invalid", func(j *entity.Job) { j.Description = "\x00" }},
		{"group required", func(j *entity.Job) { j.Group = "" }},
		{"group too_long", func(j *entity.Job) { j.Group = strings.Repeat("g", 101) }},
		{"group invalid", func(j *entity.Job) { j.Group = "a/b" }},
		{"group invalid", func(j *entity.Job) { j.Group = ".." }},
		{"group invalid", func(j *entity.Job) { j.Group = "a b" }},
		{"labels too_many", func(j *entity.Job) { j.Labels = many }},
		{"labels too_large", func(j *entity.Job) { j.Labels = fat(3) }},
		{"labels invalid", func(j *entity.Job) { j.Labels = map[string]string{" ": "x"} }},
		{"labels.k invalid", func(j *entity.Job) { j.Labels = map[string]string{"k": "\x00"} }},
		{"labels.k too_long", func(j *entity.Job) { j.Labels = map[string]string{"k": strings.Repeat("v", 256)} }},
		{"owner too_long", func(j *entity.Job) { j.Owner = strings.Repeat("o", 101) }},
		{"jobType required", func(j *entity.Job) { j.Type = "" }},
		{"jobType unknown_value", func(j *entity.Job) { j.Type = "SHELL" }},
		{"jobClass required", func(j *entity.Job) { j.Class = " " }},
		{"jobClass too_long", func(j *entity.Job) { j.Class = strings.Repeat("c", 256) }},
		{"jobData invalid", func(j *entity.Job) { j.Data = "" }},
		{"jobData invalid", func(j *entity.Job) { j.Data = "[]" }},
		{"jobData invalid", func(j *entity.Job) { j.Data = "{" }},
		{"jobData invalid", func(j *entity.Job) { j.Data = "null" }},
		{"jobData invalid", func(j *entity.Job) { j.Data = `{} {}` }},
		{"jobData invalid", func(j *entity.Job) { j.Data = "{\"a\":\"\xff\"}" }},
		{"jobData too_long", func(j *entity.Job) { j.Data = `{"x":"` + strings.Repeat("a", 64<<10) + `"}` }},
		{"schedule.misfirePolicy unknown_value", func(j *entity.Job) { j.Misfire.Policy = "LATER" }},
		{"schedule.misfireThresholdSec out_of_range", func(j *entity.Job) { j.Misfire.ThresholdSec = -1 }},
		{"schedule.misfireThresholdSec out_of_range", func(j *entity.Job) { j.Misfire.ThresholdSec = 86_401 }},
		{"schedule.misfireWindowSec out_of_range", func(j *entity.Job) { j.Misfire.WindowSec = 31_536_001 }},
		{"schedule.misfireMaxFires out_of_range", func(j *entity.Job) { j.Misfire.MaxFires = 0 }},
		{"schedule.misfireMaxFires out_of_range", func(j *entity.Job) { j.Misfire.MaxFires = 10_001 }},
		{"schedule.cronExpression required", func(j *entity.Job) { j.Schedule.Kind = schedule.Cron }},
		{"schedule.intervalMs required", func(j *entity.Job) { j.Schedule.Kind = schedule.FixedRate }},
		{"schedule.at in_the_past", func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.At = schedule.Once, now.Add(-time.Hour)
		}},
		{"priority out_of_range", func(j *entity.Job) { j.Priority = 0 }},
		{"priority out_of_range", func(j *entity.Job) { j.Priority = 11 }},
		{"timeoutSec out_of_range", func(j *entity.Job) { j.TimeoutSec = 604_801 }},
		{"startDeadlineSec out_of_range", func(j *entity.Job) { j.StartDeadlineSec = -1 }},
		{"retryPolicy.maxRetries out_of_range", func(j *entity.Job) { j.Retry.MaxRetries = 1001 }},
		{"retryPolicy.backoff unknown_value", func(j *entity.Job) { j.Retry.Backoff = "RANDOM" }},
		{"retryPolicy.intervalMs out_of_range", func(j *entity.Job) { j.Retry.IntervalMs = -1 }},
		{"retryPolicy.maxIntervalMs out_of_range", func(j *entity.Job) { j.Retry.MaxIntervalMs = 86_400_001 }},
		{"retryPolicy.maxIntervalMs out_of_range", func(j *entity.Job) { j.Retry.MaxIntervalMs = 999 }},
		{"retryPolicy.jitter out_of_range", func(j *entity.Job) { j.Retry.Jitter = 1.01 }},
		{"retryPolicy.jitter out_of_range", func(j *entity.Job) { j.Retry.Jitter = math.NaN() }},
		{"retryPolicy.noRetryOn[1] unknown_value", func(j *entity.Job) {
			j.Retry.NoRetryOn = []entity.Reason{entity.ReasonPanic, "MOON"}
		}},
		{"retryPolicy.noRetryOn too_many", func(j *entity.Job) {
			j.Retry.NoRetryOn = slices.Repeat([]entity.Reason{entity.ReasonPanic}, 10)
		}},
		{"overlapPolicy unknown_value", func(j *entity.Job) { j.Overlap = "QUEUE" }},
		{"maxConcurrency out_of_range", func(j *entity.Job) { j.MaxConcurrency = 10_001 }},
		{"maxQueued out_of_range", func(j *entity.Job) { j.MaxQueued = 100_001 }},
		{"shardCount out_of_range", func(j *entity.Job) { j.ShardCount = 0 }},
		{"shardCount out_of_range", func(j *entity.Job) { j.ShardCount = 1025 }},
		{"routing.strategy unknown_value", func(j *entity.Job) { j.Routing.Strategy = "BEST" }},
		{"routing.labels.k invalid", func(j *entity.Job) { j.Routing.Labels = map[string]string{"k": "a\nb"} }},
		{"routing.workers invalid", func(j *entity.Job) {
			j.Type, j.Class, j.Routing.Workers = entity.JobCustom, "a", "Shop"
		}},
		{"jobClass conflict", func(j *entity.Job) {
			j.Type, j.Class, j.Routing.Workers = entity.JobCustom, entity.HTTPHandler, "shop"
		}},
		{"jobClass conflict", func(j *entity.Job) {
			j.Type, j.Class, j.Routing.Workers = entity.JobCommand, entity.HTTPHandler, "shop"
		}},
		{"jobClass conflict", func(j *entity.Job) { j.Type, j.Class = entity.JobHTTP, entity.HTTPHandler }},
		{"broadcast conflict", func(j *entity.Job) {
			j.Type, j.Class, j.Routing.Workers, j.Broadcast, j.ShardCount = entity.JobCustom, "a", "shop", true, 2
		}},
		{"onNodeLoss unknown_value", func(j *entity.Job) { j.OnNodeLoss = "CRY" }},
		{"alerts.onFailure[1] conflict", func(j *entity.Job) { j.Alerts.OnFailure = []string{"a", "a"} }},
		{"alerts.onEnd[0] required", func(j *entity.Job) { j.Alerts.OnEnd = []string{" "} }},
		{"alerts.onLate too_many", func(j *entity.Job) { j.Alerts.OnLate = make([]string, 21) }},
		{"alerts.onSuccess[0] too_long", func(j *entity.Job) { j.Alerts.OnSuccess = []string{strings.Repeat("a", 101)} }},
		{"alerts.lateAfterSec conflict", func(j *entity.Job) { j.Alerts.LateAfterSec = 60 }},
		{"alerts.lateAfterSec out_of_range", func(j *entity.Job) {
			j.Alerts = entity.JobAlerts{OnLate: []string{"a"}, LateAfterSec: 29}
		}},
		{"parameters too_many", parameters(make([]entity.JobParameter, 51)...)},
		{"parameters[0].name required", parameters(entity.JobParameter{Type: entity.ParameterString})},
		{"parameters[0].name invalid", parameters(entity.JobParameter{Name: "a b", Type: entity.ParameterString})},
		{"parameters[1].name conflict", parameters(entity.JobParameter{Name: "a", Type: entity.ParameterString},
			entity.JobParameter{Name: "a", Type: entity.ParameterString})},
		{"parameters[0].type unknown_value", parameters(entity.JobParameter{Name: "a", Type: "LIST"})},
		{"parameters[0].default invalid", parameters(entity.JobParameter{
			Name: "a", Type: entity.ParameterInteger, Default: []byte(`"x"`),
		})},
		{"parameters[0].values required", parameters(entity.JobParameter{Name: "a", Type: entity.ParameterEnum})},
		{"parameters[0].values conflict", parameters(entity.JobParameter{
			Name: "a", Type: entity.ParameterDate, Values: []string{"x"},
		})},
		{"parameters[0].values[1] invalid", parameters(entity.JobParameter{
			Name: "a", Type: entity.ParameterEnum, Values: []string{"x", "x"},
		})},
		{"parameters[0].description too_long", parameters(entity.JobParameter{
			Name: "a", Type: entity.ParameterString, Description: strings.Repeat("d", 501),
		})},
		{"parameters[0].default required", func(j *entity.Job) {
			deadline("", "", "")(j)
			parameters(entity.JobParameter{Name: "a", Type: entity.ParameterString, Required: true})(j)
		}},
		{"parameters too_long", func(j *entity.Job) {
			for _, name := range strings.Fields("a b c d e") {
				j.Parameters = append(j.Parameters, entity.JobParameter{
					Name: name, Type: entity.ParameterString, Default: []byte(`"` + strings.Repeat("x", 4000) + `"`),
				})
			}
		}},
		{"deadline.at invalid", deadline("24:00", "", "")},
		{"deadline.at invalid", deadline("6:00", "", "")},
		{"deadline.at invalid", deadline("06:00:60", "", "")},
		{"deadline.at required", deadline("", "UTC", "")},
		{"deadline.timeZone unknown_time_zone", deadline("06:00", "Mars", "")},
		{"deadline.onMiss unknown_value", deadline("06:00", "", "CRY")},
		{"deadline conflict", func(j *entity.Job) {
			deadline("06:00", "", "")(j)
			j.Schedule = schedule.Spec{Kind: schedule.None, TimeZone: "UTC"}
		}},
		{"broadcast conflict", func(j *entity.Job) { j.Broadcast, j.ShardCount = true, 2 }},
	} {
		t.Run(c.want, func(t *testing.T) {
			j := good()
			c.change(j)
			fields := validation.Job(j, now)
			require.Equal(t, []string{c.want}, faults(fields))
			require.NotEmpty(t, fields[0].Message)
		})
	}
}

func TestRunsOfFixedDelayAreNotConcurrent(t *testing.T) {
	t.Parallel()
	j := good()
	j.Schedule.Kind, j.Schedule.IntervalMs, j.MaxConcurrency = schedule.FixedDelay, 1000, 2
	require.Equal(t, []string{"maxConcurrency conflict"}, faults(validation.Job(j, now)))
}

func TestAllWrongFieldsComeAtOnce(t *testing.T) {
	t.Parallel()
	got := faults(validation.Job(&entity.Job{Retry: entity.RetryPolicy{IntervalMs: -1, MaxIntervalMs: -1}}, now))
	for _, want := range []string{
		"name required", "group required", "jobType required", "jobData invalid", "schedule.misfirePolicy required",
		"schedule.misfireMaxFires out_of_range", "priority out_of_range", "retryPolicy.backoff required",
		"retryPolicy.intervalMs out_of_range", "retryPolicy.maxIntervalMs out_of_range",
		"overlapPolicy required", "shardCount out_of_range", "routing.strategy required", "onNodeLoss required",
	} {
		require.Contains(t, got, want)
	}
}

func TestMessagesNameTheChoices(t *testing.T) {
	t.Parallel()
	j := good()
	j.Overlap = "QUEUE"
	require.Equal(t, `choose one of PARALLEL, SERIAL, DISCARD, REPLACE instead of "QUEUE"`,
		validation.Job(j, now)[0].Message)
	j = good()
	j.Priority = 12
	require.Equal(t, "must be between 1 and 10; it is 12", validation.Job(j, now)[0].Message)
}

func TestLabelsAreReportedInOneOrder(t *testing.T) {
	t.Parallel()
	j := good()
	j.Labels = map[string]string{"c": "\x00", "a": "\x00", "b": "\x00"}
	for range 20 {
		require.True(t, slices.IsSorted(faults(validation.Job(j, now))))
	}
}
