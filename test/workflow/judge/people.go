package judge

// approvals checks that each was decided once, by as many as it needs, and that no acknowledged vote is lost.
func (j *Case) approvals() {
	for _, b := range j.Ballots {
		count := map[string]int{}
		of := map[string]string{}
		for _, v := range b.Votes {
			if of[v.User] != "" {
				j.violate(RuleApproval, "%s of %s: %s voted twice", b.Step, b.RunID, v.User)
			}
			of[v.User] = v.Decision
			count[v.Decision]++
		}
		yes, no := count["APPROVE"], count["REJECT"]
		good := b.Status != "WAITING"
		switch {
		case b.Status == "SUCCESS" && b.Reason == "":
			good = no == 0 && (yes == b.Need || yes < b.Need && b.OnTimeout == "APPROVE")
		case b.Reason == "REJECTED":
			good = yes < b.Need && (no == 1 || no == 0 && b.OnTimeout == "REJECT")
		case b.Reason == "TIMEOUT":
			good = yes < b.Need && no == 0 && b.OnTimeout == "FAIL"
		default:
			good = good && yes < b.Need && no == 0
		}
		if !good {
			j.violate(RuleApproval, "%s of %s: %s is %s (%s) with %d who approve and %d who reject; it needs %d", b.Step,
				b.RunID, b.ExecutionID, b.Status, b.Reason, yes, no, b.Need)
		}
		for _, v := range j.votes[b.ExecutionID] {
			if v.Done > 0 && of[v.User] != v.Decision {
				j.violate(RuleApproval, "%s of %s: the vote %s of %s was acknowledged, and is %q", b.Step, b.RunID, v.Decision,
					v.User, of[v.User])
			}
		}
	}
}
