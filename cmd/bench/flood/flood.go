// Package flood tries passwords, as somebody does who guesses: at a steady rate, from many addresses.
package flood

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	r := &run{flood: f, target: target, free: make(chan *caller.Caller, connections), total: Answers{}, last: Answers{}}
	defer r.close()
	for range connections {
		c, err := caller.Dial(ctx, target.Host)
		if err != nil {
			return nil, err
		}
		r.free <- c
	}
	every := time.NewTicker(tick)
	defer every.Stop()
	begin := time.Now()
	tell := time.Second
	for {
		select {
		case <-ctx.Done():
			total, _, err := r.answers()
			return total, err
		case <-every.C:
		}
		gone := time.Since(begin)
		r.tryUpTo(ctx, uint32(gone.Seconds()*float64(f.Rate)))
		if gone < tell {
			continue
		}
		tell += time.Second
		total, last, err := r.answers()
		if err != nil {
			return total, err
		}
		if told != nil {
			told(last)
		}
	}
}

// run is one flood that is under way.
type run struct {
	flood  Flood
	target *url.URL
	free   chan *caller.Caller
	made   uint32
	wait   sync.WaitGroup

	mu          sync.Mutex
	total, last Answers
	wrong       error
}

// tryUpTo makes the attempts that are due. One that finds no connection free is not made.
func (r *run) tryUpTo(ctx context.Context, due uint32) {
	for ; r.made < due; r.made++ {
		select {
		case c := <-r.free:
			request := r.flood.request(r.target, r.made)
			r.wait.Go(func() {
				status, _, err := c.Exchange(request)
				if ctx.Err() == nil {
					r.note(status, err)
				}
				r.free <- c
			})
		default:
			r.note(0, nil)
		}
	}
}

func (r *run) note(status int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.wrong = errors.Join(r.wrong, err)
		return
	}
	r.total[status]++
	r.last[status]++
}

// answers gives all answers, and those since it was asked last.
func (r *run) answers() (total, last Answers, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, r.last = r.last, Answers{}
	return maps.Clone(r.total), last, r.wrong
}

func (r *run) close() {
	r.wait.Wait()
	for range len(r.free) {
		(<-r.free).Close()
	}
}

// request is one attempt, for a person that nobody is.
func (f Flood) request(target *url.URL, n uint32) []byte {
	body := fmt.Sprintf(`{"email":"guess-%x@example.net","password":"correct horse %d"}`, rand.Uint64(), n)
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		http.MethodPost, target.Path, target.Host, f.Source(n), len(body), body)
}
