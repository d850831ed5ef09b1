package report

// HTTP is what the calls of HTTP jobs cost. The lateness of the result is from their due time to their arrival.
type HTTP struct {
	Hosts int `json:"hosts"`
	// CPUMicros is the processor time of the node by its runs, in µs. TargetPercent is the share of one core that
	// the called server has used, which is in no other figure.
	CPUMicros     float64 `json:"cpuMicros"`
	TargetPercent float64 `json:"targetPercent"`
}

// httpRows prints what calls cost.
func (r Result) httpRows(row printer) {
	h := r.HTTP
	if h == nil {
		return
	}
	row("due time to the call's arrival", "%s", r.LatenessMs)
	row("called hosts", "%d", h.Hosts)
	row("CPU of the node per run", "%.1f µs", h.CPUMicros)
	row("the called server", "%.1f %% of one core", h.TargetPercent)
}
