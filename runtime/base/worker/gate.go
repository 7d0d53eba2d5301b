package worker

import (
	"sync"
	"time"
)

// gate holds back new runs while the database does not do one of its two parts.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil while open; closed when the gate opens again
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut()
}

func (g *gate) shut() {
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

// closeAfter closes the gate when the returned function was not called in time.
// A frozen database reports nothing for seconds.
func (g *gate) closeAfter(wait time.Duration) (inTime func()) {
	over := false // under mu: a timer that has gone off must not close what was opened since
	timer := time.AfterFunc(wait, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !over {
			g.shut()
		}
	})
	return func() {
		timer.Stop()
		g.mu.Lock()
		defer g.mu.Unlock()
		over = true
	}
}

// pass waits until the gate is open; false when stop came first.
func (g *gate) pass(stop <-chan struct{}) bool {
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
