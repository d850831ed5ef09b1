package workflow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func someState(t *rapid.T) *workflow.State {
	d := &workflow.Definition{Steps: make([]workflow.Step, rapid.IntRange(0, 200).Draw(t, "steps"))}
	s := workflow.NewState(d, noon)
	s.Phase = workflow.Phase(rapid.IntRange(0, 3).Draw(t, "phase"))
	s.Waited = rapid.Bool().Draw(t, "waited")
	if s.Phase == workflow.PhaseCancelling {
		s.Cause = workflow.Cause(rapid.IntRange(1, 4).Draw(t, "cause"))
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		step.Fate = workflow.Fate(rapid.IntRange(0, int(workflow.FateItemsFailed)).Draw(t, "fate"))
		step.Owed = step.Fate != workflow.FateOpen && rapid.Bool().Draw(t, "owed")
		step.Generation = rapid.IntRange(1, 3).Draw(t, "generation")
		if step.Fate.Class() == workflow.ClassFailure && rapid.Bool().Draw(t, "held") {
			step.HeldUntil = noon.Add(time.Hour)
		}
		if i%7 == 0 {
			m := workflow.NewItems(rapid.IntRange(0, 60).Draw(t, "items"))
			m.Next = rapid.IntRange(0, m.Total).Draw(t, "next")
			m.Inserted = rapid.IntRange(0, m.Next).Draw(t, "inserted")
			m.Cancelled = rapid.Bool().Draw(t, "cancelled")
			for k := range m.Next {
				if rapid.Bool().Draw(t, "final") {
					m.Final.Add(k)
					if rapid.Bool().Draw(t, "failed") {
						m.Failed.Add(k)
					}
				}
			}
			step.Items = m
		}
	}
	return s
}

// A state is read back as it was written, and its copy shares nothing with it.
func TestAStateSurvivesTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := someState(t)
		stored := s.Encode()
		back, err := workflow.Decode(stored)
		require.NoError(t, err)
		require.Equal(t, s, back)
		clone := s.Clone()
		for i := range clone.Steps {
			clone.Steps[i].Fate = workflow.FateDead
			if m := clone.Steps[i].Items; m != nil && m.Total > 0 {
				m.Final.Add(0)
				m.Failed.Add(0)
			}
		}
		require.Equal(t, stored, s.Encode())
	})
}

// 200 steps take 200 bytes and a dozen, and 10,000 items of a map about 1,250 at most.
func TestAStateIsSmall(t *testing.T) {
	s := workflow.NewState(&workflow.Definition{Steps: make([]workflow.Step, 200)}, noon)
	require.Less(t, len(s.Encode()), 220)
	m := workflow.NewItems(10_000)
	m.Next, m.Inserted = 10_000, 10_000
	for i := 1; i < 10_000; i++ {
		m.Final.Add(i)
	}
	s.Steps[3].Items = m
	require.Less(t, len(s.Encode()), 220+1270)
	m.Final.Add(0)
	require.Less(t, len(s.Encode()), 240, "what is done is not stored one by one")
}

// Bytes that no state wrote give an error, and no panic.
func FuzzDecode(f *testing.F) {
	s := workflow.NewState(&workflow.Definition{Steps: make([]workflow.Step, 3)}, noon)
	f.Add(s.Encode())
	s.Phase, s.Cause = workflow.PhaseCancelling, workflow.CauseTimeout
	s.Steps[0] = workflow.StepState{Fate: workflow.FateFailed, Generation: 2, HeldUntil: noon}
	m := workflow.NewItems(20)
	m.Next, m.Inserted = 9, 5
	m.Final.Add(3)
	m.Failed.Add(3)
	s.Steps[1] = workflow.StepState{Fate: workflow.FateLive, Generation: 1, Items: m}
	f.Add(s.Encode())
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := workflow.Decode(text)
		if err != nil {
			require.ErrorIs(t, err, workflow.ErrState)
			return
		}
		require.Equal(t, text, s.Encode())
	})
}

// Each cut, each added byte and each changed head of a state is refused.
func TestADamagedStateIsRefused(t *testing.T) {
	s := workflow.NewState(&workflow.Definition{Steps: make([]workflow.Step, 3)}, noon)
	m := workflow.NewItems(9)
	m.Next, m.Inserted = 9, 5
	s.Steps[1] = workflow.StepState{Fate: workflow.FateLive, Generation: 2, Items: m}
	good := s.Encode()
	for n := range good {
		_, err := workflow.Decode(good[:n])
		require.ErrorIs(t, err, workflow.ErrState, n)
	}
	for name, change := range map[string]func([]byte) []byte{
		"one byte more":      func(b []byte) []byte { return append(b, 0) },
		"a newer version":    func(b []byte) []byte { b[0] = 2; return b },
		"an unknown phase":   func(b []byte) []byte { b[1] = 4; return b },
		"a cause while open": func(b []byte) []byte { b[2] = 1; return b },
		"an unknown fate":    func(b []byte) []byte { b[10] = 0x7f; return b },
		"an owed open step":  func(b []byte) []byte { b[10] = 0x80; return b },
		"a length in two ways": func(b []byte) []byte {
			return append(append(append([]byte{}, b[:9]...), 0x83, 0), b[10:]...)
		},
	} {
		_, err := workflow.Decode(change(append([]byte{}, good...)))
		require.ErrorIs(t, err, workflow.ErrState, name)
	}
}

