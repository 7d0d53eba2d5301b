package bounces

import (
	"regexp"
	"strings"

	"github.com/postrider/postrider/ent/deliveryreport"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/mail/dsn"
	"github.com/postrider/postrider/runtime/work/event"
)

// judgement is what a report means for its recipient.
type judgement struct {
	kind      deliveryreport.Kind
	bounce    *records.LateBounce // of a bounce
	complaint *event.Complaint    // of a complaint that is told
	// For the record:
	status, diagnostic, class, reporter string
}

// judgeReport is pure: what a report says about the recipient with this address.
func judgeReport(r dsn.Report, address string) judgement {
	switch r.Kind {
	case dsn.Failed, dsn.Delayed, dsn.Delivered:
		return judgeDelivery(r, address)
	case dsn.Complaint:
		return judgeComplaint(r)
	case dsn.AutoReply, dsn.Challenge, dsn.Receipt:
		return judgement{kind: deliveryreport.KindAutomatic, class: string(r.Kind), reporter: r.ReportingMTA}
	case dsn.Ordinary:
	}
	return judgement{kind: deliveryreport.KindUnreadable, reporter: r.ReportingMTA}
}

func judgeDelivery(r dsn.Report, address string) judgement {
	line := lineFor(r.Recipients, address)
	j := judgement{kind: deliveryreport.KindDelivered, status: line.Status, diagnostic: line.Diagnostic, reporter: r.ReportingMTA}
	switch line.Action {
	case dsn.ActionDelayed:
		j.kind = deliveryreport.KindDelay
	case dsn.ActionFailed:
		j.kind = deliveryreport.KindBounce
		class := bounce.Classify(bounce.Reply{Code: line.Code, Enhanced: line.Status, Text: line.Diagnostic})
		j.class = string(class)
		j.bounce = &records.LateBounce{Class: class, Permanent: isPermanent(line, class), Code: line.Code, EnhancedCode: line.Status, Diagnostic: line.Diagnostic,
			RemoteMTA: firstOf(line.RemoteMTA, r.ReportingMTA)}
	case dsn.ActionDelivered, dsn.ActionRelayed, dsn.ActionExpanded:
	}
	return j
}

// lineFor picks what is said of the address. A forwarding host knows another one, so
// without a match the worst line counts.
func lineFor(lines []dsn.RecipientReport, address string) dsn.RecipientReport {
	var worst dsn.RecipientReport
	rank := map[dsn.Action]int{dsn.ActionDelivered: 1, dsn.ActionRelayed: 1, dsn.ActionExpanded: 1, dsn.ActionDelayed: 2, dsn.ActionFailed: 3}
	for _, l := range lines {
		if strings.EqualFold(l.Address, address) || strings.EqualFold(l.OriginalAddress, address) {
			return l
		}
		if rank[l.Action] > rank[worst.Action] {
			worst = l
		}
	}
	return worst
}

// isPermanent goes by the status (RFC 3463), then by the reply's first digit. A server
// that gave up after trying long enough says 4.
func isPermanent(line dsn.RecipientReport, class bounce.Class) bool {
	switch {
	case strings.HasPrefix(line.Status, "5."):
		return true
	case strings.HasPrefix(line.Status, "4."):
		return false
	case line.Code != 0:
		return line.Code/100 == 5
	}
	return !class.Soft()
}

// judgeComplaint tells people's reports from those of machines about authentication
// (RFC 6591), which are no reason to write to nobody any more.
func judgeComplaint(r dsn.Report) judgement {
	kind := r.Feedback.Type
	j := judgement{kind: deliveryreport.KindComplaint, class: kind, reporter: firstOf(r.Feedback.UserAgent, r.ReportingMTA)}
	switch kind {
	case "auth-failure", "dmarc", "dkim":
		return j
	case "abuse", "fraud", "virus", "not-spam":
	case "":
		kind = "abuse" // what the others all are
	default: // RFC 5965, 3.1: of a kind that is not known
		kind = "other"
	}
	j.class, j.complaint = kind, &event.Complaint{Type: kind, Reporter: j.reporter}
	return j
}

// mailAddress is generous: what only looks like one is missed by nobody.
var mailAddress = regexp.MustCompile(`[^\s<>()\[\]"',;:]*@[^\s<>()\[\]"',;:]+`)

// forRecord takes what could name a person out of a line that outlives an erasure.
func forRecord(s string) string {
	const most = 1000
	s = mailAddress.ReplaceAllString(s, "(address)")
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
