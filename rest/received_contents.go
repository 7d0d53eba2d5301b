package rest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/runtime/telemetry"
)

// A received message may have 32 MB, and its JSON more. It is in memory once, within
// the budget of inbound, and its files are decoded and encoded while they are written.

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

// writeLimit is how long a caller may take with an answer that holds memory.
const writeLimit = 2 * time.Minute

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
		w := begin(hc)
		w.Header().Set("Content-Disposition", `attachment; filename="`+in.ID+`.eml"`)
		w.write(content.Raw)
		w.tell(ctx)
	}}, nil
}

func (e *receivedEdge) get(ctx context.Context, in *receivedID) (*streamed, error) {
	found, content, err := e.open(ctx, in)
	switch {
	case errors.Is(err, inbound.ErrPurged):
		return &streamed{ContentType: jsonType, Body: func(hc huma.Context) {
			w := begin(hc)
			w.write(purged(found))
			w.tell(ctx)
		}}, nil
	case err != nil:
		return nil, e.api.fail(ctx, callOf(ctx).requestID, err)
	}
	return &streamed{ContentType: jsonType, Body: func(hc huma.Context) {
		defer content.Close()
		w := begin(hc)
		w.whole(found, content)
		w.tell(ctx)
	}}, nil
}

// purged is the record without its content.
func purged(found *ent.ReceivedEmail) []byte {
	out := receivedWhole{receivedHead: newReceivedHead(found), receivedBody: receivedBody{Headers: []receivedField{}}, Attachments: []receivedFileData{}}
	for _, f := range receivedFiles(found.Attachments) {
		out.Attachments = append(out.Attachments, receivedFileData{receivedFile: f})
	}
	return encoded(receivedAnswer{out})
}

// contentWriter remembers the first error: the caller has left, and the rest is spared.
type contentWriter struct {
	http.ResponseWriter
	err error
}

func begin(hc huma.Context) *contentWriter {
	_, w := humago.Unwrap(hc)
	out := &contentWriter{ResponseWriter: w}
	out.err = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
	return out
}

func (w *contentWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.Write(b)
	}
}

// tell leaves a broken answer in the request's line of the log, and lifts the deadline
// for what follows on the connection.
func (w *contentWriter) tell(ctx context.Context) {
	if w.err != nil {
		telemetry.SetError(ctx, "", w.err)
		return
	}
	w.err = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
}

// whole writes the record: what fits into a struct, and then the files one by one.
func (w *contentWriter) whole(found *ent.ReceivedEmail, content *inbound.Content) {
	m, err := content.Message()
	if err != nil {
		w.err = err
		return
	}
	body := receivedBody{Headers: []receivedField{}}
	if m.Text != "" {
		body.Text = &m.Text
	}
	if m.HTML != "" {
		body.HTML = &m.HTML
	}
	for _, f := range m.Header {
		body.Headers = append(body.Headers, receivedField(f))
	}
	record := encoded(struct {
		receivedHead
		receivedBody
	}{newReceivedHead(found), body})
	w.write([]byte(`{"received_email":`))
	w.write(record[:len(record)-1])
	w.write([]byte(`,"attachments":[`))
	files := &fileWriter{out: w, files: make([]receivedFile, 0, len(m.Files))}
	for _, f := range m.Files {
		files.files = append(files.files, newReceivedFile(shape.ReceivedFile(f)))
	}
	if err := content.Files(files.next); err != nil && w.err == nil {
		w.err = err
	}
	files.end()
	w.write([]byte(`]}}`))
}

// fileWriter writes the files of a message into an array.
type fileWriter struct {
	out     *contentWriter
	files   []receivedFile
	begun   int
	current io.WriteCloser
}

// next ends the file before and begins the n-th.
func (f *fileWriter) next(n int) io.Writer {
	f.end()
	if n >= len(f.files) {
		return io.Discard
	}
	if f.begun++; f.begun > 1 {
		f.out.write([]byte{','})
	}
	head := encoded(f.files[n])
	f.out.write(head[:len(head)-1])
	f.out.write([]byte(`,"data":"`))
	f.current = base64.NewEncoder(base64.StdEncoding, f)
	return f.current
}

func (f *fileWriter) end() {
	if f.current == nil {
		return
	}
	if err := f.current.Close(); err != nil && f.out.err == nil {
		f.out.err = err
	}
	f.current = nil
	f.out.write([]byte(`"}`))
}

// Write takes the base64.
func (f *fileWriter) Write(b []byte) (int, error) {
	f.out.write(b)
	return len(b), f.out.err
}

// encoded is for structs of strings and numbers, which always encode.
func encoded(v any) json.RawMessage {
	b, err := marshal(v)
	if err != nil {
		panic("rest: a record cannot be encoded: " + err.Error())
	}
	return b
}
