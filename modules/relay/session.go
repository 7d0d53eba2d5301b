package relay

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
	"github.com/postrider/postrider/runtime/mail/verbatim"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// MaxMessage is the maximum size of a message, in bytes.
const MaxMessage = 40 << 20

// ListenerHandler returns a handler for a listener that only accepts submissions.
func (s *Service) ListenerHandler() smtpserver.Handler { return handler{s} }

type handler struct{ service *Service }

func (h handler) NewSession(_ context.Context, p smtpserver.Peer) (smtpserver.Session, error) {
	return &session{service: h.service, peer: p}, nil
}

var (
	_ smtpserver.Session       = (*session)(nil)
	_ smtpserver.Authenticator = (*session)(nil)
)

// session is one connection. Its methods are not called concurrently (runtime/mail/smtpserver).
type session struct {
	service *Service
	peer    smtpserver.Peer

	signedIn bool
	password signedInWith

	credential credential // as of the last MAIL command
	from       string
	to         []address.Address
}

func (s *session) Mail(ctx context.Context, from smtpserver.Path, _ smtpserver.MailOptions) error {
	switch {
	case !s.signedIn && s.peer.TLS() == nil:
		return replyStartTLS
	case !s.signedIn:
		return replyUnauthenticated
	}
	ctx, cancel := context.WithTimeout(ctx, fault.AnswerWithin)
	defer cancel()
	found, err := s.service.credentials.recheckCredential(ctx, s.password)
	if err != nil {
		return replyTo(err)
	}
	if err := found.caller.Residence.Check(rights.Send); err != nil {
		return replyTo(err)
	}
	account, err := s.service.accounts.Account(ctx, found.caller.AccountID)
	if err != nil {
		return replyTo(err)
	}
	if err := s.service.rate.Admit(ctx, account, http.Header{}); err != nil {
		return replyTo(err)
	}
	if from.IsNull() {
		return replyNullSender
	}
	sender, err := parsePath(from)
	if err != nil {
		return err
	}
	if err := s.service.sender.MaySend(ctx, found.caller, sender); err != nil {
		return replyTo(err)
	}
	s.credential, s.from = found, sender.AddrSpec()
	return nil
}

// parsePath checks an envelope address against the grammar that all APIs use. It also rejects source routes
// in the local part, which would ask the receiver to relay the mail.
func parsePath(p smtpserver.Path) (address.Address, error) {
	if hasRoute(p.Local) {
		return address.Address{}, replyRouting
	}
	a, err := address.Parse(p.String())
	if err != nil {
		return address.Address{}, smtpserver.Refuse(550, "5.1.3", "The address "+err.Error())
	}
	return a, nil
}

func hasRoute(local string) bool { return strings.ContainsAny(local, "@%!") }

func (s *session) Rcpt(_ context.Context, to smtpserver.Path) error {
	a, err := parsePath(to)
	if err != nil {
		return err
	}
	if len(s.to) >= sending.MaxRecipients {
		return replyRecipients
	}
	s.to = append(s.to, a)
	return nil
}

func (s *session) Data(ctx context.Context, body io.Reader) error {
	begin := time.Now()
	content, err := s.service.readMessage(ctx, s.credential.caller.AccountID, body)
	if err != nil {
		return err
	}
	defer content.Close()
	receipt, err := s.submitMessage(ctx, content)
	if err != nil {
		return err
	}
	s.service.credentials.markUsed(s.credential)
	s.service.log.LogAttrs(ctx, slog.LevelInfo, "message relayed",
		slog.String(telemetry.KeyAccountID, s.credential.caller.AccountID),
		slog.String("credential_id", s.credential.id), slog.String(telemetry.KeyEmailID, receipt.ID),
		slog.String("status", receipt.Status),
		slog.String("remote", s.peer.Remote.String()), slog.Int64("size", content.Size()),
		slog.Int("recipients", len(s.to)), slog.Duration("duration", time.Since(begin)))
	if len(receipt.Suppressed) > 0 {
		return suppressedReply(receipt)
	}
	return smtpserver.Accept("OK " + receipt.ID)
}

// submitMessage checks a complete message and passes it to sending. Its error is the SMTP reply.
func (s *session) submitMessage(ctx context.Context, content *intake.Content) (receipt sending.Receipt, err error) {
	err = intake.RecoverDiskFault(func() error {
		raw, err := content.Bytes()
		if err != nil {
			return err
		}
		size := content.Size()
		if verbatim.HasLongLine(raw) {
			size += size / 2 // encoding its parts makes it larger
		}
		release, err := s.service.reserveMemory(ctx, s.credential.caller.AccountID, size)
		if err != nil {
			return err
		}
		defer release()
		sub, err := newSubmission(raw, s.to)
		if err != nil {
			return err
		}
		receipt, err = s.sendMessage(ctx, sub, raw)
		return replyTo(err)
	})
	return receipt, refusalFor(err)
}

// operation is the scope of the relay's idempotency keys: a key that was used with another API is a conflict.
const operation = "SMTP"

// kept is the response stored under an idempotency key.
type kept struct {
	ID         string   `json:"id"`
	Status     string   `json:"status"`
	Suppressed []string `json:"suppressed,omitempty"`
}

func (s *session) sendMessage(ctx context.Context, sub submission, raw []byte) (sending.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, fault.AnswerWithin)
	defer cancel()
	r := sending.Request{Message: sub.message}
	if sub.key != "" {
		claim, earlier, err := s.service.answers.Begin(ctx, s.credential.caller.AccountID, operation, sub.key,
			s.fingerprint(raw))
		if err != nil {
			return sending.Receipt{}, err
		}
		if earlier != nil {
			return replayReceipt(earlier)
		}
		r.Claim, r.Render = claim, render
	}
	receipt, err := s.service.sender.Send(ctx, s.credential.caller, r)
	if err == nil && receipt.Replay != nil {
		return replayReceipt(receipt.Replay)
	}
	return receipt, err
}

// fingerprint distinguishes submissions that use the same key.
func (s *session) fingerprint(raw []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", s.from) // writing to a hash never fails
	for _, to := range s.to {
		fmt.Fprintf(h, "%s\n", to.AddrSpec())
	}
	h.Write([]byte{'\n'})
	h.Write(raw)
	return h.Sum(nil)
}

func render(r sending.Receipt) idempotency.Response {
	body, err := json.Marshal(kept{r.ID, r.Status, r.Suppressed})
	if err != nil {
		panic("relay: strings cannot be encoded: " + err.Error())
	}
	return idempotency.Response{Status: http.StatusOK, Body: body}
}

func replayReceipt(a *idempotency.Response) (sending.Receipt, error) {
	var earlier kept
	if err := json.Unmarshal(a.Body, &earlier); err != nil {
		return sending.Receipt{}, fmt.Errorf("read the stored response of an earlier submission: %w", err)
	}
	return sending.Receipt{ID: earlier.ID, Status: earlier.Status, Suppressed: earlier.Suppressed}, nil
}

func (s *session) Reset() {
	s.credential, s.from, s.to = credential{}, "", nil
}

func (s *session) End() {}
