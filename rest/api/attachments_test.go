package api_test

import (
	"context"
	"regexp"
	"strconv"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/filelink"
)

func newFileLinks() *filelink.Links {
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		panic(err)
	}
	return filelink.New(box, "https://mail.example.com")
}

// findFile returns the second of two files.
func findFile(emailID, known string, index int) (filelink.File, error) {
	switch {
	case emailID != known:
		return filelink.File{}, fault.NoSuch("email", emailID)
	case index > 1:
		return filelink.File{}, fault.NoSuch("attachment", strconv.Itoa(index))
	}
	return filelink.File{Name: "two.png", ContentType: "image/png", ContentID: "logo", Size: 3}, nil
}

func (f *fakeReceived) Attachment(_ context.Context, _, id string, index int) (filelink.File, error) {
	return findFile(id, receivedEmailID, index)
}

func (*fakeReceived) OpenAttachment(context.Context, string, string, int) (filelink.AttachmentContent, error) {
	return filelink.AttachmentContent{}, nil // is not called by the API
}

func (f *fakeSending) Attachment(_ context.Context, _, id string, index int) (filelink.File, error) {
	return findFile(id, emailID, index)
}

func (*fakeSending) OpenAttachment(context.Context, string, string, int) (filelink.AttachmentContent, error) {
	return filelink.AttachmentContent{}, nil // is not called by the API
}

var volatileLink = regexp.MustCompile(`(/files/\w+/)[\w-]+|("expires_at":")[^"]+`)

func TestAttachmentAnswers(t *testing.T) {
	t.Parallel()
	sent, received := "/api/emails/"+emailID+"/attachments/", "/api/received-emails/"+receivedEmailID+"/attachments/"
	for name, c := range map[string]struct {
		request request
		status  int
	}{
		"attachment":                {request{method: "GET", path: sent + "1"}, 200},
		"attachment_sending":        {request{method: "GET", path: sent + "1", key: "sending"}, 200},
		"attachment_unknown":        {request{method: "GET", path: sent + "2"}, 404},
		"attachment_bad":            {request{method: "GET", path: sent + "x"}, 400},
		"attachment_negative":       {request{method: "GET", path: sent + "-1"}, 400},
		"attachment_of_none":        {request{method: "GET", path: "/api/emails/msg_x/attachments/1"}, 404},
		"received_attachment":       {request{method: "GET", path: received + "1", key: "read"}, 200},
		"received_attachment_scope": {request{method: "GET", path: received + "1", key: "sending"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newBundle(t).do(t, c.request)
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", volatileLink.ReplaceAllString(got.body, "${1}${2}…"))
		})
	}
}
