package resend

import (
	"net/http"
	"strconv"

	"github.com/postrider/postrider/rest/compat"
)

func receivedRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodGet, Path: "/emails/receiving", Handle: listReceived},
		{Method: http.MethodGet, Path: "/emails/receiving/{id}", Handle: getReceived},
		{Method: http.MethodGet, Path: "/emails/receiving/{id}/attachments", Handle: receivedMail.listFiles},
		{Method: http.MethodGet, Path: "/emails/receiving/{id}/attachments/{file}", Handle: receivedMail.getFile},
	}
}

// received is a received email of our own API, without the data of its attachments.
type received struct {
	ID          string   `json:"id"`
	From        string   `json:"from"`
	To          []string `json:"to"`
	CC          []string `json:"cc"`
	ReplyTo     []string `json:"reply_to"`
	Subject     string   `json:"subject"`
	MessageID   string   `json:"message_id"`
	RcptTo      string   `json:"rcpt_to"`
	ReceivedAt  string   `json:"received_at"`
	HTML        *string  `json:"html"`
	Text        *string  `json:"text"`
	Attachments []file   `json:"attachments"`
	Headers     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"headers"`
}

type file struct {
	Filename    string  `json:"filename"`
	ContentType string  `json:"content_type"`
	ContentID   *string `json:"content_id"`
	Inline      bool    `json:"inline"`
	Size        int     `json:"size"`
}

type shownReceived struct {
	ID          string      `json:"id"`
	From        string      `json:"from"`
	To          []string    `json:"to"`
	CC          []string    `json:"cc"`
	BCC         []string    `json:"bcc"`
	ReplyTo     []string    `json:"reply_to"`
	Subject     string      `json:"subject"`
	MessageID   string      `json:"message_id"`
	ReceivedFor []string    `json:"received_for"`
	CreatedAt   string      `json:"created_at"`
	Attachments []shownFile `json:"attachments"`
}

type shownFile struct {
	ID                 string  `json:"id"`
	Filename           string  `json:"filename"`
	Size               int     `json:"size"`
	ContentType        string  `json:"content_type"`
	ContentID          *string `json:"content_id"`
	ContentDisposition string  `json:"content_disposition"`
}

func (r received) show() shownReceived {
	out := shownReceived{ID: r.ID, From: r.From, To: orEmpty(r.To), CC: orEmpty(r.CC), BCC: []string{},
		ReplyTo: orEmpty(r.ReplyTo), Subject: r.Subject, MessageID: "<" + r.MessageID + ">",
		ReceivedFor: []string{r.RcptTo}, CreatedAt: r.ReceivedAt, Attachments: []shownFile{}}
	for i, f := range r.Attachments {
		out.Attachments = append(out.Attachments, f.show(i))
	}
	return out
}

// show returns an attachment. Its ID is its position among the attachments of the email.
func (f file) show(place int) shownFile {
	out := shownFile{ID: strconv.Itoa(place), Filename: f.Filename, Size: f.Size, ContentType: f.ContentType,
		ContentID: f.ContentID, ContentDisposition: "attachment"}
	if f.Inline {
		out.ContentDisposition = "inline"
	}
	return out
}

func listReceived(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/received-emails", Member: "received_emails",
		Name: "received_emails"},
		func(r received) string { return r.ID }, nil, received.show)
}

func getReceived(c *compat.Call) (*compat.Response, error) {
	var found struct {
		Email received `json:"received_email"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("received-emails", c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	headers := map[string]string{}
	for _, h := range found.Email.Headers {
		if _, known := headers[h.Name]; !known {
			headers[h.Name] = h.Value
		}
	}
	return compat.OK(struct {
		Object string `json:"object"`
		shownReceived
		HTML    *string           `json:"html"`
		Text    *string           `json:"text"`
		Headers map[string]string `json:"headers"`
	}{"email", found.Email.show(), found.Email.HTML, found.Email.Text, headers})
}
