package moves

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer"
)

// Path is where an installation receives accounts: PUT imports a file, GET returns the status of an account, and POST
// starts a copy.
const Path = "/api/operator/moves"

// SecretHeader contains the one-time key of the file in a PUT.
const SecretHeader = "Postrider-One-Time-Key"

// StatusBody is the response to PUT and GET.
type StatusBody struct {
	AccountID string         `json:"account_id"`
	State     transfer.State `json:"state"`
	MoveID    string         `json:"move_id"`
}

// StartBody is the request of POST.
type StartBody struct {
	AccountID string `json:"account_id"`
	Code      string `json:"code"`
}

// Remote is a target that is reached over HTTP with one of its operator keys.
type Remote struct {
	baseURL string
	key     secret.String
	plan    string
	client  *http.Client
}

var _ Target = (*Remote)(nil)

// NewRemote returns the target with a base URL. plan is the plan of the account there; "" keeps the ID of its own.
// Error: Invalid.
func NewRemote(baseURL string, key secret.String, plan string) (*Remote, error) {
	baseURL, err := CheckBaseURL(baseURL)
	if err != nil {
		return nil, err
	}
	return &Remote{baseURL, key, plan, &http.Client{
		// The import ends some time after the last byte of the file. A redirect would send the key to another host.
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: askPatience, MaxIdleConns: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the target redirects: use its base URL")
		},
	}}, nil
}

// BaseURL implements Target.
func (r *Remote) BaseURL() string { return r.baseURL }

// Import implements Target.
func (r *Remote) Import(ctx context.Context, file io.Reader, oneTime secret.Key) (moveID string, err error) {
	var got StatusBody
	err = r.do(ctx, http.MethodPut, url.Values{"plan": {r.plan}}, http.Header{"Content-Type": {"application/zstd"},
		SecretHeader: {oneTime.Setting().Reveal()}}, file, &got)
	return got.MoveID, err
}

// Status implements Target.
func (r *Remote) Status(ctx context.Context, accountID string) (MoveStatus, error) {
	var got StatusBody
	err := r.do(ctx, http.MethodGet, url.Values{"account_id": {accountID}}, nil, nil, &got)
	return MoveStatus{got.State, got.MoveID}, err
}

// Start implements Target.
func (r *Remote) Start(ctx context.Context, accountID, code string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	body, err := json.Marshal(StartBody{accountID, code})
	if err != nil {
		return err
	}
	return r.do(ctx, http.MethodPost, nil, http.Header{"Content-Type": {"application/json"}},
		bytes.NewReader(body), &StatusBody{})
}

const maxResponse = 1 << 20 // bytes

func (r *Remote) do(ctx context.Context, method string, query url.Values, header http.Header, body io.Reader,
	into any) error {
	request, err := http.NewRequestWithContext(ctx, method, r.baseURL+Path+"?"+query.Encode(), body)
	if err != nil {
		return err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Authorization", "Bearer "+r.key.Reveal())
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return refusalOf(response.StatusCode, content)
	}
	return json.Unmarshal(content, into)
}

var kindOf = map[int]fault.Kind{http.StatusBadRequest: fault.Invalid, http.StatusUnauthorized: fault.Unauthorized,
	http.StatusForbidden: fault.Forbidden, http.StatusNotFound: fault.NotFound, http.StatusConflict: fault.Conflict}

// refusalOf returns the error of a response.
func refusalOf(status int, content []byte) error {
	var refused struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	kind, known := kindOf[status]
	if json.Unmarshal(content, &refused) != nil || refused.Error.Message == "" || !known {
		return fmt.Errorf("the target responded with status %d: %.200q", status, content)
	}
	return &fault.Error{Kind: kind, Code: refused.Error.Code, Message: refused.Error.Message}
}
