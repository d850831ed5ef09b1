package delivery

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Receipt is what an item of a report gets.
type Receipt string

// The receipts. A worker holds an end, and its slot, until one of the first three.
const (
	// ReceiptAccepted: this report stored the end.
	ReceiptAccepted Receipt = "ACCEPTED"
	// ReceiptDuplicate: the store had it already, by a report whose answer was lost.
	ReceiptDuplicate Receipt = "DUPLICATE"
	// ReceiptStale: the store has given the attempt up. It keeps the end as evidence; the worker drops it.
	ReceiptStale Receipt = "STALE"
	// ReceiptRetry: not decided. The worker sends it again, here or elsewhere.
	ReceiptRetry Receipt = "RETRY"
)

// End is the end of an attempt, as a worker reports it: final, or back to WAITING for a run that did not
// begin, or that a shutdown interrupted.
type End struct {
	Worker string
	Epoch  int64
	Attempt
	Status entity.Status
	Reason entity.Reason
}

// Found is what the store says after it was asked to store the end.
type Found struct {
	// Decided is false when the store did not answer in time, or the gateway may not store ends now.
	Decided bool
	// Stored: the statement touched the row.
	Stored bool
	// Execution is the row; nil when it is not there any more.
	Execution *entity.Execution
	// Attempts are the records of the attempt with the token of the end, which a retry replaced in the row.
	Attempts []entity.Attempt
}

// ReceiptFor is what the end gets. Status and reason are compared, not the text: the reporter of a
// duplicate is the same process. A RUNNING row of this very attempt that was not stored is asked again.
func ReceiptFor(end End, f Found) Receipt {
	x := f.Execution
	switch {
	case !f.Decided:
		return ReceiptRetry
	case f.Stored:
		return ReceiptAccepted
	case x != nil && x.Token == end.Token && x.Status == entity.StatusRunning &&
		x.NodeID == end.Worker && x.Epoch == end.Epoch:
		return ReceiptRetry
	case x != nil && x.Token == end.Token && end.storedAs(x.Status, x.Reason):
		return ReceiptDuplicate
	}
	for _, a := range f.Attempts {
		if end.storedAs(a.Status, a.Reason) {
			return ReceiptDuplicate
		}
	}
	return ReceiptStale
}

// storedAs reports whether an end may be stored so. The last failure of a run is stored as DEAD. A run that
// waits again has no reason of its own.
func (e End) storedAs(status entity.Status, reason entity.Reason) bool {
	if status == entity.StatusDead && e.Status.Failed() {
		status = e.Status
	}
	return status == e.Status && (reason == e.Reason || !status.Final())
}
