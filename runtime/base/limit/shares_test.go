package limit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/limit"
)

func TestOneOwnerTakesOnePlace(t *testing.T) {
	t.Parallel()
	shares := limit.NewShares(1)
	ctx := t.Context()
	leave, err := shares.Enter(ctx, "a")
	if err != nil {
		t.Fatalf("the first of an owner got %v, want to be let in", err)
	}
	second := make(chan func(), 1)
	impatient, stop := context.WithCancel(ctx)
	waits := make(chan error, 1)
	go func() { _, err := shares.Enter(impatient, "a"); waits <- err }()
	expect.Within(t, 10*time.Second, "a second one of the owner waits, and a third is turned away", func() bool {
		hurried, over := context.WithCancel(ctx)
		over()
		_, err := shares.Enter(hurried, "a")
		return errors.Is(err, limit.ErrFull)
	})
	stop()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("the second one, whose context ended, got %v, want %v", err, context.Canceled)
	}
	go func() {
		if leave, err := limit.Enter(shares.With(ctx, "a")); err == nil {
			second <- leave
		}
	}()
	leave()
	(<-second)()
	if leave, err := shares.Enter(ctx, "b"); err != nil {
		t.Errorf("another owner got %v, want to be let in", err)
	} else {
		leave()
	}
	if leave, err := limit.Enter(ctx); err != nil {
		t.Errorf("work of nobody got %v, want to be let in", err)
	} else {
		leave()
	}
}
