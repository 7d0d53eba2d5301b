package faults_test

import (
	"net/textproto"
	"testing"

	"github.com/postrider/postrider/runtime/test/faults"
)

// The audit itself: lost, duplicated and explained mail.
func TestAuditCountsLostAndDuplicateMail(t *testing.T) {
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	for _, id := range []string{"once", "twice", "twice", "unasked", "unasked", "open", "open"} {
		sendMessage(t, host, id)
	}
	ledger := faults.NewLedger()
	for _, id := range []string{"once", "twice", "open", "lost", "refused"} {
		ledger.Accept(faults.Accepted{EmailID: id, Recipient: "bob@example.net"})
	}
	open := map[faults.Accepted]int{{EmailID: "open", Recipient: "bob@example.net"}: 1,
		{EmailID: "lost", Recipient: "bob@example.net"}: 1}
	final := map[faults.Accepted]bool{{EmailID: "refused", Recipient: "bob@example.net"}: true}
	got := ledger.Audit(sink, open, final)
	if got.Accepted != 5 || got.Lost != 1 || got.Duplicates != 3 || got.Unexplained != 2 || got.Explained() != 1 ||
		got.Open != 2 || len(got.Examples) != 3 {
		t.Errorf("the audit is %+v, want 5 accepted, 1 lost, 3 duplicates, 2 of them unexplained, and 2 open", got)
	}
	if n := ledger.Missing(sink); n != 2 {
		t.Errorf("%d missing", n)
	}
}

// sendMessage sends the host one message.
func sendMessage(t *testing.T, host *faults.Host, id string) {
	t.Helper()
	conn, err := textproto.Dial("tcp", host.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"EHLO x", "MAIL FROM:<a@dev.test>", "RCPT TO:<bob@example.net>", "DATA",
		"Message-ID: <" + id + "@dev.test>\r\n\r\nt\r\n.", "QUIT"} {
		if err := conn.PrintfLine("%s", line); err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range []int{220, 250, 250, 250, 354, 250, 221} {
		if _, _, err := conn.ReadResponse(code); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
