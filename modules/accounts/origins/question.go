package origins

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

// Path is where an installation answers questions about what it has signed.
const Path = "/api/moves/questions"

// SignatureHeader contains the HMAC-SHA256 of the body of a request between installations.
const SignatureHeader = "Postrider-Signature"

// MaxQuestion is the maximum size of a question in bytes.
const MaxQuestion = 16 << 10

const (
	questionPurpose = "questions about links"
	maxAnswer       = 4 << 10
	// atOnce limits the concurrent questions. One account can use a quarter of them, because strangers can cause
	// questions by forged links.
	atOnce      = 64
	patience    = 2 * time.Second // for a turn
	askPatience = 5 * time.Second // for the response of an installation
)

// TokenKind is the kind of a token.
type TokenKind string

// The kinds.
const (
	TrackedLink     TokenKind = "tracked_link"
	UnsubscribeLink TokenKind = "unsubscribe_link"
	ReturnPath      TokenKind = "return_path"
)

// TokenQuestion asks whether an earlier installation of an account has issued a token.
type TokenQuestion struct {
	AccountID string    `json:"account_id"`
	Kind      TokenKind `json:"kind"`
	Token     string    `json:"token"`          // of a return path: the address
	Host      string    `json:"host,omitempty"` // for which a tracked link is valid; "" for the base URL
}

// Answer is about a genuine token. Links contain all that is known about them.
type Answer struct {
	Recipient string `json:"recipient,omitempty"` // address of the recipient of a return path
}

// ErrUnknown means that no installation that was asked has issued the token for the account.
var ErrUnknown = errors.New("no earlier installation of the account has issued the token")

// newClient returns the client for questions. Questions are not redirected: their signature is for one installation.
func newClient() *http.Client {
	return &http.Client{Timeout: askPatience, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
		MaxIdleConnsPerHost: atOnce / 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Ask asks the earlier installations of an account about a token. Errors other than ErrUnknown are temporary.
func (s *Service) Ask(ctx context.Context, q TokenQuestion) (Answer, error) {
	list, err := s.listOf(ctx, q.AccountID)
	if err != nil || len(list) == 0 {
		return Answer{}, cmp.Or(err, ErrUnknown)
	}
	body, err := json.Marshal(q)
	if err != nil {
		return Answer{}, err
	}
	release, err := s.turn.Take(ctx, intake.Tenant{Account: q.AccountID}, 1, patience)
	if err != nil {
		return Answer{}, err
	}
	defer release()
	var failed error
	for _, from := range list {
		if from.baseURL == s.baseURL {
			continue
		}
		answer, err := s.ask(ctx, from, body)
		if err == nil {
			return answer, nil
		}
		if !errors.Is(err, ErrUnknown) {
			failed = errors.Join(failed, err)
		}
	}
	return Answer{}, cmp.Or(failed, ErrUnknown)
}

func (s *Service) ask(ctx context.Context, from installation, body []byte) (answer Answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, from.baseURL+Path, bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(SignatureHeader, Sign(from.keys.Derive(questionPurpose), body))
	response, err := s.client.Do(request)
	if err != nil {
		return answer, err
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return answer, err
	}
	switch response.StatusCode {
	case http.StatusOK:
		return answer, json.Unmarshal(content, &answer)
	case http.StatusNotFound, http.StatusBadRequest: // it no longer has the account, or only another move of it
		return answer, ErrUnknown
	}
	return answer, fmt.Errorf("%s responded with status %d to a question", from.baseURL, response.StatusCode)
}

// Witness verifies a token with the keys of this installation. Errors: ErrUnknown; others are temporary.
type Witness func(ctx context.Context, q TokenQuestion) (Answer, error)

// Desk answers the questions of later installations.
type Desk struct {
	Origins   *Service
	Witnesses map[TokenKind]Witness
}

// Respond returns the response to a question. Errors: Invalid, also if the question is not signed with the key of a
// move of the account; NotFound; Unavailable.
func (d *Desk) Respond(ctx context.Context, body []byte, signature string) ([]byte, error) {
	var q TokenQuestion
	if json.Unmarshal(body, &q) != nil {
		return nil, fault.Invalidf("The body must be a question")
	}
	keys, err := d.Origins.DeriveEach(ctx, q.AccountID, questionPurpose)
	if err != nil {
		return nil, fault.DatabaseUnavailable(err)
	}
	if !Verify(keys, body, signature) {
		return nil, fault.Invalidf("The signature of the question is not genuine")
	}
	answer, err := Answer{}, ErrUnknown
	if witness := d.Witnesses[q.Kind]; witness != nil {
		answer, err = witness(ctx, q)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		return nil, fault.NoSuch("link", "")
	case err != nil:
		return nil, fault.DatabaseUnavailable(err)
	}
	return json.Marshal(answer)
}

// Sign returns the signature of the body of a request between installations.
func Sign(key, body []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// Verify reports whether any key has signed a body. It tries all keys, in constant time.
func Verify(keys [][]byte, body []byte, signature string) bool {
	genuine := false
	for _, key := range keys {
		genuine = hmac.Equal([]byte(Sign(key, body)), []byte(signature)) || genuine
	}
	return genuine
}
