package cronexpr

// RunsOn reports whether the expression fires through a repeated hour.
func (e *Expr) RunsOn() bool { return e.runsOn }
