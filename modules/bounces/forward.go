package bounces

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
)

// Reports about an account that has moved are forwarded to the installation that has it. It accepts them if it knows
// the master key of this one, with which the requests are signed, and finds the recipient by address, because its ids
// differ.
const (
	// ForwardPath is where an installation receives reports from those that accounts have moved from.
	ForwardPath = "/api/moves/reports"
	// SignatureHeader contains the HMAC-SHA256 of the body.
	SignatureHeader = "Postrider-Signature"
	// MaxForwarded is the maximum size of the body in bytes.
	MaxForwarded = 2*maxRead + 4<<10

	forwardPatience = 30 * time.Second
)

// ErrMoving is the error for a report about an account that is being moved.
var ErrMoving = errors.New("the account of the return path is being moved")

// forwarded is the body of a request to ForwardPath.
type forwarded struct {
	EmailID    string     `json:"email_id"`
	Recipient  string     `json:"recipient"`
	RemoteAddr netip.Addr `json:"remote_addr"`
	Report     []byte     `json:"report"` // what Receive has examined
}

// forwarder signs, sends and verifies forwarded reports.
type forwarder struct {
	keys   [][]byte // the first signs, all verify
	client *http.Client
}

func newForwarder(box *secret.Box) forwarder {
	return forwarder{box.DeriveEach("forwarded report"), &http.Client{Timeout: forwardPatience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func sign(key, body []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// send returns when the other installation has stored the report. Errors other than ErrGone are temporary.
func (f forwarder) send(ctx context.Context, baseURL string, report forwarded) error {
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+ForwardPath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(SignatureHeader, sign(f.keys[0], body))
	response, err := f.client.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	switch response.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusNotFound:
		return ErrGone
	}
	return fmt.Errorf("%s responded with status %d to a report", baseURL, response.StatusCode)
}

func (f forwarder) verify(body []byte, signature string) bool {
	genuine := false
	for _, key := range f.keys {
		genuine = hmac.Equal([]byte(sign(key, body)), []byte(signature)) || genuine
	}
	return genuine
}

// residence returns where an account is.
func (s *Service) residence(ctx context.Context, accountID string) (accounts.Residence, error) {
	if id.IsTestTenant(accountID) { // test data does not move
		return accounts.Residence{}, nil
	}
	found, err := s.accounts.Account(ctx, accountID)
	if fault.KindOf(err) == fault.NotFound {
		return accounts.Residence{}, nil
	}
	return found.Residence, err
}

// handOver forwards a report if its account has moved, and reports whether it did. Error: ErrMoving, ErrGone.
func (s *Service) handOver(ctx context.Context, about records.Addressee, emailID string, remote netip.Addr,
	report []byte) (bool, error) {
	at, err := s.residence(ctx, about.AccountID)
	switch {
	case err != nil:
		return false, err
	case at.Frozen:
		return false, ErrMoving
	case at.MovedTo == "":
		return false, nil
	}
	return true, s.forward.send(ctx, at.MovedTo, forwarded{emailID, about.Address, remote, report})
}

// ReceiveForwarded stores a report that another installation has forwarded, as Receive does. Errors: Invalid, also if
// the signature is not that of a master key of this installation; NotFound; Unavailable.
func (s *Service) ReceiveForwarded(ctx context.Context, body []byte, signature string) error {
	if !s.forward.verify(body, signature) {
		return fault.Invalidf("The signature of the report is not genuine")
	}
	var got forwarded
	if json.Unmarshal(body, &got) != nil {
		return fault.Invalidf("The body must be a forwarded report")
	}
	recipientID, known, err := s.mail.RecipientAt(ctx, got.EmailID, got.Recipient)
	if err == nil && !known {
		err = ErrGone
	}
	if err == nil {
		err = s.store(ctx, Mark{EmailID: got.EmailID, RecipientID: recipientID}, got.RemoteAddr, got.Report)
	}
	switch {
	case errors.Is(err, ErrGone):
		return fault.NoSuch("email", got.EmailID)
	case err != nil:
		return fault.DatabaseUnavailable(err)
	}
	return nil
}
