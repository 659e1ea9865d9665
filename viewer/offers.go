package viewer

import "fmt"

// offers lists what can be done to a run. What is not possible stays in the
// list with the reason. Lists and plans share it.
func offers(f facts) []Offer {
	if f.foreign != nil {
		return offersForeign(f)
	}
	var list []Offer
	blocked, only := f.decisionRefusal(), f.refusals.flow != ""
	for _, w := range f.waiting {
		if w.Type == WaitApproval {
			list = append(list, Offer{Approve, w.ID, "approve " + w.Tool, blocked, only}, Offer{Deny, w.ID, "deny " + w.Tool, blocked, only})
		} else {
			title := "answer " + nameOr(w.Key, w.ID)
			if w.Turn {
				title = "write the next message"
			}
			list = append(list, Offer{Answer, w.ID, title, blocked, only})
		}
	}
	for _, c := range f.doubts {
		if f.running() {
			list = append(list, Offer{Action: Resolve, Target: c.ID, Title: "resolve " + c.Tool, Disabled: f.resolveRefusal()})
		}
	}
	list = append(list, Offer{Action: Recover, Title: "recover", Disabled: f.recoverRefusal()})
	for _, idle := range []struct {
		action Action
		why    string
	}{
		{Approve, "it waits for no approval"}, {Deny, "it waits for no approval"},
		{Answer, "it asks nothing"}, {Resolve, "no call is in doubt"},
	} {
		if !offered(list, idle.action) {
			list = append(list, Offer{Action: idle.action, Title: string(idle.action), Disabled: idle.why})
		}
	}
	return list
}

func offered(list []Offer, a Action) bool {
	for _, o := range list {
		if o.Action == a {
			return true
		}
	}
	return false
}

// trustRefusal is why nothing at all may be done to the run.
func (f facts) trustRefusal() string {
	switch {
	case f.refusals.write != "":
		return f.refusals.write
	case f.verdict == NoKeyGiven:
		return "no key was given, so it cannot be verified"
	case f.verdict == UnknownKey:
		return "it is signed with a key that was not given"
	case f.verdict == Unsigned:
		return "its store carries no signatures, so it cannot be verified"
	case f.verdict.Bad():
		return "it does not verify: " + f.reason
	case f.lease != nil:
		return fmt.Sprintf("%s is working on it", f.lease.Holder)
	}
	return ""
}

func (f facts) decisionRefusal() string {
	why := f.trustRefusal()
	if why == "" {
		why = f.refusals.principal
	}
	return why
}

func (f facts) resolveRefusal() string { return f.trustRefusal() }

func (f facts) recoverRefusal() string {
	switch {
	case f.final():
		return "it has ended, it is " + f.status
	case f.paused():
		return "it is paused: a decision brings it on"
	case !f.running():
		return "it cannot be read"
	}
	for _, why := range []string{f.trustRefusal(), f.refusals.principal, f.refusals.flow} {
		if why != "" {
			return why
		}
	}
	return ""
}
