package dsn

import (
	"errors"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
)

// ComplaintReport is the input of ComposeComplaint.
type ComplaintReport struct {
	From      address.Address // sender of the report
	To        address.Address // the address of the feedback loop
	Subject   string
	MessageID string // without angle brackets
	Date      time.Time
	Text      string // for people
	Feedback  Feedback
	Headers   []byte // the header of the original message, unchanged
}

// ComposeComplaint writes a feedback report of RFC 5965, with the header of the message that a reader
// complains about and without its body. It fails for a report without a type, a user agent or the header,
// which the RFC requires, and for values that are invalid in a header.
func ComposeComplaint(c ComplaintReport) ([]byte, error) {
	if c.Feedback.Type == "" || c.Feedback.UserAgent == "" || len(c.Headers) == 0 {
		return nil, errors.New("a feedback report requires a type, a user agent and the header of the message")
	}
	return multipartReport("feedback-report", mime.Message{From: c.From, To: []address.Address{c.To},
		Subject: c.Subject, MessageID: c.MessageID, Date: c.Date, Text: c.Text},
		reportPart{"message/feedback-report", "7bit", c.Feedback.feedbackFields()}, returnedHeaders(c.Headers))
}

// feedbackFields returns the machine-readable part (RFC 5965, 3).
func (f *Feedback) feedbackFields() string {
	var b strings.Builder
	put := func(name, value string) {
		if value = oneLine(toASCII(value)); value != "" {
			b.WriteString(foldText(name + ": " + value))
		}
	}
	put("Feedback-Type", f.Type)
	put("User-Agent", f.UserAgent)
	put("Version", "1")
	if f.OriginalMailFrom != "" {
		put("Original-Mail-From", "<"+f.OriginalMailFrom+">")
	}
	for _, to := range f.OriginalRcptTo {
		put("Original-Rcpt-To", "<"+to+">")
	}
	if !f.ArrivalDate.IsZero() {
		put("Arrival-Date", f.ArrivalDate.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	}
	if f.SourceIP.IsValid() {
		put("Source-IP", f.SourceIP.String())
	}
	for _, domain := range f.ReportedDomains {
		put("Reported-Domain", domain)
	}
	return b.String()
}
