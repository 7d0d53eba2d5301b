package dsn_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

func complaint(t testing.TB) dsn.ComplaintReport {
	t.Helper()
	n := notification(t)
	return dsn.ComplaintReport{From: n.From, To: n.To, Subject: "FW: Grüße", MessageID: "c1@mx.postrider.example",
		Date: n.Date, Text: "A reader marked this message as spam.\n", Headers: n.Headers,
		Feedback: dsn.Feedback{Type: "abuse", UserAgent: "Postrider-Test/1.0",
			OriginalMailFrom: "bounce+x@rp.example.net", OriginalRcptTo: []string{"bob@shop.example"},
			ArrivalDate: n.ArrivalDate, SourceIP: netip.MustParseAddr("192.0.2.1"),
			ReportedDomains: []string{"example.net"}, Incidents: 1}}
}

func TestComposedComplaintsParseBack(t *testing.T) {
	t.Parallel()
	c := complaint(t)
	raw, err := dsn.ComposeComplaint(c)
	if err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, "composed_complaint.txt", strings.ReplaceAll(string(raw), "\r\n", "\n"))
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		if len(line) > 78 || bytes.ContainsFunc(line, func(r rune) bool { return r == '\r' || r == '\n' || r > '~' }) {
			t.Errorf("a complaint has the line %q, want at most 78 bytes of ASCII", line)
		}
	}
	r := parse(t, string(raw))
	if r.Kind != dsn.Complaint || !r.Structured || r.Original.MessageID != "o1@example.net" {
		t.Errorf("the composed complaint parses as %+v, want a complaint about o1@example.net", r)
	}
	r.Feedback.ArrivalDate = r.Feedback.ArrivalDate.UTC()
	if diff := cmp.Diff(&c.Feedback, r.Feedback, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("feedback (-want +got):\n%s", diff)
	}
}

func TestIncompleteComplaintsAreRejected(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(*dsn.ComplaintReport){
		"type":       func(c *dsn.ComplaintReport) { c.Feedback.Type = "" },
		"user agent": func(c *dsn.ComplaintReport) { c.Feedback.UserAgent = "" },
		"header":     func(c *dsn.ComplaintReport) { c.Headers = nil },
		"subject":    func(c *dsn.ComplaintReport) { c.Subject = "a\r\nBcc: x@y.z" },
	} {
		c := complaint(t)
		spoil(&c)
		if raw, err := dsn.ComposeComplaint(c); err == nil {
			t.Errorf("a complaint with a bad %s was written:\n%s", what, raw)
		}
	}
}

// Untrusted text cannot add a line to the report.
func TestComplaintFieldsStayOnTheirLines(t *testing.T) {
	t.Parallel()
	c := complaint(t)
	c.Feedback.OriginalRcptTo = []string{"bob@shop.example>\r\nFeedback-Type: not-spam\r\nX: <"}
	raw, err := dsn.ComposeComplaint(c)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("\r\nFeedback-Type: not-spam")) {
		t.Errorf("a recipient added a field:\n%s", raw)
	}
}
