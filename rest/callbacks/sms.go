package callbacks

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/sms/callback"
	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Messages is the part of the module that the handler calls.
type Messages interface {
	Receipt(ctx context.Context, t callback.ProviderRequest) error
	Reply(ctx context.Context, t callback.ProviderRequest) error
}

var _ Messages = (*callback.Service)(nil)

// SMSOptions are the options of NewSMS.
type SMSOptions struct {
	Messages Messages
	Logger   *slog.Logger
}

// SMSPrefix is the path prefix for the requests of SMS providers.
const SMSPrefix = link.Prefix

const (
	smsBodyLimit   = 64 << 10
	smsConcurrency = 16 // requests that use the database
)

type smsHandler struct {
	SMSOptions

	turn *intake.Pool
}

// NewSMS returns the handler of everything below SMSPrefix. It must not be reached through a mux, which would
// redirect an unclean path.
//
// A provider authenticates with the token in the path, which it received with the message or from the owner of the
// account. Twilio also signs its requests. Any other request gets a bare 404. Providers retry a request after a 5xx
// response, so a repeated request gets the same response as the first.
func NewSMS(o SMSOptions) http.Handler {
	return &smsHandler{SMSOptions: o, turn: intake.NewPool(smsConcurrency)}
}

// emptyReply is the response that Twilio expects if there is no reply (TwiML).
const emptyReply = `<?xml version="1.0" encoding="UTF-8"?><Response/>`

// ServeHTTP implements http.Handler.
func (h *smsHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	token, take, route := "", h.Messages.Receipt, link.ReceiptPath
	if rest, found := strings.CutPrefix(r.URL.Path, link.ReceiptPath); found {
		token = rest
	} else if rest, found := strings.CutPrefix(r.URL.Path, link.ReplyPath); found {
		token, take, route = rest, h.Messages.Reply, link.ReplyPath
	}
	telemetry.SetRoute(r.Context(), route+"{token}")
	switch {
	case token == "":
		http.Error(w, "Not found", http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		header.Set("Allow", "POST")
		http.Error(w, "Method not allowed: use POST", http.StatusMethodNotAllowed)
		return
	}
	if err := h.takeReceipt(w, r, token, take); err != nil {
		h.refuse(w, r, err)
		return
	}
	if route == link.ReplyPath {
		header.Set("Content-Type", "text/xml")
		if _, err := w.Write([]byte(emptyReply)); err != nil {
			h.Logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
		}
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *smsHandler) takeReceipt(w http.ResponseWriter, r *http.Request, token string,
	take func(context.Context, callback.ProviderRequest) error) error {
	body, err := readBody(w, r, smsBodyLimit)
	if err != nil {
		return err
	}
	fields, err := provider.Fields(r.Header.Get("Content-Type"), body)
	if err != nil {
		return fault.Invalidf("%s", err)
	}
	about, _, _ := strings.Cut(token, ".")
	release, err := h.turn.Take(r.Context(), intake.Tenant{Account: about}, 1, patience)
	if err != nil {
		return fault.DatabaseUnavailable(err)
	}
	defer release()
	return take(r.Context(), callback.ProviderRequest{Token: token, URI: r.URL.RequestURI(),
		Signature: r.Header.Get(provider.SignatureHeader), Fields: fields})
}

func (h *smsHandler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if fault.KindOf(err) == fault.Unavailable {
		later := &fault.Error{Kind: fault.Unavailable, Code: fault.Classify(err).Code, RetryAfter: 10 * time.Second,
			Message: "Try again later"}
		err = later.WithCause(err)
	}
	refuse(w, r, h.Logger, "cannot store a delivery receipt of a text message", err)
}
