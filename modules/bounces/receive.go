package bounces

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/deliveryreport"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/dsn"
	"github.com/postrider/postrider/runtime/work/event"
)

// maxRead is the number of bytes of a report that are examined. The rest is the returned message. It is
// drained, because a report counts only if it was received completely.
const maxRead = 1 << 20

// Receive stores a report to a return path, and its effect, in one transaction. raw begins with the
// Return-Path field, which identifies reports from mail systems. A report about an account that has moved is forwarded
// instead. Errors other than ErrGone are temporary; on any error nothing was stored here.
func (s *Service) Receive(ctx context.Context, mark Mark, remote netip.Addr, raw io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(raw, maxRead))
	if err != nil {
		return fmt.Errorf("read a report: %w", err)
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return fmt.Errorf("read a report: %w", err)
	}
	return s.store(ctx, received{mark, remote, text, 0})
}

// received is the examined part of a report that was received completely.
type received struct {
	mark   Mark
	remote netip.Addr
	text   []byte
	hops   int // installations that have forwarded it
}

// store stores a report, or forwards it if the account has moved.
func (s *Service) store(ctx context.Context, got received) error {
	mark, remote, text := got.mark, got.remote, got.text
	to, known, err := s.mail.Addressee(ctx, mark.EmailID, mark.RecipientID)
	if err != nil {
		return fmt.Errorf("store a report: %w", err)
	}
	if !known {
		return ErrGone
	}
	if gone, err := s.handOver(ctx, to, got); gone || err != nil {
		return err
	}
	parsed, err := dsn.Parse(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read a report: %w", err)
	}
	digest := sha256.Sum256(text)
	var done outcome
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		done, err = s.applyReport(ctx, tx, arrival{mark, remote, parsed, digest[:]})
		return err
	})
	if err != nil {
		return fmt.Errorf("store a report: %w", err)
	}
	if done.effective {
		s.bus.Wake()
	}
	s.logger.InfoContext(ctx, "report received", telemetry.KeyEmailID, mark.EmailID, telemetry.KeyRecipientID,
		mark.RecipientID,
		telemetry.KeyAccountID, done.accountID, telemetry.KeyOutcome, done.kind, telemetry.KeyStatus, done.status,
		telemetry.KeyClass, done.class,
		telemetry.KeyEffective, done.effective, telemetry.KeyRepeated, done.repeated, telemetry.KeyRemote,
		remote.String())
	return nil
}

// arrival is a report that was received completely.
type arrival struct {
	mark   Mark
	remote netip.Addr
	report dsn.Report
	digest []byte
}

// outcome is the result of storing a report.
type outcome struct {
	judgement

	accountID           string
	effective, repeated bool
}

func (s *Service) applyReport(ctx context.Context, tx *ent.Tx, a arrival) (outcome, error) {
	to, known, err := s.mail.LockAddressee(ctx, tx, a.mark.EmailID, a.mark.RecipientID)
	if err != nil {
		return outcome{}, err
	}
	if !known {
		return outcome{}, ErrGone
	}
	o := outcome{judgement: judgeReport(a.report, to.Address), accountID: to.AccountID}
	// The recipient is locked, so no other session stores a report about it concurrently.
	o.repeated, err = tx.DeliveryReport.Query().
		Where(deliveryreport.AccountID(to.AccountID), deliveryreport.RecipientID(a.mark.RecipientID),
			deliveryreport.Digest(a.digest)).Exist(ctx)
	if err != nil || o.repeated {
		return o, err
	}
	// Runs before the report is inserted, because the report refers to the email. Locks are acquired in the
	// same order as elsewhere: recipient, then email.
	if o.effective, err = s.applyEffect(ctx, tx, a.mark, to, o.judgement); err != nil {
		return o, err
	}
	return o, tx.DeliveryReport.Create().SetAccountID(to.AccountID).SetEmailID(a.mark.EmailID).
		SetRecipientID(a.mark.RecipientID).
		SetKind(o.kind).SetEffective(o.effective).SetDigest(a.digest).SetStatus(o.status).
		SetDiagnostic(forRecord(o.diagnostic)).
		SetClass(o.class).SetReporter(forRecord(o.reporter)).SetRemoteAddr(a.remote.String()).Exec(ctx)
}

// applyEffect applies the state changes that the report justifies.
func (s *Service) applyEffect(ctx context.Context, tx *ent.Tx, mark Mark, to records.Addressee,
	j judgement) (bool, error) {
	switch {
	case j.bounce != nil:
		b := *j.bounce
		b.EmailID, b.RecipientID = mark.EmailID, mark.RecipientID
		return s.mail.BounceLate(ctx, tx, b)
	case j.complaint != nil:
		told, err := tx.DeliveryReport.Query().
			Where(deliveryreport.AccountID(to.AccountID), deliveryreport.RecipientID(mark.RecipientID),
				deliveryreport.KindEQ(deliveryreport.KindComplaint), deliveryreport.Class(j.class),
				deliveryreport.Effective(true)).Exist(ctx)
		if err != nil || told {
			return false, err
		}
		known, err := s.mail.Announce(ctx, tx, records.Notice{AccountID: to.AccountID, EmailID: mark.EmailID,
			Type: event.EmailComplained,
			Fill: func(data *event.Email) { data.Recipient, data.Complaint = to.Address, j.complaint }})
		return known > 0, err
	}
	return false, nil
}

// IsRefusal reports whether an error is permanent, so that retrying cannot help.
func IsRefusal(err error) bool {
	return errors.Is(err, ErrNotOurs) || errors.Is(err, ErrForged) || errors.Is(err, ErrExpired) ||
		errors.Is(err, ErrGone)
}
