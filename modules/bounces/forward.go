package bounces

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// Reports about an account that has moved are forwarded to the installation that has it, signed with the key of the
// move. It finds the recipient by address, because its ids differ.
const (
	// ForwardPath is where an installation receives reports from those that accounts have moved from.
	ForwardPath = "/api/moves/reports"
	// MaxForwarded is the maximum size of the body in bytes.
	MaxForwarded = 2*maxRead + 4<<10

	forwardPatience = 30 * time.Second
	forwardPurpose  = "forwarded report"
	maxHops         = 4 // installations that forward a report
)

// ErrMoving is the error for a report about an account that is being moved.
var ErrMoving = errors.New("the account of the return path is being moved")

// forwarded is the body of a request to ForwardPath.
type forwarded struct {
	AccountID  string     `json:"account_id"`
	EmailID    string     `json:"email_id"`
	Recipient  string     `json:"recipient"`
	RemoteAddr netip.Addr `json:"remote_addr"`
	Report     []byte     `json:"report"` // what Receive has examined
	Hops       int        `json:"hops"`   // installations that have forwarded it
}

func newForwardClient() *http.Client {
	return &http.Client{Timeout: forwardPatience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send returns when the other installation has stored the report. Errors other than ErrGone are temporary.
func (s *Service) send(ctx context.Context, baseURL string, report forwarded) error {
	key, err := s.origins.DeriveLatest(ctx, report.AccountID, forwardPurpose)
	if err == nil && key == nil {
		err = errors.New("the account has moved without a key")
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+ForwardPath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(origins.SignatureHeader, origins.Sign(key, body))
	response, err := s.client.Do(request)
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
func (s *Service) handOver(ctx context.Context, about records.Addressee, a received) (bool, error) {
	at, err := s.residence(ctx, about.AccountID)
	switch {
	case err != nil:
		return false, err
	case at.Frozen:
		return false, ErrMoving
	case at.MovedTo == "":
		return false, nil
	}
	return true, s.send(ctx, at.MovedTo, forwarded{about.AccountID, a.mark.EmailID, about.Address, a.remote, a.text,
		a.hops + 1})
}

// ReceiveForwarded stores a report that another installation has forwarded, as Receive does. Errors: Invalid, also if
// the report is not signed with the key of a move of its account; NotFound; Unavailable.
func (s *Service) ReceiveForwarded(ctx context.Context, body []byte, signature string) error {
	var got forwarded
	if json.Unmarshal(body, &got) != nil {
		return fault.Invalidf("The body must be a forwarded report")
	}
	keys, err := s.origins.DeriveEach(ctx, got.AccountID, forwardPurpose)
	switch {
	case err != nil:
		return fault.DatabaseUnavailable(err)
	case !origins.Verify(keys, body, signature):
		return fault.Invalidf("The signature of the report is not genuine")
	case got.Hops > maxHops:
		return fault.Invalidf("The installations of the account forward to each other")
	}
	recipientID, known, err := s.mail.RecipientAt(ctx, got.AccountID, got.EmailID, got.Recipient)
	if err == nil && !known {
		err = ErrGone
	}
	if err == nil {
		err = s.store(ctx, received{Mark{EmailID: got.EmailID, RecipientID: recipientID}, got.RemoteAddr, got.Report,
			got.Hops})
	}
	switch {
	case errors.Is(err, ErrGone):
		return fault.NoSuch("email", got.EmailID)
	case err != nil:
		return fault.DatabaseUnavailable(err)
	}
	return nil
}
