package api

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// RequestLog stores requests whose account is known. Keep decides when a response begins; a request that it does not
// log is not copied. Both return immediately.
type RequestLog interface {
	Keep(accountID string, status int) bool
	Add(r *apilog.Seen)
}

var _ RequestLog = (*apilog.Service)(nil)

// observed is a response that may be logged.
type observed struct {
	http.ResponseWriter

	log     RequestLog
	request *http.Request
	begun   time.Time
	call    *Call // nil: the caller is unknown
	op      *Operation
	origin  audit.Origin

	status  int   // 0: no response yet
	written int64 // bytes of the response
	kept    *apilog.Seen
	copies  bool // the response is copied
	ended   bool // the handler has returned
}

// observe wraps the response writer of a request.
func observe(log RequestLog, w http.ResponseWriter, r *http.Request) *observed {
	return &observed{ResponseWriter: w, log: log, request: r, begun: time.Now()}
}

// Unwrap serves http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// recordCaller stores the caller and the operation before the response begins.
func recordCaller(w http.ResponseWriter, c *Call, op *Operation, origin audit.Origin) {
	if o, is := w.(*observed); is {
		o.call, o.op, o.origin = c, op, origin
	}
}

// WriteHeader decides whether the request is logged.
func (o *observed) WriteHeader(status int) {
	if status >= http.StatusOK {
		o.beginAnswer(status)
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(p []byte) (int, error) {
	o.beginAnswer(http.StatusOK)
	n, err := o.ResponseWriter.Write(p)
	o.recordBody(p[:n])
	return n, err
}

// writeEncoded writes a body that may be compressed, and records it as JSON.
func (o *observed) writeEncoded(body encodedBody) error {
	o.beginAnswer(http.StatusOK)
	_, err := o.ResponseWriter.Write(body.sent)
	o.recordBody(body.plain)
	return err
}

func (o *observed) recordBody(p []byte) {
	o.written += int64(len(p))
	if room := apilog.MaxRaw - len(o.answerBody()); o.copies && room > 0 {
		o.kept.Answered.Raw = append(o.kept.Answered.Raw, p[:min(len(p), room)]...)
	}
}

func (o *observed) answerBody() []byte {
	if o.kept == nil {
		return nil
	}
	return o.kept.Answered.Raw
}

func (o *observed) beginAnswer(status int) {
	if o.status != 0 {
		return
	}
	if telemetry.ClientLeft(o.request.Context()) {
		status = telemetry.StatusClientClosed
	}
	o.status = status
	if o.call == nil || o.call.AccountID == "" || o.isOwnProbe(status) || !o.log.Keep(o.call.AccountID, status) {
		return
	}
	c, r := o.call, o.request
	o.kept = &apilog.Seen{ID: c.RequestID, AccountID: c.AccountID, Method: r.Method, Path: o.op.loggedPath(r),
		Operation: o.op.ID, Status: status,
		APIKeyID: c.KeyID, IP: o.origin.IP(), At: o.begun}
	switch {
	case c.Person != nil:
		o.kept.UserID = c.Person.UserID
	case c.Operator != nil:
		o.kept.APIKeyID = c.Operator.KeyID
	}
	if item := r.PathValue("id"); id.Is(id.Email, item) {
		o.kept.EmailID = item
	}
	o.kept.Answered.Media = o.Header().Get("Content-Type")
	asked, answered := o.op.bodiesLogged()
	o.copies = answered
	if !apilog.IsJSON(o.kept.Answered.Media) && answered {
		o.copies, o.kept.Answered.Raw = false, noted
	}
	o.kept.Asked = apilog.CapturedBody{Size: int64(len(c.body)), Media: jsonType}
	if asked {
		o.kept.Asked.Raw = c.bodyStart(apilog.MaxRaw)
	}
}

// isOwnProbe reports whether the request is a read of the dashboard that was refused: a page reads a resource that may
// not exist, or previews an unfinished template. Those are no errors of the customer's programs.
func (o *observed) isOwnProbe(status int) bool {
	if o.call.Person == nil || status < http.StatusBadRequest || status >= http.StatusInternalServerError {
		return false
	}
	switch o.op.Needs { //nolint:exhaustive // the operations that read
	case rights.Read, rights.ReadSent, rights.ReadAccount, rights.ReadBilling:
		return true
	default:
		return false
	}
}

// noted marks a body that is logged only by its media type.
var noted = []byte{0}

// storeRequest passes a finished request to the log.
func (o *observed) storeRequest() {
	if o.ended {
		o.beginAnswer(http.StatusOK)
	} else { // it panicked; the recovering handler responds with 500
		o.beginAnswer(http.StatusInternalServerError)
	}
	if o.kept == nil {
		return
	}
	o.kept.Took, o.kept.Answered.Size = time.Since(o.begun), o.written
	o.log.Add(o.kept)
}

// bodyStart copies the first bytes of the body, whose memory is released after the request.
func (c *Call) bodyStart(most int) []byte {
	part := c.body[:min(len(c.body), most)]
	if len(part) == 0 {
		return nil
	}
	if c.content == nil || c.content.InMemory() {
		return bytes.Clone(part)
	}
	var copied []byte
	if err := intake.RecoverDiskFault(func() error { copied = bytes.Clone(part); return nil }); err != nil {
		return nil
	}
	return copied
}

// loggedPath returns the path for the log. If the path contains an email address, it returns the pattern of the
// operation, because the log entry outlives the erasure of the person.
func (op Operation) loggedPath(r *http.Request) string {
	if strings.Contains(op.Path, "{email}") {
		return Prefix + op.Path
	}
	return r.URL.Path
}

// bodiesLogged reports which bodies may be logged. All readers of the log see them, so the bodies of operations
// that require more than reading, and of sign-in operations, are not logged.
func (op Operation) bodiesLogged() (asked, answered bool) {
	switch {
	case op.Public, op.Private:
		return false, false
	case op.Method == http.MethodGet:
		return true, !op.Unlogged && (op.Needs == rights.Read || op.Needs == rights.ReadSent ||
			op.Needs == rights.ReadAccount)
	}
	switch op.Needs {
	case rights.Write, rights.Read, rights.ReadSent, rights.ReadAccount, rights.Send, rights.Settings:
		return true, !op.Unlogged
	}
	return false, false
}
