package attachments

import (
	"context"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/filelink"
)

// Path prefixes of the links.
const (
	SentPrefix     = "/files/sent/"
	ReceivedPrefix = "/files/received/"
)

// Source reads the attachments of one kind of emails.
type Source interface {
	Attachment(ctx context.Context, accountID, emailID string, index int) (filelink.File, error)
	OpenAttachment(ctx context.Context, accountID, emailID string, index int) (filelink.AttachmentContent, error)
}

var (
	_ Source = (*records.Service)(nil)
	_ Source = (*inbound.Service)(nil)
)

type attachmentLink struct {
	Index       int       `json:"index" doc:"Position among the attachments of the email, from 0." example:"0"`
	Name        string    `json:"name" doc:"The file name of the attachment." example:"invoice.pdf"`
	ContentType string    `json:"content_type" doc:"The type that the sender declared. If browsers can run files of this type, such as HTML, the link serves the file with a generic type." example:"application/pdf"`
	ContentID   *string   `json:"content_id" doc:"The ID that cid: links in html refer to; null if the file has none."`
	Size        int64     `json:"size" doc:"Decoded size in bytes." example:"48213"`
	DownloadURL string    `json:"download_url" doc:"Returns the file without an API key until expires_at. Anyone who has the URL can use it." example:"https://mail.example.com/files/sent/AQAAAABpeQ…"`
	ExpiresAt   wire.Time `json:"expires_at" doc:"When the URL expires: one hour after the request."`
}

type attachmentLinkAnswer struct {
	Attachment attachmentLink `json:"attachment" doc:"The attachment, with its link."`
}

type attachmentLinkInput struct {
	api.Item

	Index int `path:"index" minimum:"0" maximum:"9999" doc:"Position among the attachments of the email, from 0." example:"0"`
}

type edge struct {
	source Source
	links  *filelink.Links
	prefix string
}

var (
	sent = api.Noun{Name: "email", About: "ID of the email.", Example: "msg_01kf0m4w7he6x8q2v5b3n9c1ta",
		Is: func(word string) bool { return id.Is(id.Email, word) }}
	received = api.Noun{Name: "received email", About: "ID of the received email.",
		Example: "inb_01kf0m4w7he6x8q2v5b3n9c1ta",
		Is:      func(word string) bool { return id.Is(id.ReceivedEmail, word) }}
)

const about = " and `download_url`, a link that returns the file without an API key for one hour. The index is the " +
	"position in the `attachments` of the email. Fails with 404 if there is no such attachment"

// SentRoutes returns the route of the attachments of sent emails.
func SentRoutes(source Source, links *filelink.Links) api.Routes {
	return api.NewRoutes("attachments", func(a *api.API) {
		e := &edge{source: source, links: links, prefix: SentPrefix}
		g := a.Tag("Emails", "")
		g.Bind(sent, source)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/emails/{id}/attachments/{index}", ID: "getEmailAttachment",
			Needs: rights.ReadSent, Summary: "Retrieve an attachment of an email",
			Description: "Returns an attachment of an email" + about + " or it was deleted by retention.",
			Example:     map[string]any{"attachment": example(SentPrefix)},
			Problems:    []int{http.StatusNotFound}, Of: sent,
		}, e.getAttachment)
	})
}

// ReceivedRoutes returns the route of the attachments of received emails.
func ReceivedRoutes(source Source, links *filelink.Links) api.Routes {
	return api.NewRoutes("received-attachments", func(a *api.API) {
		e := &edge{source: source, links: links, prefix: ReceivedPrefix}
		g := a.Tag("Received emails", "")
		g.Bind(received, source)
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/received-emails/{id}/attachments/{index}", ID: "getReceivedEmailAttachment",
			Needs: rights.Read, Summary: "Retrieve an attachment of a received email",
			Description: "Returns an attachment of a received email" + about + ". If its content was deleted by " +
				"retention, the link returns 410.",
			Example:  map[string]any{"attachment": example(ReceivedPrefix)},
			Problems: []int{http.StatusNotFound}, Of: received,
		}, e.getAttachment)
	})
}

func (e *edge) getAttachment(ctx context.Context, c *api.Call,
	in *attachmentLinkInput) (out attachmentLinkAnswer, err error) {
	f, err := e.source.Attachment(ctx, c.AccountID, in.ID, in.Index)
	if err != nil {
		return out, err
	}
	link, expires := e.links.URL(e.prefix, filelink.Ref{AccountID: c.AccountID, EmailID: in.ID, Index: in.Index},
		time.Now())
	return attachmentLinkAnswer{attachmentLink{Index: in.Index, Name: f.Name, ContentType: f.ContentType,
		ContentID: wire.OrNull(f.ContentID), Size: f.Size, DownloadURL: link, ExpiresAt: wire.Time(expires)}}, nil
}

func example(prefix string) map[string]any {
	return map[string]any{"index": 0, "name": "invoice.pdf", "content_type": "application/pdf", "content_id": nil,
		"size": 48213, "download_url": "https://mail.example.com" + prefix + "AQAAAABpeQ",
		"expires_at": "2026-01-15T10:30:00.000Z"}
}
