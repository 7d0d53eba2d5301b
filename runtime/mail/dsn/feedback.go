package dsn

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/message"
)

// Feedback is a report of RFC 5965: a reader, or a filter on a reader's behalf, comments on a message.
type Feedback struct {
	Type             string // lower case: abuse, fraud, virus, other, not-spam, auth-failure, …; empty if not reported
	UserAgent        string
	OriginalMailFrom string
	OriginalRcptTo   []string // without redacted ones
	Redacted         bool     // recipients were redacted
	ArrivalDate      time.Time
	SourceIP         netip.Addr
	ReportedDomains  []string
	ReportedURIs     []string
	EnvelopeID       string
	Incidents        int // incidents that this report represents, at least 1
}

// readFeedback reads message/feedback-report, or its fields in another place.
func (e *reportParser) readFeedback(r *Report) bool {
	var fields []field
	for _, part := range e.parts {
		if declaresType(part.contentType, "feedback-report") ||
			e.reportType != "" && !isMessage(part.contentType) && len(part.data) < maxText &&
				feedbackType.Match(part.data) {
			fields = readFields(decodeText(part.data))
			break
		}
	}
	if fields == nil && e.reportType != "" {
		if at := feedbackType.FindStringIndex(e.text + "\n" + e.returned); at != nil {
			fields = readFields((e.text + "\n" + e.returned)[at[0]:])
		}
	}
	if fields == nil && e.reportType != "feedback-report" {
		return false
	}
	r.Kind, r.Feedback = Complaint, readFeedback(fields)
	r.ReportingMTA, r.EnvelopeID = hostName(firstValue(fields, "reporting-mta")), r.Feedback.EnvelopeID
	return true
}

var feedbackType = regexp.MustCompile(`(?im)^Feedback-Type[ \t]*:`)

func readFeedback(fields []field) *Feedback {
	kind, _, _ := strings.Cut(strings.ToLower(oneLine(firstValue(fields, "feedback-type"))), " ")
	f := Feedback{
		Type:             strings.Trim(kind, ";\""),
		UserAgent:        oneLine(firstValue(fields, "user-agent")),
		OriginalMailFrom: addressOf(firstValue(fields, "original-mail-from")),
		ArrivalDate:      parseDate(firstValue(fields, "arrival-date")),
		ReportedDomains:  allValues(fields, "reported-domain"),
		ReportedURIs:     allValues(fields, "reported-uri"),
		EnvelopeID:       oneLine(firstValue(fields, "original-envelope-id")),
		Incidents:        1,
	}
	if f.ArrivalDate.IsZero() {
		f.ArrivalDate = parseDate(firstValue(fields, "received-date")) // its name before the RFC
	}
	source, _, _ := strings.Cut(strings.Trim(firstValue(fields, "source-ip"), "[]<> "), " ")
	if ip, err := netip.ParseAddr(strings.TrimPrefix(strings.ToLower(source), "ipv6:")); err == nil {
		f.SourceIP = ip.WithZone("")
	}
	if n, err := strconv.Atoi(firstValue(fields, "incidents")); err == nil && n > 0 {
		f.Incidents = n
	}
	for _, name := range []string{"original-rcpt-to", "removal-recipient"} {
		for _, v := range allValues(fields, name) {
			f.addRecipient(v)
		}
	}
	return &f
}

func (f *Feedback) addRecipient(s string) {
	address := addressOf(s)
	switch {
	case blackedOut.MatchString(s) || !strings.Contains(address, "@"):
		f.Redacted = true
	case len(f.OriginalRcptTo) == 0 || !strings.EqualFold(f.OriginalRcptTo[0], address):
		f.OriginalRcptTo = append(f.OriginalRcptTo, address)
	}
}

// RFC 6590 does not define what a redacted address looks like.
var blackedOut = regexp.MustCompile(`(?i)redact|\*{2,}|^<?x+@|\[removed\]|^<?(?:hidden|anonymi[sz]ed|undisclosed)@`)

// microsoftComplaint reads the consumer service's junk mail report, which has no fields: the message is
// returned as a part, with the recipient in its header.
func (e *reportParser) microsoftComplaint(r *Report) bool {
	if !strings.HasPrefix(e.subject, "complaint about message from") || !r.Original.isKnown() {
		return false
	}
	f := Feedback{Type: "abuse", Incidents: 1, UserAgent: "JMRP"}
	if ip, err := netip.ParseAddr(strings.TrimSpace(strings.TrimPrefix(e.subject,
		"complaint about message from"))); err == nil {
		f.SourceIP = ip.WithZone("")
	}
	if v := r.Original.Get("X-HmXmrOriginalRecipient"); v != "" {
		f.addRecipient(v)
	}
	r.Kind, r.Feedback = Complaint, &f
	return true
}

// readReceipt reads a disposition notification (RFC 8098).
func (e *reportParser) readReceipt(r *Report) bool {
	for _, part := range e.parts {
		if !declaresType(part.contentType, "disposition-notification") {
			continue
		}
		fields := readFields(decodeText(part.data))
		one := RecipientReport{Address: addressOf(firstValue(fields, "final-recipient")),
			OriginalAddress: addressOf(firstValue(fields, "original-recipient"))}
		one.Diagnostic = oneLine(firstValue(fields, "disposition"))
		r.Kind, r.Recipients = Receipt, []RecipientReport{one}
		r.Original.MessageID = firstOf(r.Original.MessageID,
			oneLine(strings.Trim(firstValue(fields, "original-message-id"), "<> ")))
		return true
	}
	return false
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// decodeText decodes a part's data where the sender did not.
func decodeText(data []byte) string { return message.UTF8(data) }
