package inbound

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"strings"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/inbound/addressrules"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// SMTPHandler returns the handler of an SMTP listener, which rejects unknown addresses.
func (s *Service) SMTPHandler() smtpserver.Handler { return handler{s.reception} }

type handler struct{ reception *reception }

// NewSession accepts every client.
func (h handler) NewSession(_ context.Context, p smtpserver.Peer) (smtpserver.Session, error) {
	return &session{reception: h.reception, peer: p}, nil
}

// reception receives messages: it looks up recipients, examines the message and stores it.
type reception struct {
	domains  Domains
	accounts Accounts
	storage  Storage // nil: bytes are not counted
	rules    *addressrules.Book
	examiner *examiner
	writer   *writer
	bus      Bus
	budget   *intake.Budget
	log      *slog.Logger
}

// session is one connection. Package smtpserver calls one method at a time.
type session struct {
	reception *reception
	peer      smtpserver.Peer
	from      smtpserver.Path
	to        []addressee
}

// addressee is one recipient of a transaction.
type addressee struct {
	receiver domains.Receiver
	address  string // addr-spec, with the domain in A-labels
}

// maxAccounts is the maximum number of accounts that can store the same message.
const maxAccounts = 10

var (
	replyNoDomain  = smtpserver.Refuse(550, "5.1.2", "No mail is received for this domain")
	replyNoMailbox = smtpserver.Refuse(550, "5.1.1", "No such address here")
	replySuspended = smtpserver.Refuse(450, "4.2.1", "This mailbox does not accept mail at present")
	replyElsewhere = smtpserver.Refuse(452, "4.5.3",
		"Too many different recipients, use another transaction for this one")
	replyFull = smtpserver.Refuse(452, "4.2.2", "This mailbox is full at present")
	replyDisk = smtpserver.Refuse(452, "4.3.1", "Not enough storage at present")
	replyLoop = smtpserver.Refuse(554, "5.4.6", "Mail loop detected: more than 100 Received fields")
)

func (s *session) Mail(_ context.Context, from smtpserver.Path, _ smtpserver.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(ctx context.Context, to smtpserver.Path) error {
	found, err := s.reception.lookUpRecipient(ctx, to)
	if err != nil {
		return err
	}
	accounts := map[string]bool{found.receiver.AccountID: true}
	for _, other := range s.to {
		if other == found { // named twice, stored once
			return nil
		}
		accounts[other.receiver.AccountID] = true
	}
	if len(accounts) > maxAccounts {
		return replyElsewhere
	}
	s.to = append(s.to, found)
	return nil
}

// lookUpRecipient looks up the account and domain of an address. Its errors are SMTP replies.
func (r *reception) lookUpRecipient(ctx context.Context, to smtpserver.Path) (addressee, error) {
	rcpt, receiver, err := r.findReceiver(ctx, to)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return addressee{}, replyNoDomain
	case err != nil:
		return addressee{}, err
	}
	accepts, err := r.rules.HasAddress(ctx, receiver.AccountID, receiver.DomainID, to.Local)
	switch {
	case err != nil:
		return addressee{}, err
	case !accepts:
		return addressee{}, replyNoMailbox
	}
	account, err := r.accounts.Account(ctx, receiver.AccountID)
	if err != nil {
		return addressee{}, err
	}
	if account.Suspended || account.Residence != (accounts.Residence{}) {
		return addressee{}, replySuspended
	}
	return addressee{receiver, rcpt.AddrSpec()}, nil
}

// findReceiver looks up the account and domain of an address. The postmaster of the installation always has
// one, if it has operators. It returns NotFound for an unknown address.
func (r *reception) findReceiver(ctx context.Context, to smtpserver.Path) (address.Address, domains.Receiver, error) {
	var receiver domains.Receiver
	rcpt := address.Address{Local: to.Local, Domain: to.Domain}
	domain, err := address.ParseDomain(to.Domain)
	if err != nil { // an address literal such as [192.0.2.1], or a host name without a domain
		err = fault.NoSuch("receiving domain", to.Domain)
	} else {
		rcpt.Domain = domain
		receiver, err = r.domains.Receiver(ctx, rcpt)
	}
	if fault.KindOf(err) == fault.NotFound && strings.EqualFold(to.Local, "postmaster") &&
		strings.EqualFold(to.Domain, r.examiner.hostname) {
		receiver, err = r.domains.Postmaster(ctx, strings.ToLower(r.examiner.hostname))
	}
	return rcpt, receiver, err
}

func (s *session) Data(ctx context.Context, body io.Reader) error {
	raw, err := s.reception.readMessage(ctx, s.peer.Remote, body)
	if err != nil {
		return err
	}
	defer raw.Close()
	return s.reception.receive(ctx, envelope{remote: s.peer.Remote, hello: s.peer.Hello(), tls: tlsName(s.peer.TLS()),
		from: s.from.String(), to: s.to}, raw)
}

func tlsName(state *tls.ConnectionState) string {
	if state == nil {
		return ""
	}
	return tls.VersionName(state.Version)
}

func (s *session) Reset() { s.from, s.to = smtpserver.Path{}, nil }

func (s *session) End() {}
