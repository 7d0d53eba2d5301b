package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/attempt"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	fresh := Job{attempt: 1, age: time.Second, noticeDue: true}
	noticed := Job{attempt: 3, age: time.Hour}
	old := Job{attempt: 25, age: 72 * time.Hour, noticeDue: true}
	for name, c := range map[string]struct {
		d    Job
		out  smtpclient.Outcome
		want verdict
	}{
		"accepted": {fresh, smtpclient.Outcome{Kind: smtpclient.Delivered},
			verdict{state: recipient.StateDelivered, outcome: attempt.OutcomeDelivered, event: event.EmailDelivered}},
		"refused permanently": {fresh, smtpclient.Outcome{Kind: smtpclient.Permanent},
			verdict{state: recipient.StateBounced, outcome: attempt.OutcomeBounced, event: event.EmailBounced}},
		"no attempt could succeed": {fresh, smtpclient.Outcome{Kind: smtpclient.Failed},
			verdict{state: recipient.StateFailed, outcome: attempt.OutcomeFailed, event: event.EmailFailed}},
		"first deferral is announced": {fresh, smtpclient.Outcome{Kind: smtpclient.Temporary},
			verdict{state: recipient.StateDeferred, wait: time.Minute, outcome: attempt.OutcomeDeferred,
				event: event.EmailDeliveryDelayed}},
		"a second deferral soon after is not announced": {noticed, smtpclient.Outcome{Kind: smtpclient.Temporary},
			verdict{state: recipient.StateDeferred, wait: 15 * time.Minute, outcome: attempt.OutcomeDeferred}},
		"a lost final reply is unknown and tried again": {noticed, smtpclient.Outcome{Kind: smtpclient.Temporary, Ambiguous: true},
			verdict{state: recipient.StateDeferred, wait: 15 * time.Minute, outcome: attempt.OutcomeUnknown}},
		"retries run out": {old, smtpclient.Outcome{Kind: smtpclient.Temporary},
			verdict{state: recipient.StateBounced, outcome: attempt.OutcomeBounced, event: event.EmailBounced}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, judgeOutcome(c.d, c.out), cmp.AllowUnexported(verdict{})); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}
