package devinbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dsn"
)

// report is a report by a simulated receiver about an email that it accepted.
type report struct {
	part      scenario // scenarioSoftBounce or scenarioComplain
	mailFrom  string   // return path of the email, the recipient of the report
	recipient string
	header    []byte // header of the mail
	arrived   time.Time
	due       time.Time
	tries     int
}

const (
	maxReturned = 32 << 10 // bytes of the email's header that a report quotes
	userAgent   = "Postrider-Test-Mode/1.0"
)

// headerOf returns the header at the beginning of an email.
func headerOf(head []byte) []byte {
	if bytes.HasPrefix(head, []byte("\r\n")) {
		head = nil
	}
	header, _, _ := bytes.Cut(head, []byte("\r\n\r\n"))
	if len(header) > maxReturned {
		header = header[:max(0, bytes.LastIndex(header[:maxReturned], []byte("\r\n")))]
	}
	return append(bytes.Clone(header), "\r\n"...)
}

// compose composes the message. It fails if an address cannot be written in a header.
func (r report) compose(now time.Time) (raw []byte, err error) {
	to, err := address.Parse(r.mailFrom)
	if err != nil {
		return nil, fmt.Errorf("return path %w", err)
	}
	domain := r.domain()
	messageID := strings.ToLower(rand.Text()) + "@" + domain
	if r.part == scenarioComplain {
		return dsn.ComposeComplaint(dsn.ComplaintReport{From: address.Address{Name: "Feedback Loop", Local: "feedback",
			Domain: domain}, To: to,
			Subject: "A reader complains", MessageID: messageID, Date: now, Headers: r.header,
			Text: "A reader marked a message as spam. Postrider simulates this for " + r.recipient + ".\n",
			Feedback: dsn.Feedback{Type: "abuse", UserAgent: userAgent, OriginalMailFrom: r.mailFrom,
				OriginalRcptTo: []string{r.recipient}, ArrivalDate: r.arrived}})
	}
	return dsn.Compose(dsn.Notification{From: address.Address{Name: "Mail Delivery System", Local: "mailer-daemon",
		Domain: domain}, To: to, Subject: "Undelivered Mail Returned to Sender", MessageID: messageID, Date: now,
		Text:         "The mailbox of " + r.recipient + " was full for too long. Postrider simulates this.\n",
		ReportingMTA: "mx." + domain, ArrivalDate: r.arrived, Headers: r.header,
		Recipients: []dsn.RecipientReport{{Address: r.recipient, Action: dsn.ActionFailed, Status: "4.2.2",
			RemoteMTA:  "store." + domain,
			Diagnostic: "452 4.2.2 <" + r.recipient + ">: the mailbox is over quota (simulated)"}}})
}

func (r report) domain() string { return r.recipient[strings.LastIndexByte(r.recipient, '@')+1:] }

const reportTimeout = 30 * time.Second

// submit submits a report to the server that accepts mail to return paths, like any other mail system would.
func (r report) submit(ctx context.Context, server string) error {
	if server == "" {
		return permanentError{errors.New("no server accepts mail to return paths: the module bounces is disabled")}
	}
	raw, err := r.compose(time.Now())
	if err != nil {
		return permanentError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // a stop does not wait for a reply
	defer stop()
	client := smtp.NewClient(conn)
	client.CommandTimeout, client.SubmissionTimeout = reportTimeout, reportTimeout
	err = r.sendReport(client, raw)
	if refusal, is := errors.AsType[*smtp.SMTPError](err); is && !refusal.Temporary() {
		err = permanentError{err}
	}
	return err
}

// sendReport sends a report in one SMTP transaction: a bounce with the null sender (RFC 5321, 4.5.5), or a
// complaint from the feedback loop.
func (r report) sendReport(client *smtp.Client, raw []byte) error {
	if err := client.Hello("mx." + r.domain()); err != nil {
		return err
	}
	from := ""
	if r.part == scenarioComplain {
		from = "feedback@" + r.domain()
	}
	if err := client.SendMail(from, []string{r.mailFrom}, bytes.NewReader(raw)); err != nil {
		return err
	}
	if err := client.Quit(); err != nil {
		return nil //nolint:nilerr // the report was accepted: a retry would send it twice
	}
	return nil
}

// permanentError marks the failure of a report that must not be retried.
type permanentError struct{ error }

func (r permanentError) Unwrap() error { return r.error }
