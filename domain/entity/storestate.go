package entity

import "time"

// StoreMode says whether the nodes of a store work.
type StoreMode string

// The modes of a store.
const (
	// StoreActive: its nodes work. A store that says nothing is active.
	StoreActive StoreMode = "ACTIVE"
	// StoreStandby: it is a copy. Its nodes serve API and console, and do nothing else.
	StoreStandby StoreMode = "STANDBY"
)

// StandbySchema is the schema version of the oldest program that stands by when the
// store says so. One that knows less would fire the jobs of a copy.
const StandbySchema = 69

// The longest texts of a StoreState, in characters.
const (
	MaxStoreReason = 500
	MaxStoreBy     = 200
)

// StoreState is what a store knows of itself.
type StoreState struct {
	Mode StoreMode
	// Reason and By say why it has that mode and who gave it; at most MaxStoreReason and
	// MaxStoreBy characters. Empty where nobody has set it.
	Reason, By string
	// Since is when the mode was set, by the store's clock; zero where nobody has set it.
	Since time.Time
	// Mark is the greatest time that the store's clock has shown; zero where nobody has
	// written it.
	Mark time.Time
}
