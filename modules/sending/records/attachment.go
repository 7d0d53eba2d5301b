package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/filelink"
)

// Attachment describes an attachment of an email of the account by its index. Errors: NotFound; Unavailable when too
// many large messages are being read, or the object store fails.
func (s *Service) Attachment(ctx context.Context, accountID, emailID string, index int) (filelink.File, error) {
	_, f, err := s.findAttachment(ctx, accountID, emailID, index)
	return f, err
}

// findAttachment also reports whether the email was submitted over SMTP.
func (s *Service) findAttachment(ctx context.Context, accountID, emailID string,
	index int) (relayed bool, _ filelink.File, err error) {
	if _, err := s.Get(ctx, accountID, emailID); err != nil {
		return false, filelink.File{}, err
	}
	found, err := s.Attachments(ctx, accountID, emailID)
	if err != nil {
		return false, filelink.File{}, err
	}
	files := found[emailID]
	if index < 0 || index >= len(files) {
		return false, filelink.File{}, noAttachment(index)
	}
	return files[index].ID == 0, describeAttachment(files[index]), nil // files of relayed messages have no rows
}

func noAttachment(index int) error { return fault.NoSuch("attachment", strconv.Itoa(index)) }

func describeAttachment(f *ent.Attachment) filelink.File {
	return filelink.File{Name: f.Name, ContentType: f.ContentType, ContentID: f.ContentID, Size: int64(f.Size)}
}

// OpenAttachment opens an attachment by its index. The errors are those of Attachment.
func (s *Service) OpenAttachment(ctx context.Context, accountID, emailID string,
	index int) (filelink.AttachmentContent, error) {
	relayed, f, err := s.findAttachment(ctx, accountID, emailID, index)
	if err != nil {
		return filelink.AttachmentContent{}, err
	}
	if !relayed {
		c, err := s.readAttachment(ctx, accountID, emailID, index, f.Size)
		if err != nil {
			return filelink.AttachmentContent{}, err
		}
		return filelink.AttachmentContent{File: f, IntakeContents: []*intake.Content{c}, Close: c.Close,
			WriteTo: func(w io.Writer) error { _, err := io.Copy(w, c.Reader()); return err }}, nil
	}
	c, err := s.Content(ctx, accountID, emailID, readPatience)
	if err != nil {
		return filelink.AttachmentContent{}, err
	}
	if c == nil {
		return filelink.AttachmentContent{}, noAttachment(index)
	}
	return filelink.AttachmentContent{File: f, IntakeContents: []*intake.Content{c}, Close: c.Close,
		WriteTo: func(w io.Writer) error { _, err := message.ReadFile(c.Reader(), index, w); return err }}, nil
}

const partAttachmentSQL = `SELECT substring(data FROM $4::int FOR $5::int), coalesce(object_key, '') FROM attachments WHERE email_id = $1 AND account_id = $2 AND position = $3`

// readAttachment reads an attachment in parts. If it moves to the object store meanwhile, reading continues there.
func (s *Service) readAttachment(ctx context.Context, accountID, emailID string, index int,
	size int64) (_ *intake.Content, err error) {
	owner := intake.Tenant{Account: accountID}
	c := s.budget.NewContent(intake.Terms{Tenant: owner, MaxMemory: smallMIME, MaxSize: size, Patience: readPatience})
	defer func() {
		if err != nil {
			c.Close()
			err = tooManyReads(ctx, err)
		}
	}()
	if size > smallMIME {
		if err := c.Reserve(ctx, size); err != nil {
			return nil, err
		}
		turn, err := s.budget.AcquireRead(ctx, owner, readPatience)
		if err != nil {
			return nil, err
		}
		defer turn()
	}
	for key := ""; c.Size() < size; {
		before, found := c.Size(), false
		// lib/pq returns binary results only for prepared statements
		err := db.Each(ctx, s.db.Prepared, func(row db.Row) error {
			var part sql.RawBytes
			if err := row.Scan(&part, &key); err != nil || key != "" {
				return err
			}
			found = true
			return c.Append(ctx, part)
		}, partAttachmentSQL, emailID, accountID, index, before+1, partMIME)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read attachment: %w", err)
		case key != "":
			return s.finishAttachment(ctx, c, key, size)
		case !found || c.Size() == before:
			return nil, noAttachment(index)
		}
	}
	c.Finish()
	return c, nil
}

// finishAttachment reads the missing rest from the object store.
func (s *Service) finishAttachment(ctx context.Context, c *intake.Content, key string,
	size int64) (_ *intake.Content, err error) {
	object, err := s.File(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	if _, err := io.CopyN(io.Discard, object, c.Size()); err != nil {
		return nil, fault.BodyUnavailable(err)
	}
	if _, err := io.CopyN(c.Writer(ctx), object, size-c.Size()); err != nil {
		if errors.Is(err, intake.ErrFull) || errors.Is(err, intake.ErrCut) {
			return nil, err
		}
		return nil, fault.BodyUnavailable(fmt.Errorf("object %s of %d bytes: %w", key, size, err))
	}
	if n, err := io.Copy(io.Discard, object); err != nil || n > 0 { // the checksum is at the end
		return nil,
			fault.BodyUnavailable(errors.Join(err, fmt.Errorf("object %s has %d bytes beyond %d", key, n, size)))
	}
	c.Finish()
	return c, nil
}
