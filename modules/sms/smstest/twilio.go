package smstest

import (
	"crypto/hmac"
	"crypto/sha1" // Twilio signs with HMAC-SHA1
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strings"
	"sync"
	"testing"
)

// The only account of the fake.
const (
	SID   = "ACaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	Token = "0123456789abcdef0123456789abcdef"
)

// Numbers with special behavior.
const (
	Unsubscribed = "+15005550009" // has replied STOP
	Invalid      = "+15005550001" // is invalid
)

// Message is a message that the fake has accepted.
type Message struct {
	SID                         string
	To, From, Body, CallbackURL string
	Service                     string // MessagingServiceSid
	IdempotencyKey              string
}

// Twilio is a fake of Twilio. Create it with NewTwilio.
type Twilio struct {
	*httptest.Server

	mu       sync.Mutex
	messages []Message
	asked    int
	answer   func(n int, w http.ResponseWriter, r *http.Request) bool
}

// NewTwilio starts a fake that stops at the end of the test.
func NewTwilio(t testing.TB) *Twilio {
	t.Helper()
	d := &Twilio{}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// Answer sets a function that is called first with the number of the request, counting from 1. It returns true
// if it has written the response. If the message is accepted, the function is called after that.
func (d *Twilio) Answer(f func(n int, w http.ResponseWriter, r *http.Request) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = f
}

// Messages returns the accepted messages in order.
func (d *Twilio) Messages() []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Message{}, d.messages...)
}

// Asked returns the number of requests.
func (d *Twilio) Asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

// ServeHTTP implements http.Handler.
func (d *Twilio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.asked++
	n, answer := d.asked, d.answer
	d.mu.Unlock()
	if answer != nil && answer(n, w, r) {
		return
	}
	user, password, given := r.BasicAuth()
	switch {
	case !given || user != SID || password != Token:
		writeError(w, http.StatusUnauthorized, 20003, "Authenticate")
		return
	case r.URL.Path != "/2010-04-01/Accounts/"+SID+"/Messages.json":
		writeError(w, http.StatusNotFound, 20404, "The requested resource "+r.URL.Path+" was not found")
		return
	case r.Method != http.MethodPost:
		writeError(w, http.StatusMethodNotAllowed, 20004, "Method not allowed")
		return
	case r.ParseForm() != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		writeError(w, http.StatusBadRequest, 20001, "Bad Request")
		return
	}
	form := r.PostForm
	switch to := form.Get("To"); {
	case form.Get("Body") == "":
		writeError(w, http.StatusBadRequest, 21602, "Message body is required.")
	case form.Get("From") == "" && form.Get("MessagingServiceSid") == "":
		writeError(w, http.StatusBadRequest, 21603, "A 'From' phone number is required.")
	case to == Unsubscribed:
		writeError(w, http.StatusBadRequest, 21610, "Attempt to send to unsubscribed recipient")
	case to == Invalid || !strings.HasPrefix(to, "+"):
		writeError(w, http.StatusBadRequest, 21211, fmt.Sprintf("Invalid 'To' Phone Number: %s", to))
	default:
		m := d.Take(r)
		writeJSON(w, http.StatusCreated, map[string]any{"sid": m.SID, "status": "queued", "to": to, "from": form.Get("From"),
			"body": form.Get("Body"), "error_code": nil, "error_message": nil,
			"num_segments": "1", "account_sid": SID})
	}
}

// Take stores the message of a request.
func (d *Twilio) Take(r *http.Request) Message {
	_ = r.ParseForm()
	d.mu.Lock()
	defer d.mu.Unlock()
	m := Message{SID: fmt.Sprintf("SM%032d", len(d.messages)+1), To: r.PostForm.Get("To"), From: r.PostForm.Get("From"),
		Body:        r.PostForm.Get("Body"),
		CallbackURL: r.PostForm.Get("StatusCallback"), Service: r.PostForm.Get("MessagingServiceSid"),
		IdempotencyKey: r.Header.Get("Idempotency-Key")}
	d.messages = append(d.messages, m)
	return m
}

func writeError(w http.ResponseWriter, status, code int, message string) {
	writeJSON(w, status, map[string]any{"code": code, "message": message,
		"more_info": fmt.Sprintf("https://www.twilio.com/docs/errors/%d", code), "status": status})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client disconnected
}

// Callback returns the form and the signature of a status callback for a message.
func (m Message) Callback(status, errorCode string) (form url.Values, signature string) {
	form = url.Values{"MessageSid": {m.SID}, "MessageStatus": {status}, "To": {m.To}, "From": {m.From},
		"AccountSid": {SID}, "ApiVersion": {"2010-04-01"}}
	if errorCode != "" {
		form.Set("ErrorCode", errorCode)
	}
	return form, Signature(m.CallbackURL, form)
}

// Signature signs as Twilio documents it: HMAC-SHA1 with the token over the URL and the names and values of the
// fields, sorted by name, in base64.
func Signature(target string, form url.Values) string {
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	sort.Strings(names)
	mac := hmac.New(sha1.New, []byte(Token))
	_, _ = mac.Write([]byte(target))
	for _, name := range names {
		_, _ = mac.Write([]byte(name + form.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
