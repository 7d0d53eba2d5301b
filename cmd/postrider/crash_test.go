package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
)

// Every message that got a 200 response before kill -9 is delivered after the next start. Only a message
// whose attempt was interrupted, and is recorded as unknown, may arrive twice.
func TestKillUnderLoadLosesNothingAccepted(t *testing.T) {
	t.Parallel()
	mx := smtptest.New(t, smtptest.Config{})
	const onTheWire = 20 // arrived at the receiving server, which never replies
	mx.On(smtptest.Dot, "", slices.Repeat([]smtptest.Action{smtptest.Stall()}, onTheWire)...)
	outbound := fmt.Sprintf("--outbound=smtp://%s:%d", mx.Host(), mx.Port())
	data := t.TempDir()
	first := launchProcess(t, data, outbound)
	load := startLoad(t, first)
	expect.Eventually(t, "a few hundred messages to be accepted and some delivered", func() bool {
		s := mx.Stats()
		return load.count() >= 300 && s.Accepted >= 50 && s.Stalled == onTheWire
	})
	first.signal(t, syscall.SIGKILL)
	accepted := load.end()
	if err := first.ended(); err == nil {
		t.Fatal("the first process was not killed")
	}
	killed := time.Now()
	before := countArrivals(mx, 250)

	second := launchProcess(t, data, outbound)
	// Expire the leases of the first process early, but not those of the second one, which is already
	// delivering.
	second.query(t, fmt.Sprintf(`UPDATE recipients SET due_at = now() WHERE due_at > now()
		AND id IN (SELECT recipient_id FROM attempts WHERE outcome IS NULL AND started_at < '%s') RETURNING id`, killed.Format(time.RFC3339Nano)))
	ready := time.Now()
	expect.Eventually(t, "all accepted messages to arrive", func() bool {
		return countMissing(accepted, countArrivals(mx, 250)) == 0
	})
	took := time.Since(ready)
	expect.Eventually(t, "all outcomes to be stored", func() bool {
		return second.query(t, `SELECT count(*) FROM recipients WHERE state <> 'delivered'`)[0] == "0"
	})
	unknown := second.query(t, `SELECT DISTINCT email_id FROM attempts WHERE outcome = 'unknown'`)
	twice := 0
	for id, times := range countArrivals(mx, 250, 0) {
		if times == 1 {
			continue
		}
		twice++
		if times > 2 || !slices.Contains(unknown, id) {
			t.Errorf("%s arrived %d times, but no attempt of it is unknown", id, times)
		}
	}
	t.Logf("accepted %d: delivered before the kill %d, the rest within %s of the start; 0 lost, %d duplicates, %d unknown attempts",
		len(accepted), len(accepted)-countMissing(accepted, before), took.Round(time.Millisecond), twice, len(unknown))
	if twice < onTheWire {
		t.Errorf("%d arrived twice, which is too many for the test to be meaningful", twice)
	}
}

// load sends emails with clients that post as fast as the server responds.
type load struct {
	mu       sync.Mutex
	accepted []string
	stop     chan struct{}
	callers  sync.WaitGroup
}

func startLoad(t *testing.T, p *process) *load {
	l := &load{stop: make(chan struct{})}
	for range 8 {
		l.callers.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
				}
				status, answer := p.do(t, http.MethodPost, "/api/emails", p.APIKey,
					`{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`)
				var receipt struct{ ID string }
				if status != http.StatusOK || json.Unmarshal([]byte(answer), &receipt) != nil {
					return // killed, or refused, in which case too few are accepted
				}
				l.mu.Lock()
				l.accepted = append(l.accepted, receipt.ID)
				l.mu.Unlock()
			}
		})
	}
	return l
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.accepted)
}

func (l *load) end() []string {
	close(l.stop)
	l.callers.Wait()
	return slices.Clone(l.accepted)
}

var messageID = regexp.MustCompile(`(?mi)^message-id:\s*<(msg_[^@>]+)@`)

// countArrivals counts, for each message, how often the receiving server received all of it and replied with
// one of the codes; code 0 means no reply.
func countArrivals(mx *smtptest.Server, codes ...int) map[string]int {
	times := map[string]int{}
	for _, m := range mx.Messages() {
		if found := messageID.FindSubmatch(m.Data); found != nil && slices.Contains(codes, m.Code) {
			times[string(found[1])]++
		}
	}
	return times
}

func countMissing(accepted []string, arrived map[string]int) int {
	count := 0
	for _, id := range accepted {
		if arrived[id] == 0 {
			count++
		}
	}
	return count
}
