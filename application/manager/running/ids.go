package running

import "github.com/google/uuid"

// newID is a time-ordered random id. Must is safe here: the random source of
// the runtime does not fail, it ends the process.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
