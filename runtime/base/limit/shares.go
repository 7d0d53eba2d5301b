package limit

import (
	"context"
	"runtime"
	"sync"
)

// Shares bounds slow work of many owners: half of the processors do it, and one owner's takes one of
// them at a time. Safe for concurrent use.
type Shares struct {
	all   chan struct{}
	most  int // of one owner that may wait
	mutex sync.Mutex
	lines map[string]*line
}

// line is the turnstile of an owner, as long as somebody is in it or waits.
type line struct {
	*Turnstile

	users int
}

// NewShares makes Shares; waiting is how much of one owner's work may wait.
func NewShares(waiting int) *Shares {
	return &Shares{all: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), most: waiting, lines: map[string]*line{}}
}

// Enter waits until the owner may do slow work, and returns what ends it. Error: ErrFull where too much
// of the owner's waits already, or that of the context.
func (s *Shares) Enter(ctx context.Context, owner string) (leave func(), err error) {
	l := s.join(owner)
	if err := l.enter(ctx); err != nil {
		s.part(owner, l)
		return nil, err
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-l.slots
		s.part(owner, l)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-s.all
		<-l.slots
		s.part(owner, l)
	}, nil
}

func (s *Shares) join(owner string) *line {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	l := s.lines[owner]
	if l == nil {
		l = &line{Turnstile: New(1, s.most)}
		s.lines[owner] = l
	}
	l.users++
	return l
}

func (s *Shares) part(owner string, l *line) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if l.users--; l.users == 0 {
		delete(s.lines, owner)
	}
}

type shareKey struct{}

type share struct {
	of    *Shares
	owner string
}

// With says whose slow work is done under a context.
func (s *Shares) With(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, shareKey{}, share{s, owner})
}

// Enter is that of the Shares of the context. Without any, nothing bounds the work.
func Enter(ctx context.Context) (leave func(), err error) {
	its, is := ctx.Value(shareKey{}).(share)
	if !is {
		return func() {}, nil
	}
	return its.of.Enter(ctx, its.owner)
}
