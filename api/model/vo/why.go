package vo

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Explanation says why a job did, or did not, fire at a moment.
type Explanation struct {
	JobID   string `json:"jobId"`
	JobName string `json:"jobName"`
	// Time is the moment that was asked for, or that of the fire that is explained.
	Time    Time   `json:"time" format:"date-time"`
	Verdict string `json:"verdict" enums:"FIRED,RUNNING,WAITING,SKIPPED,PLANNED,OVERDUE,NOT_PLANNED,UNKNOWN"`
	// Code says why: a status, a reason of the ledger, what the run waits for, or why nothing is planned.
	Code string `json:"code"`
	// Params are the values of the sentence of verdict and code: texts and numbers; times in RFC 3339, durations in
	// milliseconds.
	Params map[string]any `json:"params" swaggertype:"object"`
	// Explanation is one sentence, in English.
	Explanation string `json:"explanation"`
	// Message is what a run said that failed, or who paused.
	Message string `json:"message"`
	// Fire is the line of the ledger, null where there is none.
	Fire *Fire `json:"fire" extensions:"x-nullable"`
	// Facts say more, each by itself.
	Facts []ExplanationFact `json:"facts"`
}

// ExplanationFact is something that belongs to an explanation.
type ExplanationFact struct {
	Code string `json:"code"`
	// Params are the values of its sentence, as those of the answer.
	Params map[string]any `json:"params" swaggertype:"object"`
	// ID is of the run, node or alert that it is about, empty for others.
	ID   string `json:"id"`
	Text string `json:"text"`
}

// FromAnswer makes the view of an answer.
func FromAnswer(a *explain.Answer) Explanation {
	v := Explanation{
		JobID: a.JobID, JobName: a.JobName, Time: Time(a.Time), Verdict: string(a.Verdict),
		Code: string(a.Code), Params: paramsOf(a.Params),
		Explanation: a.Text, Message: a.Message, Facts: factsOf(a.Facts),
	}
	if a.Fire != nil {
		v.Fire = &FromFires([]entity.LedgerEntry{*a.Fire})[0]
	}
	return v
}

// paramsOf makes JSON values of the values of a sentence.
func paramsOf(p explain.Params) map[string]any {
	out := make(map[string]any, len(p))
	for name, value := range p {
		switch v := value.(type) {
		case time.Time:
			out[name] = Time(v)
		case time.Duration:
			out[name] = v.Milliseconds()
		default:
			out[name] = v
		}
	}
	return out
}

// StepExplanation says why a step of a workflow run stands where it stands.
type StepExplanation struct {
	RunID string `json:"runId"`
	Step  string `json:"step"`
	// Code is that of the sentence about where the step stands, and params are its values.
	Code   string         `json:"code"`
	Params map[string]any `json:"params" swaggertype:"object"`
	// Explanation is that sentence, in English.
	Explanation string `json:"explanation"`
	// Facts are the needs of the step and the rules that followed.
	Facts []ExplanationFact `json:"facts"`
}

// FromStepAnswer makes the view of an answer about a step.
func FromStepAnswer(a *explain.StepAnswer) StepExplanation {
	return StepExplanation{
		RunID: a.RunID, Step: a.Step, Code: string(a.Code), Params: paramsOf(a.Params), Explanation: a.Text,
		Facts: factsOf(a.Facts),
	}
}

func factsOf(facts []explain.Fact) []ExplanationFact {
	return convert.All(facts, func(f explain.Fact) ExplanationFact {
		return ExplanationFact{Code: string(f.Code), Params: paramsOf(f.Params), ID: f.ID, Text: f.Text}
	})
}
