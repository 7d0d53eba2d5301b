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

// judgement is the meaning of a report for its recipient.
type judgement struct {
	kind      deliveryreport.Kind
	bounce    *records.LateBounce // set for a bounce
	complaint *event.Complaint    // set for a complaint that must be published
	// Stored with the report:
	status, diagnostic, class, reporter string
}

// judgeReport returns the meaning of a report for the recipient with this address. It is a pure function.
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
	line, named := lineFor(r.Recipients, address)
	if r.Inferred && !named {
		return judgement{kind: deliveryreport.KindUnreadable, reporter: r.ReportingMTA}
	}
	j := judgement{kind: deliveryreport.KindDelivered, status: line.Status, diagnostic: line.Diagnostic,
		reporter: r.ReportingMTA}
	switch line.Action {
	case dsn.ActionDelayed:
		j.kind = deliveryreport.KindDelay
	case dsn.ActionFailed:
		j.kind = deliveryreport.KindBounce
		verdict := bounce.Judge(line.Rejection())
		j.class = string(verdict.Class)
		j.bounce = &records.LateBounce{Verdict: verdict, Permanent: isPermanent(line, verdict.Class), Code: line.Code,
			EnhancedCode: line.Status, Diagnostic: line.Diagnostic,
			RemoteMTA: firstOf(line.RemoteMTA, r.ReportingMTA)}
	case dsn.ActionDelivered, dsn.ActionRelayed, dsn.ActionExpanded:
	}
	return j
}

// lineFor returns the line about the address, and whether the report contains that address. After forwarding,
// the report contains another address, so without a match the worst line counts.
func lineFor(lines []dsn.RecipientReport, address string) (line dsn.RecipientReport, named bool) {
	var worst dsn.RecipientReport
	rank := map[dsn.Action]int{dsn.ActionDelivered: 1, dsn.ActionRelayed: 1, dsn.ActionExpanded: 1,
		dsn.ActionDelayed: 2, dsn.ActionFailed: 3}
	for _, l := range lines {
		if strings.EqualFold(l.Address, address) || strings.EqualFold(l.OriginalAddress, address) {
			return l, true
		}
		if rank[l.Action] > rank[worst.Action] {
			worst = l
		}
	}
	return worst, false
}

// isPermanent reports whether a failure is permanent, according to the status (RFC 3463), otherwise to the
// reply's first digit. A server that gave up after retrying for long enough reports a 4xx status.
func isPermanent(line dsn.RecipientReport, class bounce.Class) bool {
	switch {
	case strings.HasPrefix(line.Status, "5."):
		return true
	case strings.HasPrefix(line.Status, "4."):
		return false
	case line.Code != 0:
		return line.Code/100 == 5
	}
	return !class.IsSoft()
}

// judgeComplaint distinguishes complaints by people from automated authentication failure reports (RFC 6591),
// which are no reason to suppress the recipient.
func judgeComplaint(r dsn.Report) judgement {
	kind := r.Feedback.Type
	j := judgement{kind: deliveryreport.KindComplaint, class: kind,
		reporter: firstOf(r.Feedback.UserAgent, r.ReportingMTA)}
	switch kind {
	case "auth-failure", "dmarc", "dkim":
		return j
	case "abuse", "fraud", "virus", "not-spam":
	case "":
		kind = "abuse" // like all other types
	default: // RFC 5965, 3.1: unknown type
		kind = "other"
	}
	j.class, j.complaint = kind, &event.Complaint{Type: kind, Reporter: j.reporter}
	return j
}

// mailAddress matches generously: removing text that only resembles an address does no harm.
var mailAddress = regexp.MustCompile(`[^\s<>()\[\]"',;:]*@[^\s<>()\[\]"',;:]+`)

// forRecord removes text that could identify a person from a line, because the line is kept after an erasure.
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
