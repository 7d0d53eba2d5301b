package compose

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// rawPatience is how long a reader of a message waits for memory.
	rawPatience = 5 * time.Second
	smallRaw    = 256 << 10 // maximum size in bytes of a message that is built in memory

	purgedSQL = `SELECT body_purged_at IS NOT NULL FROM emails WHERE id = $1 AND account_id = $2`
)

// Raw is RawContent in memory. It also returns TooLarge above records.MaxBodies.
func (c *Composer) Raw(ctx context.Context, accountID, emailID string) (raw []byte, err error) {
	content, err := c.RawContent(ctx, accountID, emailID)
	if err != nil || content == nil {
		return nil, err
	}
	defer content.Close()
	if content.Size() > records.MaxBodies {
		return nil, records.TooManyBodies()
	}
	err = intake.RecoverDiskFault(func() error {
		lies, err := content.Bytes()
		raw = slices.Clone(lies)
		return err
	})
	return raw, err
}

// RawContent composes an email again as its recipients received it, without the signature and the fields that
// other servers added. If its domain can no longer send, the result has no tracking. The content is nil if the
// body was deleted; otherwise the caller closes it. It returns NotFound, or Unavailable while too many messages
// are being read.
func (c *Composer) RawContent(ctx context.Context, accountID, emailID string) (*intake.Content, error) {
	missing := fault.NoSuch("email", emailID)
	emails, err := Load(ctx, c.db.Prepared, []string{emailID})
	if err != nil {
		return nil, fmt.Errorf("load email %s: %w", emailID, err)
	}
	o := emails[emailID]
	if o == nil || o.accountID != accountID {
		return nil, missing
	}
	raw, err := c.composeAgain(ctx, o)
	// Check for purging last: an email that is purged in the meantime would look like one without text.
	purged, lookErr := db.One(ctx, c.db.SQL, db.Value[bool], purgedSQL, emailID, accountID)
	if err == nil && (lookErr != nil || purged) {
		raw.Close()
	}
	switch {
	case errors.Is(lookErr, sql.ErrNoRows):
		return nil, missing
	case lookErr == nil && purged:
		return nil, nil
	case err != nil:
		return nil, err
	case lookErr != nil:
		return nil, fmt.Errorf("check email %s: %w", emailID, lookErr)
	}
	return raw, nil
}

// composeAgain returns an unsigned message in its own content. It acquires disk before memory, like heavy
// messages.
func (c *Composer) composeAgain(ctx context.Context, o *StoredEmail) (_ *intake.Content, err error) {
	owner := intake.Tenant{Account: o.accountID}
	out := c.budget.NewContent(intake.Terms{Tenant: owner, MaxMemory: smallRaw, MaxSize: o.composedSize(),
		Patience: rawPatience})
	var drafts contents
	defer func() {
		drafts.close()
		if err != nil {
			out.Close()
		}
	}()
	where := inMemory
	if o.IsHeavy() {
		draft := c.budget.NewContent(intake.Terms{Tenant: owner, MaxSize: o.composedSize(), Patience: rawPatience})
		drafts = append(drafts, draft)
		if err := errors.Join(draft.Reserve(ctx, o.composedSize()), out.Reserve(ctx, o.composedSize())); err != nil {
			return nil, lackOfRoom(ctx, o, err)
		}
		where = func(size int) ([]byte, error) { return draft.Extend(ctx, int64(size)) }
	}
	if o.relayed && !o.loaded {
		in, err := c.loadMIME(ctx, o, rawPatience)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, in)
	}
	release, err := c.budget.AcquireWork(ctx, owner, o.composeMemory(), rawPatience)
	if err != nil {
		return nil, lackOfRoom(ctx, o, err)
	}
	defer release()
	err = intake.RecoverDiskFault(func() error {
		raw, err := c.composeUnsigned(ctx, o, where)
		if err == nil {
			err = out.Append(ctx, raw)
		}
		return err
	})
	if errors.Is(err, intake.ErrFull) || errors.Is(err, intake.ErrCut) {
		err = lackOfRoom(ctx, o, err)
	}
	out.Finish()
	return out, err
}

// composeUnsigned returns a message in its state before it is signed.
func (c *Composer) composeUnsigned(ctx context.Context, o *StoredEmail, where bufferSource) ([]byte, error) {
	from, err := address.Parse(o.from)
	if err != nil {
		return nil, fmt.Errorf("read email %s: from: %w", o.id, err)
	}
	identity, err := c.domains.Identity(ctx, o.accountID, from)
	if kind := fault.KindOf(err); kind == fault.Forbidden || kind == fault.NotFound {
		identity, err = domains.SigningIdentity{}, nil
	}
	if err != nil {
		return nil, err
	}
	if o.relayed {
		return c.composeRelayed(ctx, o, identity, 0, where)
	}
	msg, err := c.loadMessage(ctx, o, identity)
	if err != nil {
		return nil, err
	}
	return mime.ComposeInto(msg, 0, where)
}
