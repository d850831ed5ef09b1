package detached

import (
	"context"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// firstLine is the number of the first line that reports add to an attempt.
	// The few before it are of the call itself.
	firstLine = 1000
	// reportCost counts towards the limit of the log with each report that has
	// lines: a row costs more than its text.
	reportCost = 64
)

// storeDetails stores what a report says beside an end. The caller holds the execution, or
// has ended it in this transaction.
func (m *Manager) storeDetails(ctx context.Context, tx repository.Tx, t entity.RunToken, exec *entity.Execution,
	report entity.RunReport,
) error {
	if len(report.Lines) > 0 {
		// The execution is locked, so that nobody else counts meanwhile.
		latest, ok, err := tx.RunTokens.RunToken(ctx, t.ExecutionID, t.Hash)
		if err != nil {
			return fmt.Errorf("read how many lines were reported: %w", err)
		}
		if !ok {
			return errToken()
		}
		chunks := m.chunks(&latest, exec, report.Lines)
		if len(chunks) > 0 {
			if err := tx.Records.AddLogs(ctx, chunks); err != nil {
				return fmt.Errorf("keep the lines of a report: %w", err)
			}
			if err := tx.RunTokens.Count(ctx, latest); err != nil {
				return fmt.Errorf("count the lines of a report: %w", err)
			}
		}
	}
	if report.Status != "" || report.Progress < 0 && report.Checkpoint == nil {
		return nil // an end carries them itself
	}
	note := repository.ProgressUpdate{
		ID: exec.ID, NodeID: exec.NodeID, Epoch: exec.Epoch, Token: exec.Token, Progress: exec.Progress,
		Checkpoint: exec.Checkpoint,
	}
	if report.Progress >= 0 {
		note.Progress = report.Progress
	}
	if report.Checkpoint != nil {
		note.Checkpoint = validation.Text(*report.Checkpoint, entity.MaxCheckpoint)
	}
	if err := tx.Executions.UpdateProgress(ctx, []repository.ProgressUpdate{note}); err != nil {
		return fmt.Errorf("keep the progress of a report: %w", err)
	}
	return nil
}

// chunks makes rows of the log out of reported lines, as far as its limit
// allows, and counts them.
func (m *Manager) chunks(t *entity.RunToken, exec *entity.Execution, lines []string) []entity.LogChunk {
	var out []entity.LogChunk
	add := func(kind entity.LogType, line string) {
		number := entity.LineNumber(t.Attempt, int64(firstLine+t.Lines))
		t.Lines++
		t.Bytes += len(line) + 1
		if n := len(out); n > 0 && out[n-1].Type == kind && len(out[n-1].Content)+len(line) < entity.LogChunkBytes {
			out[n-1].Content += "\n" + line
			out[n-1].SeqTo = number
			return
		}
		out = append(out, entity.LogChunk{
			JobID: exec.JobID, ExecutionID: exec.ID, Attempt: t.Attempt, Type: kind, SeqFrom: number, SeqTo: number,
			Content: line, CreateTime: m.Clock.Now(),
		})
	}
	if t.Bytes > m.LogLimit {
		return nil // it was said that the log ends
	}
	shown := validation.Shown(lines)
	if n := len(shown); n > 0 && t.Bytes > m.LogLimit/2 && strings.HasSuffix(shown[n-1], validation.Replaced) {
		shown = shown[:n-1] // a target may show its progress for days: there is room for its end
	}
	if len(shown) == 0 {
		return nil
	}
	t.Bytes += reportCost
	for _, line := range shown {
		text, returned := strings.CutSuffix(line, validation.Replaced)
		text = validation.LogLine(text, entity.MaxLogLine-(len(line)-len(text)))
		if t.Bytes+len(text) > m.LogLimit {
			add(entity.LogSystem, "… the log was cut here: it reached its limit …")
			out[len(out)-1].Truncated = true
			t.Bytes = m.LogLimit + 1
			return out
		}
		if returned {
			text += validation.Replaced
		}
		add(entity.LogStdout, text)
	}
	return out
}

// storeLateReport keeps an end that came too late as evidence, once for each attempt:
// a target may repeat it. A repeated report of an end that counted is none.
func (m *Manager) storeLateReport(ctx context.Context, t entity.RunToken, exec *entity.Execution,
	report entity.RunReport,
) {
	if exec.Attempt == t.Attempt && exec.Status == report.Status {
		return
	}
	text := fmt.Sprintf("refused: the target reported %s for attempt %d, which is over; the run is %s", report.Status,
		t.Attempt, exec.Status)
	if report.Message != "" {
		text += "; its message was: " + report.Message
	}
	number := entity.LineNumber(t.Attempt+1, 0)
	chunk := entity.LogChunk{
		ID: identity.ExecutionID(t.CreateTime, exec.JobID, "late-report:"+exec.ID, t.Attempt), JobID: exec.JobID,
		ExecutionID: exec.ID, Attempt: t.Attempt,
		Type: entity.LogEvidence, SeqFrom: number, SeqTo: number, Content: validation.Text(text, entity.MaxLogLine),
		CreateTime: m.Clock.Now(),
	}
	err := m.Store.Write(ctx, repository.LaneAPI, "evidence", func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddLogs(ctx, []entity.LogChunk{chunk})
	})
	if err != nil {
		m.Logger.Warn("a late report could not be kept as evidence", "execution", exec.ID, "error", err)
	}
}
