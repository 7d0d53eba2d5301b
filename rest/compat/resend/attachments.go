package resend

import (
	"net/http"
	"strconv"

	"github.com/postrider/postrider/rest/compat"
)

// mostFiles limits the calls for listing the attachments of an email.
const mostFiles = 20

// mailbox is a kind of email in our own API: sent or received.
type mailbox struct {
	path   string // path of its emails
	member string // field of the response that contains an email
}

var (
	sentMail     = mailbox{"emails", "email"}
	receivedMail = mailbox{"received-emails", "received_email"}
)

// fileLink is an attachment of our own API.
type fileLink struct {
	Attachment struct {
		Index       int     `json:"index"`
		Name        string  `json:"name"`
		ContentType string  `json:"content_type"`
		ContentID   *string `json:"content_id"`
		Size        int     `json:"size"`
		DownloadURL string  `json:"download_url"`
		ExpiresAt   string  `json:"expires_at"`
	} `json:"attachment"`
}

type shownLink struct {
	Object string `json:"object,omitempty"`
	shownFile
	DownloadURL string `json:"download_url"`
	ExpiresAt   string `json:"expires_at"`
}

func (m mailbox) findFile(c *compat.Call, index, kind string) (shownLink, error) {
	var found fileLink
	err := c.Do(compat.Request{Method: http.MethodGet,
		Path: joinPath(m.path, c.Param("id"), "attachments", index)}, &found)
	a := found.Attachment
	return shownLink{Object: kind, DownloadURL: a.DownloadURL, ExpiresAt: a.ExpiresAt,
		shownFile: file{Filename: a.Name, ContentType: a.ContentType, ContentID: a.ContentID, Size: a.Size,
			Inline: a.ContentID != nil}.show(a.Index)}, err
}

func (m mailbox) getFile(c *compat.Call) (*compat.Response, error) {
	if _, err := strconv.ParseUint(c.Param("file"), 10, 16); err != nil {
		return nil, compat.NotFound("attachment")
	}
	found, err := m.findFile(c, c.Param("file"), "attachment")
	if err != nil {
		return nil, err
	}
	return compat.OK(found)
}

func (m mailbox) listFiles(c *compat.Call) (*compat.Response, error) {
	var found map[string]struct {
		Attachments []struct{} `json:"attachments"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath(m.path, c.Param("id"))}, &found); err != nil {
		return nil, err
	}
	count := len(found[m.member].Attachments)
	data := []shownLink{}
	for i := range min(count, mostFiles) {
		f, err := m.findFile(c, strconv.Itoa(i), "")
		if err != nil {
			return nil, err
		}
		data = append(data, f)
	}
	return compat.OK(map[string]any{"object": "list", "has_more": count > mostFiles, "data": data})
}
