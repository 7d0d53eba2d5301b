package inbound

import (
	"context"
	"io"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/web/filelink"
)

// Attachment describes the file with an index in a received email of the account, even if its content has been
// deleted. It returns NotFound if there is none.
func (s *Service) Attachment(ctx context.Context, accountID, emailID string, index int) (filelink.File, error) {
	_, f, err := s.findAttachment(ctx, accountID, emailID, index)
	return f, err
}

func (s *Service) findAttachment(ctx context.Context, accountID, emailID string,
	index int) (*ent.ReceivedEmail, filelink.File, error) {
	found, err := s.Get(ctx, accountID, emailID)
	switch {
	case err != nil:
		return nil, filelink.File{}, err
	case index < 0 || index >= len(found.Attachments):
		return nil, filelink.File{}, fault.NoSuch("attachment", strconv.Itoa(index))
	}
	f := found.Attachments[index]
	return found, filelink.File{Name: f.Filename, ContentType: f.ContentType, ContentID: f.ContentID,
		Size: f.Size}, nil
}

// OpenAttachment opens the file with an index in a received email. It returns the errors of Attachment and
// Open.
func (s *Service) OpenAttachment(ctx context.Context, accountID, emailID string,
	index int) (filelink.AttachmentContent, error) {
	found, f, err := s.findAttachment(ctx, accountID, emailID, index)
	if err != nil {
		return filelink.AttachmentContent{}, err
	}
	c, err := s.Open(ctx, found)
	if err != nil {
		return filelink.AttachmentContent{}, err
	}
	return filelink.AttachmentContent{File: f, IntakeContents: c.IntakeContents(), Close: c.Close,
		WriteTo: func(w io.Writer) error { _, err := message.ReadFile(c.Reader(), index, w); return err }}, nil
}
