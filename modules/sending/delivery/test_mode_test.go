package delivery

import (
	"testing"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// Whatever chose its way, mail of test mode is attempted only by the way to the server that captures it.
func TestMailOfTestModeNeverLeaves(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	relayed := simpleMessage("carol@example.net")
	relayed.Text = ""
	relayed.Relayed = &sending.RelayedMessage{MIME: []byte("From: ada@example.com\r\nTo: carol@example.net\r\n\r\nHello\r\n")}
	f.send(t, simpleMessage("bob@example.net"))
	f.send(t, relayed)
	jobs := f.claimAll(t)
	if len(jobs) != 2 {
		t.Fatalf("%d emails were accepted, want one of the API and one of the relay", len(jobs))
	}
	for _, job := range jobs {
		job.accountID = id.TestTenantOf(id.New(id.Account))
		for name, way := range map[string]smtpclient.Way{
			"the mail hosts": {},
			"a source":       {Label: "192.0.2.1"},
			"a smarthost":    {Label: lane.SmarthostWay("127.0.0.1:25"), Smarthost: &smtpclient.Smarthost{Host: "127.0.0.1", Port: 25}},
		} {
			job.way = way
			if out := f.makeAttempt(t.Context(), job, nil); out.Kind != smtpclient.Failed || out.Reason != smtpclient.ReasonPolicy {
				t.Errorf("mail of test mode by %s got the outcome %+v, want it refused", name, out)
			}
		}
	}
	if n := len(f.Peer.Seen); n != 0 {
		t.Errorf("%d messages of test mode left", n)
	}
}
