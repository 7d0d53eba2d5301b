package bounces

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/deliveryreport"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

func line(address string, action dsn.Action, status string, code int, text string) dsn.RecipientReport {
	return dsn.RecipientReport{Address: address, Action: action, Status: status, Code: code, Diagnostic: text}
}

func TestJudgesDeliveryReports(t *testing.T) {
	t.Parallel()
	const bob = "bob@example.net"
	for what, c := range map[string]struct {
		kind      dsn.MessageKind
		lines     []dsn.RecipientReport
		want      deliveryreport.Kind
		permanent bool // whether a bounce is permanent
		class     string
	}{
		"5.1.1": {dsn.Failed,
			[]dsn.RecipientReport{line(bob, dsn.ActionFailed, "5.1.1", 550, "unknown")}, deliveryreport.KindBounce,
			true, "bad_address"},
		"gave up": {dsn.Failed, []dsn.RecipientReport{line(bob, dsn.ActionFailed, "4.4.7", 0, "expired")},
			deliveryreport.KindBounce, false, "system"},
		"4 says more than 550": {dsn.Failed, []dsn.RecipientReport{line(bob, dsn.ActionFailed, "4.2.2", 550, "full")},
			deliveryreport.KindBounce, false, "mailbox_full"},
		"no status, 450": {dsn.Failed, []dsn.RecipientReport{line(bob, dsn.ActionFailed, "", 450, "busy")}, deliveryreport.KindBounce, false, ""},
		"no codes, full": {dsn.Failed,
			[]dsn.RecipientReport{line(bob, dsn.ActionFailed, "", 0, "mailbox is full")}, deliveryreport.KindBounce,
			false, "mailbox_full"},
		"no codes at all": {dsn.Failed, []dsn.RecipientReport{line("", dsn.ActionFailed, "", 0, "")}, deliveryreport.KindBounce, false, "system"},
		"delayed":         {dsn.Delayed, []dsn.RecipientReport{line(bob, dsn.ActionDelayed, "4.4.1", 0, "")}, deliveryreport.KindDelay, false, ""},
		"relayed":         {dsn.Delivered, []dsn.RecipientReport{line(bob, dsn.ActionRelayed, "2.0.0", 0, "")}, deliveryreport.KindDelivered, false, ""},
		"forwarded to another address": {dsn.Failed,
			[]dsn.RecipientReport{line("robert@elsewhere.example", dsn.ActionFailed, "5.1.1", 550, "")},
			deliveryreport.KindBounce, true, "bad_address"},
		// The address of a list member failed; the line about the list itself counts.
		"our address among several": {dsn.Failed,
			[]dsn.RecipientReport{line("x@example.net", dsn.ActionFailed, "5.1.1", 550, ""),
				line("BOB@example.net", dsn.ActionExpanded, "2.0.0", 0, "")}, deliveryreport.KindDelivered, false, ""},
		"worst of several other addresses": {dsn.Failed,
			[]dsn.RecipientReport{line("x@a.example", dsn.ActionDelivered, "2.0.0", 0, ""),
				line("y@a.example", dsn.ActionFailed, "5.1.1", 550, "")}, deliveryreport.KindBounce, true,
			"bad_address"},
	} {
		j := judgeReport(dsn.Report{Kind: c.kind, Recipients: c.lines, ReportingMTA: "mx.example.net"}, bob)
		if j.kind != c.want || (j.bounce != nil) != (c.want == deliveryreport.KindBounce) || c.class != "" &&
			j.class != c.class {
			t.Errorf("%s: the judgement is %+v, want %s of the class %q", what, j, c.want, c.class)
			continue
		}
		if j.bounce != nil && (j.bounce.Permanent != c.permanent || j.bounce.RemoteMTA != "mx.example.net") {
			t.Errorf("%s: the bounce is %+v, want permanent %t, reported by mx.example.net", what, j.bounce,
				c.permanent)
		}
	}
}

func TestJudgesOtherReports(t *testing.T) {
	t.Parallel()
	for kind, want := range map[dsn.MessageKind]deliveryreport.Kind{dsn.AutoReply: deliveryreport.KindAutomatic,
		dsn.Challenge: deliveryreport.KindAutomatic,
		dsn.Receipt:   deliveryreport.KindAutomatic, dsn.Ordinary: deliveryreport.KindUnreadable} {
		if j := judgeReport(dsn.Report{Kind: kind}, "bob@example.net"); j.kind != want || j.bounce != nil ||
			j.complaint != nil {
			t.Errorf("the judgement of a report of kind %s is %+v, want %s without bounce or complaint", kind, j, want)
		}
	}
	for given, want := range map[string]string{"abuse": "abuse", "": "abuse", "not-spam": "not-spam", "virus": "virus",
		"opt-out": "other", "auth-failure": ""} {
		j := judgeReport(dsn.Report{Kind: dsn.Complaint, Feedback: &dsn.Feedback{Type: given, UserAgent: "X/1"}},
			"bob@example.net")
		if j.kind != deliveryreport.KindComplaint || j.bounce != nil || (j.complaint != nil) != (want != "") {
			t.Errorf("the judgement of feedback of type %q is %+v, want a complaint of type %q (none for an empty "+
				"type)",
				given, j, want)
		} else if want != "" && (j.complaint.Type != want || j.complaint.Reporter != "X/1") {
			t.Errorf("feedback of type %q became the complaint %+v, want the type %q from X/1", given,
				j.complaint, want)
		}
	}
}

func TestRecordContainsNoAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"550 <bob@example.net>: unknown", "bob@example.net", `"b o"@example.net said no`,
		"rfc822;bob@example.net", "BOB@EXAMPLE.NET.", "bób@exämple.net", "x" + strings.Repeat("é", 800) +
			"bob@example.net"} {
		if got := forRecord(text); strings.Contains(got, "@") || len(got) > 1000 {
			t.Errorf("the line %q is recorded as %q", text, got)
		}
	}
}
