package smtpserver_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
)

func TestStopDoesNotWaitForIdleClients(t *testing.T) {
	t.Parallel()
	k := &keeper{inside: make(chan struct{}, 1)}
	s := start(t, k, nil)
	fresh, idle, busy := s.dial(t), s.dial(t).sendHello(), s.dial(t).sendHello()
	fresh.expect("220 ")
	idle.send("MAIL FROM:<a@client.test>\r\n")
	idle.expect("250 ")
	busy.startTransaction().send("Subject: x\r\n")
	<-k.inside
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), expect.Patience)
		defer cancel()
		stopped <- s.Stop(ctx)
	}()
	fresh.expect("421 4.3.2")
	idle.expect("421 4.3.2")
	idle.expectClose()
	if c, err := net.DialTimeout("tcp", s.addr, time.Second); err == nil {
		newClient(t, c).expectClose() // accepted by the kernel before the listener closed, and never served
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped while a message was in progress: %v", err)
	default:
	}
	busy.send("\r\nwhole\r\n.\r\n")
	busy.expect("250 ", "421 4.3.2")
	busy.expectClose()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
	if len(k.storedMessages()) != 1 {
		t.Errorf("kept %q", k.storedMessages())
	}
}

func TestStopCutsUnfinishedMessages(t *testing.T) {
	t.Parallel()
	k := &keeper{inside: make(chan struct{}, 1)}
	s := start(t, k, nil)
	busy := s.dial(t).sendHello().startTransaction()
	busy.send("Subject: x\r\n")
	<-k.inside
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	busy.expectClose()
	if len(k.storedMessages()) != 0 {
		t.Errorf("kept %q", k.storedMessages())
	}
}
