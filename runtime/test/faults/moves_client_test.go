package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/test/faults"
)

// traveler is a client of an account that moves. It keeps its API key, repeats what a frozen account refuses, and
// continues at the base URL of the response after a move.
type traveler struct {
	all, scheduled *faults.Ledger
	key            string
	client         *http.Client

	runs, deferred, unknown, contradictions atomic.Int64

	mu      sync.Mutex
	baseURL string
	answers map[string]int // by status and error code; "" if there was no response
	next    int
	refused [2]time.Time // first and last 503 account_moving since the latest call of freeze
}

func newTraveler(baseURL, key string) *traveler {
	return &traveler{all: faults.NewLedger(), scheduled: faults.NewLedger(), key: key, baseURL: baseURL,
		answers: map[string]int{}, client: &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}}
}

// post sends one request. The status is 0 if there was no complete response.
func (c *traveler) post(path, body, idempotencyKey string) (status int, content []byte) {
	c.mu.Lock()
	base := c.baseURL
	c.mu.Unlock()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	if response, err := c.client.Do(request); err == nil {
		content, err = io.ReadAll(response.Body)
		if closing := response.Body.Close(); err == nil && closing == nil {
			status = response.StatusCode
		}
	}
	c.note(status, content)
	return status, content
}

// note counts a response, and follows the account.
func (c *traveler) note(status int, content []byte) {
	var failed struct {
		Error struct {
			Code    string
			Details struct {
				BaseURL string `json:"base_url"`
			}
		}
	}
	if status >= http.StatusMultipleChoices && json.Unmarshal(content, &failed) != nil {
		failed.Error.Code = fmt.Sprintf("%.80q", content)
	}
	what := ""
	if status != 0 {
		what = strings.TrimSpace(fmt.Sprint(status, " ", failed.Error.Code))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[what]++
	if what == "503 account_moving" {
		if c.refused[1] = time.Now(); c.refused[0].IsZero() {
			c.refused[0] = c.refused[1]
		}
	}
	if failed.Error.Code == "account_moved" {
		c.baseURL = failed.Error.Details.BaseURL
	}
}

// unwanted returns the responses that a client of a moving account should not get.
func (c *traveler) unwanted() (bad []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range c.answers {
		switch what {
		case "", "200", "202", "307 account_moved", "503 account_moving", "409 idempotency_in_progress":
		default:
			bad = append(bad, fmt.Sprintf("%d x %s", n, what))
		}
	}
	return bad
}

// freeze returns how long the account has refused requests since the latest call.
func (c *traveler) freeze() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := c.refused[1].Sub(c.refused[0])
	c.refused = [2]time.Time{}
	return took
}

func (c *traveler) count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[what]
}

// postUntilAccepted repeats a request with its key until it is accepted.
func (c *traveler) postUntilAccepted(t *testing.T, path, body, key string) []byte {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for t.Context().Err() == nil {
		status, content := c.post(path, body, key)
		if status/100 == 2 {
			return content
		}
		<-pause.C
	}
	return nil
}

func (c *traveler) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return fmt.Sprintf("t%d@example.net", c.next)
}

// travelersName matches the recipients of travelers, apart from those of a faults.Load.
var travelersName = regexp.MustCompile(`^(later|run)?t\d+@example\.net$`)

// travelersEmail is an email of the domain of the account.
func travelersEmail(to, more string) string {
	return fmt.Sprintf(`{"from":"ada@moving.test","to":%q,"subject":"s","text":"t"%s}`, to, more)
}

func receiptID(content []byte) string {
	var receipt struct{ ID string }
	if json.Unmarshal(content, &receipt) != nil {
		return ""
	}
	return receipt.ID
}

// sendOnce sends without a key. Without a response, the email may have been accepted: it need not arrive, but arrives
// at most once.
func (c *traveler) sendOnce(to string) {
	switch status, content := c.post("/api/emails", travelersEmail(to, ""), ""); {
	case status == http.StatusOK:
		c.all.Accept(faults.Accepted{EmailID: receiptID(content), Recipient: to})
	case status == 0 || status >= http.StatusInternalServerError && !strings.Contains(string(content), "account_moving"):
		c.unknown.Add(1)
	}
}

// sendKeyed repeats until the email is accepted, and then once more: its response is the same at both installations.
func (c *traveler) sendKeyed(t *testing.T, to, more string) faults.Accepted {
	body, key := travelersEmail(to, more), "key-"+to
	sent := faults.Accepted{EmailID: receiptID(c.postUntilAccepted(t, "/api/emails", body, key)), Recipient: to}
	if again := receiptID(c.postUntilAccepted(t, "/api/emails", body, key)); again != sent.EmailID {
		c.contradictions.Add(1)
	}
	c.all.Accept(sent)
	return sent
}

// work does the next of the tasks of a client.
func (c *traveler) work(t *testing.T, i int) {
	to := c.name()
	switch i % 8 {
	case 0:
		c.deferred.Add(1)
		c.sendKeyed(t, faults.Later+to, "")
	case 1:
		at := time.Now().Add(rand.N(lengthOf(8*time.Second, 20*time.Second))).UTC().Format(time.RFC3339Nano)
		c.scheduled.Accept(c.sendKeyed(t, to, fmt.Sprintf(`,"scheduled_at":%q`, at)))
	case 2:
		c.runs.Add(1)
		c.postUntilAccepted(t, "/api/events",
			fmt.Sprintf(`{"name":"start","user_id":%q,"email":%q}`, to, "run"+to), "run-"+to)
	case 3, 4:
		c.sendKeyed(t, to, "")
	default:
		c.sendOnce(to)
	}
}

// begin starts callers and returns a function that ends them.
func (c *traveler) begin(t *testing.T, callers int) (end func()) {
	stop := make(chan struct{})
	var working sync.WaitGroup
	for range callers {
		working.Go(func() {
			pace := time.NewTicker(250 * time.Millisecond)
			defer pace.Stop()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-pace.C:
					c.work(t, i)
				}
			}
		})
	}
	return sync.OnceFunc(func() {
		close(stop)
		working.Wait()
		c.client.CloseIdleConnections()
	})
}
