package deliverability

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/dmarcreport"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/reportfile"
	"github.com/postrider/postrider/runtime/mail/tlsreport"
)

// The reasons for a refusal, in addition to those of package reportfile.
const (
	reasonUnauthenticated reportfile.Reason = "unauthenticated" // the message does not pass DMARC
	reasonNoReport        reportfile.Reason = "no_report"       // no attachment looks like a report
	reasonOtherDomain     reportfile.Reason = "other_domain"    // about a domain other than that of the address
	reasonPeriod          reportfile.Reason = "period"          // in the future, or too old
	reasonLimit           reportfile.Reason = "limit"           // the domain has too many reports or rows
)

// subject is the domain that a report address belongs to.
type subject struct{ domainID, name string }

// arrival is a message to a report address.
type arrival struct {
	to          subject
	remote      netip.Addr
	hello, from string
	raw         *intake.Content
	truncated   bool
}

// authenticateWithin limits the authentication of one message.
const authenticateWithin = 20 * time.Second

// receive authenticates, parses and stores a report. Its errors are SMTP replies or temporary errors.
func (s *Service) receive(ctx context.Context, a arrival) error {
	stored, err := s.examine(ctx, a)
	var refused *reportfile.RefusalError
	switch {
	case errors.As(err, &refused):
		if err := s.countRefusal(ctx, a.to.domainID, refused.Reason); err != nil {
			return err
		}
		s.results.WithLabelValues(string(refused.Reason)).Inc()
		s.log.InfoContext(loglimit.Collapse(ctx, "report refused"), "report refused",
			telemetry.KeyDomainID, a.to.domainID, telemetry.KeyRemote, a.remote.String(), "reason", refused.Reason)
		return replyRefused
	case err != nil:
		return err
	}
	result := "stored"
	if !stored {
		result = "duplicate"
	}
	s.results.WithLabelValues(result).Inc()
	return nil
}

// examine returns a *reportfile.RefusalError for a message that does not count, and reports whether it was new.
func (s *Service) examine(ctx context.Context, a arrival) (stored bool, err error) {
	if a.truncated {
		return false, &reportfile.RefusalError{Reason: reportfile.TooLarge}
	}
	if err := s.authors.authenticate(ctx, a); err != nil {
		return false, err
	}
	release, err := s.budget.AcquireWork(ctx, intake.Tenant{Remote: a.remote}, memoryToParse, receivePatience)
	if errors.Is(err, intake.ErrFull) {
		return false, replyNoRoom
	}
	if err != nil {
		return false, err
	}
	defer release()
	receiver, r, err := readReport(a)
	if err != nil {
		return false, err
	}
	if reason := judge(r.head(), a.to.name, clock.Now()); reason != "" {
		return false, &reportfile.RefusalError{Reason: reason}
	}
	return s.store(ctx, a.to.domainID, receiver, r)
}

// authenticator authenticates the authors of messages.
type authenticator struct {
	verifier Verifier
	hostname string // name of this installation
}

// authenticate requires that the message passes DMARC, so that the domain of its author is genuine.
func (x authenticator) authenticate(ctx context.Context, a arrival) error {
	within, cancel := context.WithTimeout(ctx, authenticateWithin)
	defer cancel()
	result := x.verifier.Verify(within, authn.Client{IP: a.remote, Hello: a.hello, MailFrom: a.from,
		Hostname: x.hostname}, a.raw, a.raw.Size())
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // the client disconnected and will retry
	case result.DMARC == "temperror":
		return replyNoDNS
	case result.DMARC != "pass":
		return &reportfile.RefusalError{Reason: reasonUnauthenticated}
	}
	return nil
}

// readReport returns the domain of the author and the first report in the attachments, or in the body.
func readReport(a arrival) (receiver string, r report, err error) {
	whole, err := message.ReadFull(a.raw.Reader(), message.Bounds{Text: smallMessage, Contents: maxMessage})
	if err != nil {
		return "", nil, fmt.Errorf("read a report: %w", err)
	}
	if len(whole.Authors) != 1 {
		return "", nil, &reportfile.RefusalError{Reason: reasonUnauthenticated}
	}
	author := whole.Authors[0].Address
	receiver, err = address.ParseDomain(author[strings.LastIndexByte(author, '@')+1:])
	if err != nil {
		return "", nil, &reportfile.RefusalError{Reason: reasonUnauthenticated, Cause: err}
	}
	for i, content := range whole.Contents {
		if whole.Files[i].Size > reportfile.MaxFile {
			return "", nil, &reportfile.RefusalError{Reason: reportfile.TooLarge}
		}
		isTLS := strings.HasPrefix(whole.Files[i].ContentType, "application/tlsrpt+") // RFC 8460 section 6.4 and 6.5
		if isTLS || reportfile.IsReportFile(content) {
			r, err = parseReport(content, isTLS)
			return receiver, r, err
		}
	}
	return "", nil, &reportfile.RefusalError{Reason: reasonNoReport}
}

// memoryToParse is an upper limit of the bytes that parsing a report of either kind takes.
const memoryToParse = max(dmarcreport.MemoryToParse, tlsreport.MemoryToParse)

// parseReport parses a TLS report if it is declared as one, or if it is JSON, and a DMARC report otherwise.
func parseReport(file []byte, isTLS bool) (report, error) {
	text, err := reportfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	if isTLS || text.IsJSON() {
		r, err := tlsreport.ParseText(text)
		return tlsReport{r}, err
	}
	r, err := dmarcreport.ParseText(text)
	return dmarcReport{r}, err
}

const (
	maxAge  = 60 * 24 * time.Hour // of the period's start
	maxSkew = 36 * time.Hour      // of the period's end, for receivers with another idea of a day
)

// judge returns the reason to refuse a valid report, or an empty one.
func judge(h reportHead, name string, now time.Time) reportfile.Reason {
	for _, reported := range h.domains {
		if about, err := address.ParseDomain(reported); err != nil || about != name {
			return reasonOtherDomain
		}
	}
	if h.end.After(now.Add(maxSkew)) || h.begin.Before(now.Add(-maxAge)) {
		return reasonPeriod
	}
	return ""
}
