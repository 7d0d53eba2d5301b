package received

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// A received message can have 32 MB, and its JSON even more. A large message is read from disk, and its files are
// decoded and encoded while they are written. The JSON before the files is created first, so that a slow client
// holds no memory.

type receivedField struct {
	Name  string `json:"name" doc:"The name of the header field."`
	Value string `json:"value" doc:"The value of the header field."`
}

// ReceivedBody is the part that is read from the content. It is exported because it is embedded.
type ReceivedBody struct { //nolint:revive // the document has the name of the type
	HTML    *string         `json:"html" doc:"The first HTML body, at most 5 MB; null if there is none. It is untrusted: show it in a sandbox without scripts."`
	Text    *string         `json:"text" doc:"The first text body, at most 5 MB; null if there is none."`
	Headers []receivedField `json:"headers" nullable:"false" doc:"The header fields in order, unfolded and decoded, without Authentication-Results fields that claim to be from this installation."`
}

type receivedFileData struct {
	ReceivedFile
	Data *string `json:"data" doc:"The file in base64 (standard alphabet, padded); null if it was deleted by retention."`
}

// receivedWhole describes the response for the document. The content itself is written piece by piece.
type receivedWhole struct {
	ReceivedHead
	ReceivedBody
	Attachments []receivedFileData `json:"attachments" nullable:"false" doc:"The attachments, with their data."`
}

type receivedAnswer struct {
	ReceivedEmail receivedWhole `json:"received_email" doc:"The received email, with its content."`
}

// streamed is a response that is written piece by piece.
type streamed struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        func(huma.Context)
}

func (e *edge) addContents(g *api.TagGroup) {
	api.Raw(g, api.Operation{
		Method: http.MethodGet, Path: "/received-emails/{id}", ID: "getReceivedEmail", Needs: rights.Read,
		Summary: "Retrieve a received email",
		Description: "Returns a received email with its bodies, header fields and files in base64. After the " +
			"retention period, `html`, `text` and the `data` of files are `null`, and `headers` is empty. Fails " +
			"with 503 if the content is in an object store that is unavailable.",
		Problems: []int{http.StatusNotFound},
		Example:  map[string]any{"received_email": receivedExample(true)}, Answer: receivedAnswer{}, Of: received,
	}, e.getReceived)
	api.Raw(g, api.Operation{
		Method: http.MethodGet, Path: "/received-emails/{id}/raw", ID: "getReceivedEmailRaw", Needs: rights.Read,
		Summary: "Download a received email",
		Description: "Returns the message exactly as received. Fails with 409 `conflict` if its content was deleted " +
			"by retention.",
		Media:    "message/rfc822",
		Example:  "From: Bob <bob@example.net>\r\nTo: support@example.com\r\nSubject: Re: Your receipt\r\n\r\nThank you.\r\n",
		Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: received,
	}, e.getRaw)
}

// openContent returns the record and its content, which is nil if it was deleted by retention.
func (e *edge) openContent(ctx context.Context, c *api.Call,
	in *api.Item) (*ent.ReceivedEmail, *inbound.Content, error) {
	if err := received.Check(in.ID); err != nil {
		return nil, nil, err
	}
	found, err := e.mail.Get(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, nil, err
	}
	content, err := e.mail.Open(ctx, found)
	return found, content, err
}

func (e *edge) getRaw(ctx context.Context, c *api.Call, in *api.Item) (*streamed, error) {
	_, content, err := e.openContent(ctx, c, in)
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	return &streamed{ContentType: "message/rfc822", Body: func(hc huma.Context) {
		defer content.Close()
		_, w := humago.Unwrap(hc)
		w.Header().Set("Content-Disposition", `attachment; filename="`+in.ID+`.eml"`)
		answer := c.Budget().NewWriter(w, content.IntakeContents()...)
		_, err := io.Copy(answer, content.Reader())
		endAnswer(ctx, answer, err)
	}}, nil
}

func (e *edge) getReceived(ctx context.Context, c *api.Call, in *api.Item) (*streamed, error) {
	found, content, err := e.openContent(ctx, c, in)
	switch {
	case errors.Is(err, inbound.ErrPurged):
		return &streamed{ContentType: "application/json", Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			answer := c.Budget().NewWriter(w)
			_, err := answer.Write(purgedRecord(found))
			endAnswer(ctx, answer, err)
		}}, nil
	case err != nil:
		return nil, c.Fail(ctx, err)
	}
	whole, err := composeAnswer(ctx, c, found, content)
	if err != nil {
		content.Close()
		return nil, c.Fail(ctx, err)
	}
	return &streamed{ContentType: "application/json", Body: func(hc huma.Context) {
		defer content.Close()
		defer whole.head.Close()
		_, w := humago.Unwrap(hc)
		answer := c.Budget().NewWriter(w, append(content.IntakeContents(), whole.head)...)
		endAnswer(ctx, answer, whole.write(answer, content))
	}}, nil
}

// endAnswer ends a response. If it broke off, endAnswer adds the error to the log line of the request.
func endAnswer(ctx context.Context, a *intake.PacedWriter, err error) {
	if ended := a.End(); ended != nil {
		err = ended
	}
	if err != nil {
		telemetry.SetError(ctx, "", err)
	}
}

// purgedRecord returns the record without its content.
func purgedRecord(found *ent.ReceivedEmail) []byte {
	out := receivedWhole{ReceivedHead: newReceivedHead(found), ReceivedBody: ReceivedBody{Headers: []receivedField{}},
		Attachments: []receivedFileData{}}
	for _, f := range receivedFiles(found.Attachments) {
		out.Attachments = append(out.Attachments, receivedFileData{ReceivedFile: f})
	}
	return wire.Encode(receivedAnswer{out})
}

// wholeAnswer is a record while it is written: the JSON before the files, and the files without their data.
type wholeAnswer struct {
	head  *intake.Content
	files []ReceivedFile
}

// headPatience limits the wait for memory for a large head.
const (
	headPatience = 5 * time.Second
	smallHead    = 256 << 10
	mostHead     = 64 << 20 // text and html of 5 MB, every character escaped
)

// composeAnswer writes the response up to the files.
func composeAnswer(ctx context.Context, c *api.Call, found *ent.ReceivedEmail,
	content *inbound.Content) (_ *wholeAnswer, err error) {
	release, err := content.Work(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := content.Message()
	if err != nil {
		return nil, err
	}
	out := &wholeAnswer{head: c.Budget().
		NewContent(intake.Terms{Tenant: c.Owner(), MaxMemory: smallHead, MaxSize: mostHead, Patience: headPatience})}
	defer func() {
		if err != nil {
			out.head.Close()
			err = api.RoomError(ctx, err)
		}
	}()
	for _, f := range m.Files {
		out.files = append(out.files, newReceivedFile(shape.ReceivedFile(f)))
	}
	headers := []receivedField{}
	for _, f := range m.Header {
		headers = append(headers, receivedField(f))
	}
	w := &headWriter{ctx: ctx, to: out.head}
	record := wire.Encode(newReceivedHead(found))
	w.write([]byte(`{"received_email":`))
	w.write(record[:len(record)-1])
	w.text(`,"html":`, m.HTML)
	w.text(`,"text":`, m.Text)
	w.write([]byte(`,"headers":`))
	w.write(wire.Encode(headers))
	w.write([]byte(`,"attachments":[`))
	return out, w.err
}
