package delivery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(sec int) time.Time { return noon.Add(time.Duration(sec) * time.Second) }

// good is a history with two episodes of a fingerprint and a fault that cost an answer.
func good() delivery.History {
	h := delivery.History{
		Failed: map[string]int{"job": 3},
		Alerts: []delivery.Alert{
			{ID: "a1", Fingerprint: "f", Rule: "r", Job: "job", Fired: true, Each: true, Count: 2, Start: at(0), Last: at(5)},
			{ID: "a2", Fingerprint: "f", Rule: "r", Job: "job", Fired: true, Each: true, Count: 1, Start: at(20), Last: at(20)},
		},
		Faults: []delivery.Fault{{Kind: "kill", From: at(20), Until: at(22)}},
	}
	for i := range h.Alerts {
		h.Alerts[i].Channels = []string{delivery.Webhook}
	}
	tell := func(id, alert, status string, number, from, to int, results ...string) {
		h.Messages = append(h.Messages, delivery.Message{
			ID: id, Group: "g", Channel: delivery.Webhook, State: "SENT", Number: number, Alerts: []string{alert},
		})
		for i, result := range results {
			begun := from + i*(to-from)
			h.Deliveries = append(h.Deliveries, delivery.Attempt{
				Message: id, Number: i + 1, Result: result, Start: at(begun), End: at(begun + 1),
			})
			h.Receipts = append(h.Receipts, delivery.Receipt{
				Channel: delivery.Webhook, ID: id, At: at(begun), Accepted: true,
				Alerts: []delivery.Told{episode(alert, status)},
			})
		}
	}
	for i, m := range []struct {
		alert, status string
		seq           int
	}{{"a1", "FIRING", 1}, {"a1", "FIRING", 2}, {"a1", "RESOLVED", 3}, {"a2", "FIRING", 1}, {"a2", "FIRING", 1}} {
		h.Copies = append(h.Copies, delivery.Copy{
			ID: fmt.Sprint(m.alert, m.seq), Key: "f", At: at(5 * i), Alert: m.alert, Fingerprint: "f", Status: m.status,
			Seq: m.seq,
		})
	}
	h.Changed = []delivery.Changed{
		{Alert: "a1", Fingerprint: "f", Status: "RESOLVED", Seq: 3},
		{Alert: "a2", Fingerprint: "f", Status: "FIRING", Seq: 1},
	}
	h.CopyFaults = h.Faults
	tell("m1", "a1", "FIRING", 1, 1, 2, "SENT")
	tell("m2", "a1", "RESOLVED", 2, 8, 9, "SENT")
	tell("m3", "a2", "FIRING", 3, 21, 30, "UNKNOWN", "SENT")
	return h
}

func TestAGoodHistoryIsGood(t *testing.T) { require.Empty(t, delivery.Check(good())) }

// A message that waited for its channel tells of several episodes, the newest first.
func TestAListOfEpisodesIsNoStepBack(t *testing.T) {
	h := good()
	for i := range h.Receipts[2:] {
		h.Receipts[2+i].Alerts = append(h.Receipts[2+i].Alerts, episode("a1", "RESOLVED"))
	}
	require.Empty(t, delivery.Check(h))
}

func episode(id, status string) delivery.Told {
	return delivery.Told{ID: id, Fingerprint: "f", Status: status, JobID: "job"}
}

func TestEverySeededViolationOfDeliveriesIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(h *delivery.History)
		says  string
	}{
		"an alert is lost": {func(h *delivery.History) {
			h.Messages, h.Receipts, h.Deliveries = h.Messages[:2], h.Receipts[:2], h.Deliveries[:2]
		}, "nobody heard of the alert a2"},
		"SENT and not received": {func(h *delivery.History) {
			h.Receipts = slices.Delete(h.Receipts, 1, 2)
		}, "is SENT, and nobody got it"},
		"a message is left": {func(h *delivery.History) { h.Messages[1].State = "OPEN" }, "is OPEN at the end"},
		"overtaken":         {func(h *delivery.History) { h.Receipts[1].At = at(0) }, "came before m1"},
		"told backwards": {func(h *delivery.History) {
			h.Receipts[0], h.Receipts[1] = h.Receipts[1], h.Receipts[0]
		}, "goes back"},
		"told an older episode": {func(h *delivery.History) { h.Receipts[2].Alerts[0].ID = "a0" }, "goes back"},
		"told an older episode in a list": {func(h *delivery.History) {
			h.Receipts[1].Alerts = append(h.Receipts[1].Alerts, episode("a0", "RESOLVED"))
		}, "goes back"},
		"another id per attempt": {func(h *delivery.History) {
			h.Receipts[3].ID = "m3-2"
		}, "m3-2 came 1 times, of 0 recorded"},
		"twice without a fault": {func(h *delivery.History) { h.Faults = nil }, "was taken 2 times, with 0 faults"},
		"sent without a row": {func(h *delivery.History) {
			h.Deliveries = slices.Delete(h.Deliveries, 2, 3)
		}, "of 1 recorded attempts"},
		"at another time":  {func(h *delivery.History) { h.Deliveries[0].Start = at(6) }, "when no attempt was recorded"},
		"without a result": {func(h *delivery.History) { h.Deliveries[2].Result = "" }, `has the result ""`},
		"SENT twice, received once": {func(h *delivery.History) {
			h.Deliveries[2].Result, h.Receipts[2].Accepted = "SENT", false
		}, "2 attempts of the message m3 are SENT"},
		"a failure uncounted":  {func(h *delivery.History) { h.Failed["job"]++ }, "counted 3"},
		"a failure untold":     {func(h *delivery.History) { h.Failed["other"] = 1 }, "no alert tells"},
		"two alerts at a time": {func(h *delivery.History) { h.Alerts[1].Start = at(5) }, "begins before a1"},
		"a change is not copied": {func(h *delivery.History) {
			h.Copies = slices.Delete(h.Copies, 1, 2)
		}, "the change 2 of the alert a1 was not copied"},
		"an alert is not copied": {func(h *delivery.History) {
			h.Copies = h.Copies[:3]
		}, "the change 1 of the alert a2 was not copied"},
		"copied backwards": {func(h *delivery.History) {
			h.Copies[0], h.Copies[1] = h.Copies[1], h.Copies[0]
		}, "comes after the change 2 of the alert a1"},
		"copied before an older episode": {func(h *delivery.History) {
			h.Copies[2], h.Copies[3] = h.Copies[3], h.Copies[2]
		}, "comes after the change 1 of the alert a2"},
		"copied twice without a fault": {func(h *delivery.History) {
			h.CopyFaults = nil
		}, "was copied 2 times, with 0 faults"},
		"a copy has another id": {func(h *delivery.History) { h.Copies[4].ID = "x" }, "has the ids a21 and x"},
		"a copy of nothing":     {func(h *delivery.History) { h.Copies[4].Seq = 2 }, "and the store has 1"},
		"a copy of nobody":      {func(h *delivery.History) { h.Copies[4].Alert = "a9" }, "and the store has 0"},
		"another key":           {func(h *delivery.History) { h.Copies[1].Key = "g" }, "has the key g"},
		"another status": {func(h *delivery.History) {
			h.Copies[2].Status = "FIRING"
		}, "the store says RESOLVED"},
	} {
		t.Run(name, func(t *testing.T) {
			h := good()
			c.spoil(&h)
			require.Contains(t, strings.Join(delivery.Check(h), "\n"), c.says)
		})
	}
}
