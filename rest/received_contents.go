package rest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/telemetry"
)

// A received message may have 32 MB, and its JSON more. A large one lies on disk while it
// is read, and its files are decoded and encoded while they are written. What of the JSON
// stands before the files is made first, so that a slow client holds no memory.

type receivedField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// receivedBody is what is read from the content.
type receivedBody struct {
	HTML    *string         `json:"html" doc:"The first HTML body, at most 5 MB; null without one. It is a stranger's: show it in a sandbox without scripts."`
	Text    *string         `json:"text" doc:"The first text body, at most 5 MB; null without one."`
	Headers []receivedField `json:"headers" nullable:"false" doc:"The header fields in their order, unfolded and decoded."`
}

type receivedFileData struct {
	receivedFile
	Data *string `json:"data" doc:"The octets in base64 (standard alphabet, padded); null once the content was deleted by age."`
}

// receivedWhole is for the document; contents are written piece by piece.
type receivedWhole struct {
	receivedHead
	receivedBody
	Attachments []receivedFileData `json:"attachments" nullable:"false"`
}

type receivedAnswer struct {
	ReceivedEmail receivedWhole `json:"received_email"`
}

// streamed is an answer that is written piece by piece.
type streamed struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        func(huma.Context)
}

func (e *receivedEdge) contents(a *API) {
	add(a, operation{
		method: http.MethodGet, path: "/received-emails/{id}", id: "getReceivedEmail", tag: tagReceived, needs: accounts.Read,
		summary: "Retrieve a received email",
		description: "With its bodies, its header and its files in base64. Once the content is older than the account keeps bodies, `html`, `text` and the `data` of the files are " +
			"`null` and `headers` is empty. 503 when the content is in an object store that does not answer.",
		problems: []int{http.StatusNotFound},
		answer:   reflect.TypeFor[receivedAnswer](), example: map[string]any{"received_email": receivedExample(true)},
	}, e.get)
	add(a, operation{
		method: http.MethodGet, path: "/received-emails/{id}/raw", id: "getReceivedEmailRaw", tag: tagReceived, needs: accounts.Read,
		summary:     "Download a received email",
		description: "The message as it came in, octet for octet. 409 `conflict` once its content was deleted by age.",
		media:       "message/rfc822", example: "From: Bob <bob@example.net>\r\nTo: support@example.com\r\nSubject: Re: Your receipt\r\n\r\nThank you.\r\n",
		problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.raw)
}

// open gives the record and its content, which is nil when it was deleted by age.
func (e *receivedEdge) open(ctx context.Context, in *receivedID) (*ent.ReceivedEmail, *inbound.Content, error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	found, err := e.mail.Get(ctx, callOf(ctx).AccountID, in.ID)
	if err != nil {
		return nil, nil, err
	}
	content, err := e.mail.Open(ctx, found)
	return found, content, err
}

func (e *receivedEdge) raw(ctx context.Context, in *receivedID) (*streamed, error) {
	_, content, err := e.open(ctx, in)
	if err != nil {
		return nil, e.api.fail(ctx, callOf(ctx).requestID, err)
	}
	return &streamed{ContentType: "message/rfc822", Body: func(hc huma.Context) {
		defer content.Close()
		_, w := humago.Unwrap(hc)
		w.Header().Set("Content-Disposition", `attachment; filename="`+in.ID+`.eml"`)
		answer := e.api.budget.Answer(w, content.Held()...)
		_, err := io.Copy(answer, content.Reader())
		tell(ctx, answer, err)
	}}, nil
}

func (e *receivedEdge) get(ctx context.Context, in *receivedID) (*streamed, error) {
	c := callOf(ctx)
	found, content, err := e.open(ctx, in)
	switch {
	case errors.Is(err, inbound.ErrPurged):
		return &streamed{ContentType: jsonType, Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			answer := e.api.budget.Answer(w)
			_, err := answer.Write(purged(found))
			tell(ctx, answer, err)
		}}, nil
	case err != nil:
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	whole, err := e.whole(ctx, c, found, content)
	if err != nil {
		content.Close()
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return &streamed{ContentType: jsonType, Body: func(hc huma.Context) {
		defer content.Close()
		defer whole.head.Close()
		_, w := humago.Unwrap(hc)
		answer := e.api.budget.Answer(w, append(content.Held(), whole.head)...)
		tell(ctx, answer, whole.write(answer, content))
	}}, nil
}

// tell ends an answer, and leaves a broken one in the request's line of the log.
func tell(ctx context.Context, a *intake.Answer, err error) {
	if ended := a.End(); ended != nil {
		err = ended
	}
	if err != nil {
		telemetry.SetError(ctx, "", err)
	}
}

// purged is the record without its content.
func purged(found *ent.ReceivedEmail) []byte {
	out := receivedWhole{receivedHead: newReceivedHead(found), receivedBody: receivedBody{Headers: []receivedField{}}, Attachments: []receivedFileData{}}
	for _, f := range receivedFiles(found.Attachments) {
		out.Attachments = append(out.Attachments, receivedFileData{receivedFile: f})
	}
	return encoded(receivedAnswer{out})
}

// wholeAnswer is a record on its way out: what stands before the files, and the files
// without their octets.
type wholeAnswer struct {
	head  *intake.Content
	files []receivedFile
}

// headPatience is how long room for a large head is waited for.
const (
	headPatience = 5 * time.Second
	smallHead    = 256 << 10
	mostHead     = 64 << 20 // text and html of 5 MB, every character escaped
)

// whole makes the answer up to the files.
func (e *receivedEdge) whole(ctx context.Context, c *call, found *ent.ReceivedEmail, content *inbound.Content) (_ *wholeAnswer, err error) {
	release, err := content.Work(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := content.Message()
	if err != nil {
		return nil, err
	}
	out := &wholeAnswer{head: e.api.budget.Content(intake.Terms{Owner: c.owner(), Small: smallHead, Most: mostHead, Patience: headPatience})}
	defer func() {
		if err != nil {
			out.head.Close()
			err = roomError(ctx, err)
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
	record := encoded(newReceivedHead(found))
	w.write([]byte(`{"received_email":`))
	w.write(record[:len(record)-1])
	w.text(`,"html":`, m.HTML)
	w.text(`,"text":`, m.Text)
	w.write([]byte(`,"headers":`))
	w.write(encoded(headers))
	w.write([]byte(`,"attachments":[`))
	return out, w.err
}

// headWriter remembers the first error.
type headWriter struct {
	ctx context.Context //nolint:containedctx // it lives as long as the call
	to  *intake.Content
	err error
}

func (w *headWriter) write(b []byte) {
	if w.err == nil {
		w.err = w.to.Append(w.ctx, b)
	}
}

// text writes a member whose text may be long, piece by piece; empty is null.
func (w *headWriter) text(name, text string) {
	w.write([]byte(name))
	if text == "" {
		w.write([]byte("null"))
		return
	}
	w.write([]byte{'"'})
	for text != "" {
		n := min(len(text), 32<<10)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		piece := encoded(text[:n])
		w.write(piece[1 : len(piece)-1])
		text = text[n:]
	}
	w.write([]byte{'"'})
}

// write writes the record, and the files one by one.
func (a *wholeAnswer) write(w io.Writer, content *inbound.Content) error {
	if _, err := io.Copy(w, a.head.Reader()); err != nil {
		return err
	}
	pieces := bufio.NewWriterSize(w, 32<<10)
	files := &fileWriter{out: pieces, files: a.files}
	if err := content.Files(files.next); err != nil {
		return err
	}
	files.end()
	files.write([]byte(`]}}`))
	return errors.Join(files.err, pieces.Flush())
}

// fileWriter writes the files of a message into an array.
type fileWriter struct {
	out     io.Writer
	files   []receivedFile
	begun   int
	current io.WriteCloser
	err     error
}

func (f *fileWriter) write(b []byte) {
	if f.err == nil {
		_, f.err = f.out.Write(b)
	}
}

// next ends the file before and begins the n-th.
func (f *fileWriter) next(n int) io.Writer {
	f.end()
	if n >= len(f.files) {
		return io.Discard
	}
	if f.begun++; f.begun > 1 {
		f.write([]byte{','})
	}
	head := encoded(f.files[n])
	f.write(head[:len(head)-1])
	f.write([]byte(`,"data":"`))
	f.current = base64.NewEncoder(base64.StdEncoding, f)
	return f.current
}

func (f *fileWriter) end() {
	if f.current == nil {
		return
	}
	if err := f.current.Close(); f.err == nil {
		f.err = err
	}
	f.current = nil
	f.write([]byte(`"}`))
}

// Write takes the base64.
func (f *fileWriter) Write(b []byte) (int, error) {
	f.write(b)
	return len(b), f.err
}

// encoded is for structs of strings and numbers, which always encode.
func encoded(v any) json.RawMessage {
	b, err := marshal(v)
	if err != nil {
		panic("rest: a record cannot be encoded: " + err.Error())
	}
	return b
}
