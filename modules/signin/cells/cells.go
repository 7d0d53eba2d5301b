// Package cells lets people reset their password at any cell, because they may not know which one has their account.
//
// Cells share no database and no list of people. A cell asks all others about an address that it does not know, and the
// one that knows it sends the email, whose link leads to its own base URL. Requests between cells are signed with a key
// that all cells have (POSTRIDER_CELLS_KEY).
//
//	browser ── reset ada@… ──► cell 0: queued, not known here
//	                             └── Ask (worker) ──► cell 7: knows the address, queues a link ──► email to ada@…
//	                                              └─► cell 9: does not know it
//
// A browser gets the same response in every case, before any cell is asked.
package cells

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// Path is where a cell is asked about addresses.
const Path = "/api/cells/password-resets"

const (
	// MaxEmails is the largest number of addresses in a request.
	MaxEmails = 100
	// MaxBody is the largest request in bytes.
	MaxBody = 64 << 10

	maxResponse = 64 << 10
	askPatience = 2 * time.Second  // for the response of a cell
	askPause    = 30 * time.Second // after a cell has not responded
	validFor    = 5 * time.Minute  // age of a request, either way
)

// request asks a cell to send reset links to those of the addresses that it knows.
type request struct {
	Emails []string  `json:"emails"`
	At     time.Time `json:"at"`
}

// response is the response to a request.
type response struct {
	Known []string `json:"known"`
}

// ConfigOf returns the configuration from the installation's settings.
func ConfigOf(v setting.Values) (Config, error) {
	keys := config.CellsKey.Get(v)
	if len(keys) == 0 {
		return Config{}, nil
	}
	box, err := secret.NewBox(keys...)
	if err != nil {
		return Config{}, err
	}
	own := config.BaseURL.Get(v)
	return Config{Keys: box.DeriveEach("requests between cells"), Others: slices.DeleteFunc(slices.Clone(config.Cells.Get(v)),
		func(cell string) bool { return cell == own })}, nil
}

// Config configures the cells.
type Config struct {
	Others []string // base URLs
	Keys   [][]byte // the first signs requests; none: this cell neither asks nor answers
}

// Cells asks the other cells. It is safe for concurrent use.
type Cells struct {
	config Config
	client *http.Client

	mu     sync.Mutex
	paused map[string]time.Time // until when cells that did not respond are not asked, by base URL
}

// New returns the other cells.
func New(c Config) *Cells {
	return &Cells{config: c, paused: map[string]time.Time{}, client: &http.Client{Timeout: askPatience,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
			ForceAttemptHTTP2: true},
		// A redirect would send a signed request to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Exist reports whether there are other cells.
func (c *Cells) Exist() bool { return len(c.config.Others) > 0 && len(c.config.Keys) > 0 }

// Ask asks all other cells to send reset links to those of at most MaxEmails addresses that they know. It returns the
// addresses that none of them knows although a cell has not responded, which the caller may ask about again. A cell
// that has not responded is not asked for a while. The error is about cells that were asked.
func (c *Cells) Ask(ctx context.Context, emails []string) (unsettled []string, err error) {
	body, err := json.Marshal(request{Emails: emails, At: time.Now()})
	if err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	var paused bool
	known, failed := make([][]string, len(c.config.Others)), make([]error, len(c.config.Others))
	for i, cell := range c.config.Others {
		if c.isPaused(cell) {
			paused = true
			continue
		}
		wait.Go(func() {
			if known[i], failed[i] = c.ask(ctx, cell, body); failed[i] != nil {
				c.pause(cell)
			}
		})
	}
	wait.Wait()
	err = errors.Join(failed...)
	if err == nil && !paused {
		return nil, nil
	}
	found := slices.Concat(known...)
	return slices.DeleteFunc(slices.Clone(emails), func(email string) bool { return slices.Contains(found, email) }), err
}

func (c *Cells) pause(cell string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused[cell] = time.Now().Add(askPause)
}

func (c *Cells) isPaused(cell string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.paused[cell])
}

func (c *Cells) ask(ctx context.Context, cell string, body []byte) (known []string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, cell+Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(origins.SignatureHeader, origins.Sign(c.config.Keys[0], body))
	got, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(got.Body, maxResponse))
	if err = errors.Join(err, got.Body.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", cell, err)
	}
	if got.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s responded to a request about password resets with status %d", cell, got.StatusCode)
	}
	var answer response
	if err := json.Unmarshal(content, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", cell, err)
	}
	return answer.Known, nil
}

// Respond returns the response to a request of another cell. send queues links for those of the addresses that it
// knows, and returns these. Errors: NotFound without a key; Invalid; those of send.
func (c *Cells) Respond(ctx context.Context, body []byte, signature string,
	send func(ctx context.Context, emails []string) ([]string, error)) ([]byte, error) {
	if len(c.config.Keys) == 0 {
		return nil, fault.NoSuch("cell", "")
	}
	if !origins.Verify(c.config.Keys, body, signature) {
		return nil, fault.Invalidf("The signature is not that of a cell: POSTRIDER_CELLS_KEY must be the same in all cells")
	}
	var asked request
	if json.Unmarshal(body, &asked) != nil || len(asked.Emails) == 0 || len(asked.Emails) > MaxEmails {
		return nil, fault.Invalidf("The body must be a request about 1 to %d addresses", MaxEmails)
	}
	if age := time.Since(asked.At).Abs(); age > validFor {
		return nil, fault.Invalidf("The time of the request differs by %s: set the clocks of the cells", age.Round(time.Second))
	}
	known, err := send(ctx, asked.Emails)
	if err != nil {
		return nil, err
	}
	return json.Marshal(response{Known: known})
}
