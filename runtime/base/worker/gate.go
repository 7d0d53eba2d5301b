package worker

import (
	"sync"
	"time"
)

// gate blocks new runs while the database cannot store results or return claims.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil while open; closed when the gate opens again
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closeLocked()
}

func (g *gate) closeLocked() {
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened == nil
}

// closeAfter closes the gate unless the returned function is called in time. A frozen database reports
// nothing for seconds.
func (g *gate) closeAfter(wait time.Duration) (inTime func()) {
	over := false // guarded by mu: a timer that has fired must not close a gate that was opened since
	timer := time.AfterFunc(wait, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !over {
			g.closeLocked()
		}
	})
	return func() {
		timer.Stop()
		g.mu.Lock()
		defer g.mu.Unlock()
		over = true
	}
}

// waitUntilOpen waits until the gate is open. It returns false if stop is closed first.
func (g *gate) waitUntilOpen(stop <-chan struct{}) bool {
	for {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		if opened == nil {
			return true
		}
		select {
		case <-opened:
		case <-stop:
			return false
		}
	}
}