// A key is written in one way, and no other is read.
func TestKeys(t *testing.T) {
	for text, want := range map[string]workflow.Key{
		"load":           {Name: "load", Item: workflow.Whole, Generation: 1},
		"load[0]":        {Name: "load", Item: 0, Generation: 1},
		"load[9999]~99":  {Name: "load", Item: 9999, Generation: 99},
		"a-b_1~2":        {Name: "a-b_1", Item: workflow.Whole, Generation: 2},
		"0123456789[17]": {Name: "0123456789", Item: 17, Generation: 1},
	} {
		k, err := workflow.ParseKey(text)
		require.NoError(t, err, text)
		require.Equal(t, want, k)
		require.Equal(t, text, k.String())
	}
	for _, text := range []string{
		"", "Load", "a b", "a[01]", "a[-1]", "a[10000]", "a[]", "a[1", "a[1]x", "a~1", "a~0", "a~100", "a~", "a~2[1]", "ä",
		"a~+2", "[1]", strings.Repeat("a", 41),
	} {
		_, err := workflow.ParseKey(text)
		require.Error(t, err, text)
	}
	longest := workflow.Key{Name: strings.Repeat("a", workflow.MaxName), Item: workflow.MaxItems - 1, Generation: 99}
	require.LessOrEqual(t, len("run:")+36+len(":")+len(longest.String()), 100, "the column of fire keys")
}

// A need is a name or an object; what it asks for has short forms.
func TestNeeds(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`:                                   "a success",
		`{"step": "a"}`:                         "a success",
		`{"step": "a", "on": null}`:             "a success",
		`{"step": "a", "on": []}`:               "a",
		`{"step": "a", "on": "done"}`:           "a success failure blocked skipped",
		`{"step": "a", "on": ["ok"]}`:           "a success skipped",
		`{"step": "a", "on": ["unsuccessful"]}`: "a failure blocked",
		`{"step": "a", "on": ["FAILURE"]}`:      "a failure",
		`{"step": "a", "on": ["nonsense"]}`:     "a",
	} {
		var n workflow.Need
		require.NoError(t, json.Unmarshal([]byte(text), &n), text)
		got := n.Step
		for _, c := range workflow.Classes() {
			if n.Accepts(c) {
				got += " " + string(c)
			}
		}
		require.Equal(t, want, got, text)
		again, err := json.Marshal(n)
		require.NoError(t, err)
		var back workflow.Need
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, n, back)
	}
	for _, text := range []string{`1`, `{"step": "a", "when": "x"}`, `{"step": "a", "on": 1}`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(text), &workflow.Need{}), text)
	}
	for _, word := range workflow.Words() {
		require.NotEmpty(t, workflow.Word(word).Classes(), word)
	}
}

// Each fate has the status, the reason and the class that the page says.
func TestFates(t *testing.T) {
	var got []string
	for f := workflow.FateOpen; f <= workflow.FateItemsFailed; f++ {
		got = append(got, fmt.Sprintf("%d %s %s %s", f, f.Status(), f.Reason(), f.Class()))
		require.Equal(t, f > workflow.FateLive, f.Final())
		require.Equal(t, f.Final(), f.Class() != "")
		require.Equal(t, f.Final(), f.Status().Final() && f.Status() != "")
	}
	require.Equal(t, []string{
		"0   ", "1   ", "2 SUCCESS  success", "3 FAILED ERROR failure", "4 TIMEOUT TIMEOUT failure", "5 DEAD ERROR failure",
		"6 CANCELLED OPERATOR failure", "7 SKIPPED DEADLINE failure", "8 FAILED INVALID failure", "9 FAILED REJECTED failure",
		"10 SKIPPED CONDITION skipped", "11 SKIPPED UPSTREAM_FAILED blocked", "12 SKIPPED UPSTREAM_SKIPPED skipped",
		"13 SKIPPED RUN_CANCELLED blocked", "14 SKIPPED RUN_STOPPED blocked", "15 SKIPPED OPERATOR skipped",
		"16 SUCCESS OPERATOR success", "17 SUCCESS REUSED success", "18 SUCCESS  success", "19 FAILED STEP_FAILED failure",
	}, got, "the numbers are stored: new ones come at the end")
	for _, c := range []struct {
		status entity.Status
		reason entity.Reason
		want   workflow.Class
	}{
		{entity.StatusSuccess, "", workflow.ClassSuccess},
		{entity.StatusFailed, entity.ReasonError, workflow.ClassFailure},
		{entity.StatusTimeout, "", workflow.ClassFailure},
		{entity.StatusDead, "", workflow.ClassFailure},
		{entity.StatusCancelled, "", workflow.ClassFailure},
		{entity.StatusSkipped, entity.ReasonDeadline, workflow.ClassFailure},
		{entity.StatusSkipped, entity.ReasonNoNode, workflow.ClassFailure},
		{entity.StatusSkipped, entity.ReasonOperator, workflow.ClassSkipped},
		{entity.StatusSuccess, entity.ReasonOperator, workflow.ClassSuccess},
		{entity.StatusFailed, entity.ReasonRejected, workflow.ClassFailure},
	} {
		f := workflow.FateOf(c.status, c.reason)
		require.Equal(t, c.want, f.Class(), c)
		require.Equal(t, c.status, f.Status(), c)
	}
}
