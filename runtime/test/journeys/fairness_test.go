package journeys_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A contest measures an honest user alone and during an attack, alternately, so that other load on the
// machine affects both. Tests with a contest are not parallel to others of this package.
type contest struct {
	name   string
	honest func() error    // one use; returns an error if rejected
	attack func(a *attack) // starts it
}

const (
	contestRounds = 5
	contestUses   = 12 // uses in half a round
)

// strict is set by `make fair`, which runs alone and applies the ratio. Otherwise the machine has other work
// too, and the test only detects waiting for an absent client: it takes half a minute, or ends in a
// rejection.
var strict = os.Getenv("POSTRIDER_FAIR") == "strict"

// run requires that no use is rejected, and that the honest user's worst times during the attack (the median
// of each round's worst) are at most twice those alone.
func (c contest) run(t *testing.T) {
	t.Helper()
	var alone, beside []time.Duration
	half := func(times *[]time.Duration, when string) bool {
		var worst time.Duration
		for i := range contestUses {
			began := time.Now()
			if err := c.honest(); err != nil {
				t.Errorf("%s: use %d %s the attack was rejected after %s: %v", c.name, i+1, when, time.Since(began).
					Round(time.Millisecond), err)
				return false
			}
			worst = max(worst, time.Since(began))
		}
		*times = append(*times, worst)
		return true
	}
	for range contestRounds {
		if !half(&alone, "without") {
			return
		}
		a := &attack{t: t, over: make(chan struct{}), pause: 50 * time.Millisecond}
		c.attack(a)
		fine := half(&beside, "beside")
		a.stop()
		if !fine {
			return
		}
	}
	limit := max(2*median(alone), contestNoise)
	if !strict {
		limit = max(limit, 5*time.Second)
	}
	t.Logf("%s: worst of %d uses, alone %v, during the attack %v", c.name, contestUses, alone, beside)
	if got := median(beside); got > limit {
		t.Errorf("%s: during the attack the worst of %d uses took %s, alone %s; want at most %s", c.name, contestUses,
			got, median(alone), limit)
	}
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// attack keeps harmful connections open, and reopens each when it ends.
type attack struct {
	t       *testing.T
	over    chan struct{}
	pause   time.Duration // before a connection is reopened
	idle    bool          // nothing more is read after the start of a connection
	mu      sync.Mutex
	open    map[net.Conn]bool
	running sync.WaitGroup
}

// keep opens a connection with begin, waits for its end, and repeats this. It returns once the first one has
// started.
func (a *attack) keep(addr string, begin func(c net.Conn) error) {
	a.t.Helper()
	begun := make(chan struct{})
	first := sync.OnceFunc(func() { close(begun) })
	a.running.Go(func() {
		defer first()
		for {
			c, err := net.DialTimeout("tcp", addr, expect.Patience)
			if err != nil || !a.enter(c) {
				return
			}
			err = begin(c)
			first()
			switch {
			case err == nil && a.idle:
				<-a.over
			case err == nil:
				io.Copy(io.Discard, c) // until the server closes it
			}
			a.leave(c)
			select {
			case <-a.over:
				return
			case <-time.After(a.pause):
			}
		}
	})
	<-begun
}

func (a *attack) enter(c net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.over:
		c.Close()
		return false
	default:
	}
	if a.open == nil {
		a.open = map[net.Conn]bool{}
	}
	a.open[c] = true
	return true
}

func (a *attack) leave(c net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.Close()
	delete(a.open, c)
}

func (a *attack) stop() {
	a.mu.Lock()
	close(a.over)
	for c := range a.open {
		c.Close()
	}
	a.mu.Unlock()
	a.running.Wait()
}

// incompleteRequest sends a request with its key whose body is incomplete.
func incompleteRequest(app *harness.App, length int, body string) func(net.Conn) error {
	return func(c net.Conn) error {
		_, err := fmt.Fprintf(c,
			"POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", app.APIKey, length, body)
		return err
	}
}

func hostOfApp(app *harness.App) string { return strings.TrimPrefix(app.BaseURL, "http://") }

// newSender is one send by the honest user, with a body of this many bytes.
func newSender(t *testing.T, app *harness.App, from string, octets int) func() error {
	body := fmt.Appendf(nil, `{"from":%q,"to":"bob@example.net","subject":"s","text":%q}`, from,
		strings.Repeat("x", max(octets-80, 1)))
	if octets > 4<<20 {
		t.Fatal("a text has 5 MB at most")
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}, Timeout: time.Minute}
	t.Cleanup(client.CloseIdleConnections)
	return func() error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, app.BaseURL+"/api/emails",
			bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+app.APIKey)
		r.Header.Set("Content-Type", "application/json")
		return requireOK(client, r)
	}
}

func requireOK(client *http.Client, r *http.Request) error {
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %.200s", response.Status, said)
	}
	return err
}

// readReply reads an SMTP reply.
func readReply(r *bufio.Reader) (string, error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil || len(line) < 4 || line[3] != '-' {
			return strings.TrimSpace(line), err
		}
	}
}

// runDialogue sends lines and expects the code before each as the reply.
func runDialogue(c net.Conn, r *bufio.Reader, steps ...string) error {
	for _, step := range steps {
		code, line, _ := strings.Cut(step, " ")
		if line != "" {
			if _, err := io.WriteString(c, line); err != nil {
				return err
			}
		}
		if got, err := readReply(r); err != nil || !strings.HasPrefix(got, code) {
			return fmt.Errorf("after %.30q: %q %w", line, got, err)
		}
	}
	return nil
}
