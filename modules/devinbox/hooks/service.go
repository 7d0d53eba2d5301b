package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

// Path is the path of receivers under the base URL: Path/<account>/<token>.
const Path = "/dev/webhooks/in"

// MaxBody is the maximum size of a body, in bytes.
const MaxBody = 1 << 20

// Config configures the receivers.
type Config struct {
	BaseURL string // base URL at which this process can reach itself
}

// Signatures finds the secret that signed a request.
type Signatures interface {
	// SignedBy returns the id of the account's endpoint at a path whose secret signed the body.
	SignedBy(ctx context.Context, accountID, path, signature string, body []byte) (string, error)
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config     Config
	Box        *secret.Box
	Signatures Signatures // nil if no webhooks are sent
	Logger     *slog.Logger
}

// Service contains the receivers and their requests. It is safe for concurrent use.
type Service struct {
	config     Config
	keys       [][]byte
	signatures Signatures
	log        *slog.Logger

	drained  sync.Once
	draining chan struct{} // closed when waits must end

	mu      sync.Mutex
	held    held
	answers map[string]int // by account; default: 200
	arrived chan struct{}  // closed by the next request
}

// New returns a new Service.
func New(p Params) *Service {
	return &Service{config: p.Config, keys: p.Box.DeriveEach("webhook receiver of development mode"),
		signatures: p.Signatures, log: p.Logger,
		draining: make(chan struct{}), answers: map[string]int{}, arrived: make(chan struct{})}
}

// URL returns the URL of an account's receiver. It is stable across restarts and cannot be guessed.
func (s *Service) URL(accountID string) string {
	return s.config.BaseURL + pathOf(accountID, receiverToken(s.keys[0], accountID))
}

func pathOf(accountID, token string) string { return Path + "/" + accountID + "/" + token }

func receiverToken(key []byte, accountID string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(accountID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// Received is an incoming request.
type Received struct {
	AccountID string
	Token     string // token in the URL
	Header    http.Header
	Body      []byte
}

// Receive stores a request and returns the status to respond with. Error: NotFound if the URL belongs to no
// account.
func (s *Service) Receive(ctx context.Context, in Received) (int, error) {
	if !s.isValidToken(in) {
		return 0, fault.NoSuch("receiver", in.AccountID)
	}
	r := newRequest(in, time.Now())
	r.WebhookID, r.Unsigned = s.signer(ctx, in)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Status = s.responseStatus(in.AccountID)
	s.held.add(r)
	close(s.arrived)
	s.arrived = make(chan struct{})
	return r.Status, nil
}

func (s *Service) isValidToken(in Received) bool {
	for _, key := range s.keys {
		if hmac.Equal([]byte(receiverToken(key, in.AccountID)), []byte(in.Token)) {
			return true
		}
	}
	return false
}

// responseStatus returns the response status configured by the account. The caller must hold mu.
func (s *Service) responseStatus(accountID string) int {
	if status := s.answers[accountID]; status != 0 {
		return status
	}
	return http.StatusOK
}

// AnswerWith sets the response status of an account's receiver. Error: Invalid.
func (s *Service) AnswerWith(accountID string, status int) error {
	if status < 200 || status > 599 || status >= 300 && status < 400 {
		return fault.InvalidField("status", "must be a status from 200 to 299 or from 400 to 599")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.answers, accountID); status != http.StatusOK {
		s.answers[accountID] = status
	}
	return nil
}

// Clear deletes the requests of an account.
func (s *Service) Clear(accountID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held.drop(func(r *CapturedRequest) bool { return r.AccountID == accountID })
}

// MaxWait limits how long List waits; MaxLimit and DefaultLimit limit how many requests it returns.
const (
	MaxWait      = time.Minute
	MaxLimit     = Keep
	DefaultLimit = 50
)

// RequestQuery selects requests of an account, newest first.
type RequestQuery struct {
	After int64         // only requests with a higher number
	Type  string        // type of the event; empty means all
	Limit int           // 1 to MaxLimit; 0: DefaultLimit
	Wait  time.Duration // how long to wait if there is no request, 0 to MaxWait
}

// validate reports every invalid field and sets the defaults.
func (q *RequestQuery) validate() error {
	wrong := fault.Fields{}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	if q.After < 0 {
		wrong.Add("after", "must be the number of a request, or 0")
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		wrong.Add("limit", "must be between 1 and %d", MaxLimit)
	}
	if len(q.Type) > maxType || strings.ContainsFunc(q.Type, func(r rune) bool { return r < ' ' }) {
		wrong.Add("type", "must be the type of an event")
	}
	if q.Wait < 0 || q.Wait > MaxWait {
		wrong.Add("wait", "must be between 0s and %.0fs", MaxWait.Seconds())
	}
	return wrong.Err()
}

const maxType = 200 // bytes

// ReceiverState is the configuration of a receiver with a page of its requests.
type ReceiverState struct {
	URL      string
	Answer   int // the status that it responds with
	Requests []*CapturedRequest
	HasMore  bool
}

// List returns the requests of an account's receiver. If there are none, it waits for one, and returns an
// empty list after the wait. Errors: Invalid; Unavailable if the service stops meanwhile; that of ctx.
func (s *Service) List(ctx context.Context, accountID string, q RequestQuery) (ReceiverState, error) {
	if err := q.validate(); err != nil {
		return ReceiverState{}, err
	}
	over := time.NewTimer(q.Wait)
	defer over.Stop()
	for {
		out, next := s.receiverState(accountID, q)
		if len(out.Requests) > 0 || q.Wait == 0 {
			return out, nil
		}
		select {
		case <-next:
		case <-over.C:
			return out, nil
		case <-s.draining:
			return ReceiverState{}, &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable,
				RetryAfter: time.Second,
				Message:    "The service is stopping"}
		case <-ctx.Done():
			return ReceiverState{}, ctx.Err()
		}
	}
}

// receiverState returns the current state, and a channel that the next request closes.
func (s *Service) receiverState(accountID string, q RequestQuery) (ReceiverState, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := ReceiverState{URL: s.URL(accountID), Answer: s.responseStatus(accountID)}
	for _, r := range s.held.newest() {
		switch {
		case r.AccountID != accountID, r.Number <= q.After, q.Type != "" && r.EventType != q.Type:
		case len(out.Requests) == q.Limit:
			out.HasMore = true
			return out, s.arrived
		default:
			out.Requests = append(out.Requests, r)
		}
	}
	return out, s.arrived
}

// Drain ends all waiting calls of List.
func (s *Service) Drain() { s.drained.Do(func() { close(s.draining) }) }
