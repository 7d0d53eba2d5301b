// Package flood tries passwords, as somebody does who guesses: at a steady rate, from many addresses.
package flood

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/postrider/postrider/cmd/bench/caller"
)

const (
	// connections hold the attempts that wait for their turn, too.
	connections = 160
	tick        = 10 * time.Millisecond
)

// Flood is what is tried.
type Flood struct {
	URL    string                // of POST /session
	Rate   int                   // attempts a second
	Source func(n uint32) net.IP // of the n-th attempt, as the proxy in front tells it
}

// Answers are how many attempts were answered by status; 0 is for those that found no connection free,
// which were not made.
type Answers map[int]int

// Made is how many attempts were answered.
func (a Answers) Made() (n int) {
	for status, count := range a {
		if status != 0 {
			n += count
		}
	}
	return n
}

// Share is the part of the answers that had a status.
func (a Answers) Share(status int) float64 { return float64(a[status]) / float64(max(a.Made(), 1)) }

// Run tries until the context ends. It gives the answers of each second to told, if that is not nil.
func (f Flood) Run(ctx context.Context, told func(Answers)) (Answers, error) {
	target, err := url.Parse(f.URL)
	if err != nil {
		return nil, err
	}
	var (
		free  = make(chan *caller.Caller, connections)
		mu    sync.Mutex
		total = Answers{}
		now   = Answers{}
		wrong error
		wait  sync.WaitGroup
	)
	defer func() {
		wait.Wait()
		for range len(free) {
			(<-free).Close()
		}
	}()
	for range connections {
		c, err := caller.Dial(ctx, target.Host)
		if err != nil {
			return nil, err
		}
		free <- c
	}
	note := func(status int) {
		mu.Lock()
		defer mu.Unlock()
		total[status]++
		now[status]++
	}
	every := time.NewTicker(tick)
	defer every.Stop()
	begin, second, attempt := time.Now(), 1, uint32(0)
	for {
		select {
		case <-ctx.Done():
			mu.Lock()
			defer mu.Unlock()
			return total, wrong
		case <-every.C:
		}
		gone := time.Since(begin)
		for ; float64(attempt) < gone.Seconds()*float64(f.Rate); attempt++ {
			select {
			case c := <-free:
				request := f.request(target, attempt)
				wait.Go(func() {
					status, _, err := c.Exchange(request)
					if err != nil && ctx.Err() == nil {
						mu.Lock()
						wrong = errors.Join(wrong, err)
						mu.Unlock()
					} else if err == nil {
						note(status)
					}
					free <- c
				})
			default:
				note(0)
			}
		}
		if gone >= time.Duration(second)*time.Second {
			second++
			mu.Lock()
			last := now
			now = Answers{}
			failed := wrong
			mu.Unlock()
			if failed != nil {
				return total, failed
			}
			if told != nil {
				told(last)
			}
		}
	}
}

// request is one attempt, for a person that nobody is.
func (f Flood) request(target *url.URL, n uint32) []byte {
	body := fmt.Sprintf(`{"email":"guess-%x@example.net","password":"correct horse %d"}`, rand.Uint64(), n)
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		http.MethodPost, target.Path, target.Host, f.Source(n), len(body), body)
}
