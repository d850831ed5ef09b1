// Package kept writes histories of simulations into files, and reads them to judge them again.
package kept

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Kept is what is known of a simulation.
type Kept struct {
	Seed    uint64
	History history.History
	// Deliveries are those of alerts; nil: none were looked at.
	Deliveries *delivery.History `json:",omitempty"`
}

// RuleDeliveries is the rule of all that test/delivery finds.
const RuleDeliveries = "I5: alerts reach their receivers"

// Judge checks everything.
func (k Kept) Judge() history.Summary {
	s := history.Summarize(k.History)
	if k.Deliveries != nil {
		for _, found := range delivery.Check(*k.Deliveries) {
			s.Violations = append(s.Violations, history.Violation{Rule: RuleDeliveries, Detail: found})
		}
	}
	return s
}

// Write writes a file.
func Write(file string, k Kept) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	w := gzip.NewWriter(f)
	err = json.NewEncoder(w).Encode(k)
	return errors.Join(err, w.Close(), f.Close())
}

// Read reads a file that Write wrote. The error says what to do.
func Read(file string) (k Kept, err error) {
	f, err := os.Open(file)
	if err != nil {
		return k, fmt.Errorf("the history cannot be read: %w; name a file that a simulation has kept", err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		return k, fmt.Errorf("%s is no history: name a file that a simulation has kept, such as history-SEED.json.gz", file)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return k, fmt.Errorf("the history %s is cut or damaged: copy it whole, or repeat the simulation of its seed", file)
	}
	if err := json.Unmarshal(text, &k); err != nil {
		return k, fmt.Errorf(
			"%s is no history of this version of the tests (%w): repeat the simulation of its seed",
			file,
			err,
		)
	}
	if len(k.History.Jobs) == 0 {
		return k, fmt.Errorf("the history %s has no jobs: nothing can be judged; repeat the simulation of its seed", file)
	}
	return k, nil
}
