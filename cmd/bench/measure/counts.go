package measure

// AlertCount is what is read of an alert.
type AlertCount struct {
	JobID string `json:"jobId"`
	Count int    `json:"count"`
}

// CompareCounts adds up the counts of alerts, and says what of the failures of each job is missing in
// them, and what is too much.
func CompareCounts(failures map[string]int, alerts []AlertCount) (sum, lost, more int) {
	left := map[string]int{}
	for id, n := range failures {
		left[id] = n
	}
	for _, a := range alerts {
		sum += a.Count
		left[a.JobID] -= a.Count
	}
	for _, n := range left {
		lost, more = lost+max(n, 0), more+max(-n, 0)
	}
	return sum, lost, more
}
